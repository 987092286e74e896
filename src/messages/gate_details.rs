//! The parts below the table of Gates: excused failures, names of failing tests, places, outputs.

use crate::messages::{
    items,
    measure::{Measure, first, folded, sections, titled},
    untrusted,
};
use domain::{
    decision::Issue,
    evidence::{Evidence, Excuse, Finding, Gate, GateReport},
};
use std::collections::{BTreeMap, BTreeSet};

/// The most outputs of one report that are shown.
const OUTPUTS: usize = 12;

/// Returns the failing tests that are not counted against the work, by reason.
pub(super) fn excused(gates: &GateReport, measure: &Measure) -> String {
    let mut by_reason: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for excused in &gates.excused {
        by_reason.entry(reason(&excused.why)).or_default().push(&excused.test);
    }
    let lines: Vec<String> = by_reason
        .iter()
        .take(measure.rows.min(20))
        .map(|(why, tests)| format!("- {why}: {}", names(tests, measure)))
        .collect();
    titled(
        "Failing tests that do not count against this change:",
        &lines.join("\n"),
    )
}

/// Words the reason. A person who waived a test is named but not mentioned, since this appears in every later report.
fn reason(why: &Excuse) -> String {
    match why {
        Excuse::Baseline => "already failed on the base commit".to_owned(),
        Excuse::Flaky => "passed when it was run once more on this commit, and the change does not touch it".to_owned(),
        Excuse::Waived { by } => format!("waived by {}", untrusted::code(&by.login, 60)),
    }
}

/// Returns names, places and outputs of every Gate that did not pass, and the outputs of probes.
pub(super) fn details(gates: &GateReport, told: &[Issue], measure: &Measure) -> String {
    let mut parts = Vec::new();
    let mut outputs = Vec::new();
    let excused: BTreeSet<&str> = gates.excused.iter().map(|excused| excused.test.as_str()).collect();
    let setup = gates.setup.iter().map(|setup| ("set-up".to_owned(), setup));
    for (name, evidence) in setup.chain([("tests".to_owned(), &gates.tests)]) {
        parts.push(failing(&name, evidence, &excused, measure));
        parts.push(skipped(&name, evidence, measure));
        outputs.extend(output(&name, evidence, measure));
    }
    for result in &gates.more {
        let name = result.gate.name();
        parts.push(failing(&name, &result.evidence, &excused, measure));
        parts.push(places(&name, &result.items, told, measure));
        outputs.extend(match (result.gate, &result.evidence) {
            (Gate::Probe(_), Evidence::Passed(finding)) => block(&name, finding, measure),
            _ => output(&name, &result.evidence, measure),
        });
    }
    parts.extend(first(&outputs, OUTPUTS, Clone::clone, |left| {
        format!("The outputs of {left} more are left out.")
    }));
    sections(parts)
}

fn failing(name: &str, evidence: &Evidence, excused: &BTreeSet<&str>, measure: &Measure) -> String {
    let Evidence::Failed(finding) = evidence else {
        return String::new();
    };
    let all = finding.names.as_ref().map_or(&finding.failing, |names| &names.failed);
    let held: Vec<&str> = all
        .iter()
        .map(String::as_str)
        .filter(|name| !excused.contains(name))
        .collect();
    match held.is_empty() {
        true => String::new(),
        false => format!("Failing in {name}: {}", names(&held, measure)),
    }
}

/// Names skipped tests, since a skip is not a pass.
fn skipped(name: &str, evidence: &Evidence, measure: &Measure) -> String {
    let (Evidence::Passed(finding) | Evidence::Failed(finding)) = evidence else {
        return String::new();
    };
    let skipped = finding
        .names
        .as_ref()
        .map(|names| names.skipped.as_slice())
        .unwrap_or_default();
    let skipped: Vec<&str> = skipped.iter().map(String::as_str).collect();
    match skipped.is_empty() {
        true => String::new(),
        false => format!("Skipped in {name}: {}", names(&skipped, measure)),
    }
}

fn names(tests: &[&str], measure: &Measure) -> String {
    first(
        tests,
        measure.rows.min(50),
        |name| untrusted::code(name, 200),
        |left| format!("and {left} more"),
    )
    .join(", ")
}

/// Returns a Gate's findings by place, without those in `told`.
fn places(name: &str, found: &[Issue], told: &[Issue], measure: &Measure) -> String {
    let untold: Vec<&Issue> = found.iter().filter(|item| !told.contains(item)).collect();
    titled(&format!("Found by {name}:"), &items::by_severity(&untold, measure))
}

fn output(name: &str, evidence: &Evidence, measure: &Measure) -> Option<String> {
    match evidence {
        Evidence::Passed(_) | Evidence::Absent(_) => None,
        Evidence::Failed(finding) => block(name, finding, measure),
    }
}

/// Returns the output in a fold; the table already shows it for a Gate without a command.
fn block(name: &str, finding: &Finding, measure: &Measure) -> Option<String> {
    let says = !finding.command.is_empty() && !finding.output.trim().is_empty();
    says.then(|| {
        let text = untrusted::fence(&finding.output, "text", measure.output);
        folded(&format!("Output of {name}"), &text)
    })
}
