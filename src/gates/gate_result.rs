//! Builds the results of Gates that run no command of their own.

use crate::gates::run::result_cache::Origin;
use domain::{
    evidence::{Absence, Evidence, Fact, Finding, Gate, GateResult, Weight},
    ids::Sha,
    problem::{Problem, ReviewItem, Severity},
};

pub(crate) fn passed(gate: Gate, weight: Weight, fact: Fact) -> GateResult {
    result(gate, weight, Evidence::Passed(finding(fact)))
}

pub(crate) fn failed(gate: Gate, weight: Weight, fact: Fact) -> GateResult {
    result(gate, weight, Evidence::Failed(finding(fact)))
}

/// Creates the informational result of a Gate that could not run.
pub(crate) fn absent(gate: Gate, why: Absence) -> GateResult {
    result(gate, Weight::Informational, Evidence::Absent(why))
}

pub(crate) fn result(gate: Gate, weight: Weight, evidence: Evidence) -> GateResult {
    GateResult { gate, evidence, weight, items: Vec::new() }
}

fn finding(fact: Fact) -> Finding {
    Finding { exit_code: Some(0), facts: vec![fact], ..Finding::default() }
}

/// Creates an informational item, which does not send the work back.
pub(crate) fn should_fix(problem: Problem, at: Option<(String, u32)>) -> ReviewItem {
    let (file, line) = at.unzip();
    ReviewItem { severity: Severity::ShouldFix, file, line, ..ReviewItem::must_fix(problem) }
}

/// Adds a fact about how a command ran.
pub(crate) fn add_fact(mut evidence: Evidence, fact: Fact) -> Evidence {
    if let Evidence::Passed(finding) | Evidence::Failed(finding) = &mut evidence {
        finding.facts.push(fact);
    }
    evidence
}

/// Notes that the result comes from the cache, if it does.
pub(crate) fn with_origin(evidence: Evidence, origin: Origin) -> Evidence {
    match origin {
        Origin::Kept => add_fact(evidence, Fact::FromEarlierRun),
        Origin::Now => evidence,
    }
}

/// Notes the other commit on which set-up ran.
pub(crate) fn with_set_up_before(evidence: Evidence, commit: &Sha) -> Evidence {
    match evidence {
        passed @ Evidence::Passed(_) => add_fact(passed, Fact::SetUpOn(commit.clone())),
        other @ (Evidence::Failed(_) | Evidence::Absent(_)) => other,
    }
}
