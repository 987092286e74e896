//! What failed before, and what fails now: by name, as far as runners give names.

use domain::evidence::{Absence, Baseline, Evidence, Excuse, Excused, Finding, Ground, TestNames, WaivedTest};
use std::collections::BTreeSet;

/// The results by name of a run, where it named every failure and ended by itself.
pub(crate) fn names(evidence: &Evidence) -> Option<&TestNames> {
    match evidence {
        Evidence::Passed(finding) | Evidence::Failed(finding) => {
            let names = finding.names.as_ref()?;
            (finding.exit_code.is_some() && names.is_whole(finding.counts)).then_some(names)
        }
        Evidence::Absent(_) => None,
    }
}

/// The results by name of a run that named every test: only then a missing name says something.
pub(crate) fn all_names(evidence: &Evidence) -> Option<&TestNames> {
    let (Evidence::Passed(finding) | Evidence::Failed(finding)) = evidence else {
        return None;
    };
    let names = names(evidence)?;
    names.names_all(finding.counts).then_some(names)
}

/// The failing tests that are not held against the work: those that failed before, and those that a person waived.
pub(crate) fn excused(tests: &Evidence, baseline: &Baseline, waived: &[WaivedTest]) -> Vec<Excused> {
    let Some(found) = names(tests) else { return Vec::new() };
    let before: BTreeSet<&str> = match baseline.ground() {
        Ground::Named(names) => names.failed.iter().map(String::as_str).collect(),
        Ground::Empty | Ground::Green | Ground::Red => BTreeSet::new(),
    };
    let excuse = |name: &String| {
        let why = match waived.iter().find(|waived| waived.test == *name) {
            Some(waived) => Excuse::Waived { by: waived.by.clone() },
            None if before.contains(name.as_str()) => Excuse::Baseline,
            None => return None,
        };
        Some(Excused {
            test: name.clone(),
            why,
        })
    };
    found.failed.iter().filter_map(excuse).collect()
}

/// The failing tests that are held against the work.
pub(crate) fn held(tests: &Evidence, excused: &[Excused]) -> Vec<String> {
    let Some(found) = names(tests) else { return Vec::new() };
    let is_excused: BTreeSet<&str> = excused.iter().map(|excused| excused.test.as_str()).collect();
    let held = found.failed.iter().filter(|name| !is_excused.contains(name.as_str()));
    held.cloned().collect()
}

/// Whether the tests ran, and nothing in their result is held against the work.
pub(crate) fn is_sound(tests: &Evidence, excused: &[Excused]) -> bool {
    match tests {
        Evidence::Passed(_) => true,
        Evidence::Failed(_) => names(tests).is_some() && held(tests, excused).is_empty(),
        Evidence::Absent(_) => false,
    }
}

/// What can be said of the tests at all: where they were red before and nobody can tell which, a failure now says
/// nothing of the change.
pub(crate) fn against(tests: Evidence, baseline: &Baseline) -> Evidence {
    match (&tests, baseline.ground()) {
        (Evidence::Failed(finding), Ground::Red) if !is_stopped(finding) => Evidence::Absent(Absence::Unnamed),
        _ => tests,
    }
}

/// A run that something ended from outside says nothing of what was so before.
fn is_stopped(finding: &Finding) -> bool {
    finding.exit_code.is_none()
}
