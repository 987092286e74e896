//! Builds the results of Gates that run no command: one sentence each.

use crate::gates::run::result_cache::Origin;
use domain::{
    decision::{Issue, Severity},
    evidence::{Absence, Counts, Evidence, Finding, Gate, GateResult, Weight},
    ids::Sha,
    integrity::{Author, Detail, IntegrityFinding, Rule},
    shorten,
};

/// The note below the output of a run that was not repeated.
const KEPT: &str = "AutoBuild did not run this again: it is what an earlier run of the same files gave.";

/// The most names in one sentence.
const NAMED: usize = 10;

/// The longest name in a sentence, in characters.
const LONGEST: usize = 200;

/// Creates a finding that consists of a sentence.
pub(crate) fn said(sentence: impl Into<String>) -> Finding {
    Finding {
        command: String::new(),
        exit_code: Some(0),
        counts: Counts::Unknown,
        failing: Vec::new(),
        output: sentence.into(),
        ..Finding::default()
    }
}

/// Creates the result of a Gate that passed.
pub(crate) fn passed(gate: Gate, weight: Weight, sentence: impl Into<String>) -> GateResult {
    result(gate, weight, Evidence::Passed(said(sentence)))
}

/// Creates the result of a Gate that failed.
pub(crate) fn failed(gate: Gate, weight: Weight, sentence: impl Into<String>) -> GateResult {
    result(gate, weight, Evidence::Failed(said(sentence)))
}

/// Creates the informational result of a Gate that could not run.
pub(crate) fn absent(gate: Gate, why: Absence) -> GateResult {
    result(gate, Weight::Informational, Evidence::Absent(why))
}

/// Creates a result without items.
pub(crate) fn result(gate: Gate, weight: Weight, evidence: Evidence) -> GateResult {
    GateResult {
        gate,
        evidence,
        weight,
        items: Vec::new(),
    }
}

/// Creates an informational item, which does not send the work back.
pub(crate) fn should_fix(category: &str, description: impl Into<String>, at: Option<(String, u32)>) -> Issue {
    let (file, line) = at.unzip();
    Issue {
        severity: Severity::ShouldFix,
        file,
        line,
        ..Issue::must_fix(category, &description.into())
    }
}

/// Creates a finding about what the Player did.
pub(crate) fn finding(rule: Rule, path: &str, line: Option<u32>, what: String) -> IntegrityFinding {
    IntegrityFinding {
        rule,
        path: path.to_owned(),
        line,
        what: Detail::Sentence(what),
        by: Author::Player,
    }
}

/// Joins the first names of a list, for a sentence.
pub(crate) fn list<S: AsRef<str>>(names: &[S]) -> String {
    let first = names.iter().take(NAMED);
    let first: Vec<String> = first.map(|name| shorten::middle(name.as_ref(), LONGEST)).collect();
    match names.len().saturating_sub(NAMED) {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}

/// Adds a note to the output if the result comes from the cache.
pub(crate) fn with_origin(mut evidence: Evidence, origin: Origin) -> Evidence {
    if let (Origin::Kept, Evidence::Passed(finding) | Evidence::Failed(finding)) = (origin, &mut evidence) {
        finding.output = format!("{}\n{KEPT}", finding.output);
    }
    evidence
}

/// Adds to set-up's output the other commit on which it ran.
pub(crate) fn with_set_up_before(mut evidence: Evidence, commit: &Sha) -> Evidence {
    if let Evidence::Passed(finding) = &mut evidence {
        let why = "the change touches nothing that set-up reads";
        finding.output = format!("{}\nIt ran on {}: {why}.", finding.output, commit.short());
    }
    evidence
}
