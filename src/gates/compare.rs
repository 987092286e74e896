//! Compares the tests that failed before with those that fail now, by name if the runner gives names.

use domain::evidence::{Absence, Baseline, Evidence, Excuse, Excused, Finding, Ground, TestNames, WaivedTest};
use std::collections::BTreeSet;

/// Returns the names of a run's results if the run ended by itself and named every failure.
pub(crate) fn names(evidence: &Evidence) -> Option<&TestNames> {
    let finding = evidence.finding()?;
    let names = finding.names.as_ref()?;
    (finding.exit_code.is_some() && names.names_all_failures(finding.counts)).then_some(names)
}

/// Returns the tests that passed, by name; empty if [`names`] returns none.
pub(crate) fn passed(evidence: &Evidence) -> &[String] {
    names(evidence).map_or(&[], |names| &names.passed)
}

/// Returns the tests that failed, by name; empty if [`names`] returns none.
pub(crate) fn failed(evidence: &Evidence) -> &[String] {
    names(evidence).map_or(&[], |names| &names.failed)
}

/// Returns the names of the baseline's results, if they can be relied on.
pub(crate) fn names_before(baseline: &Baseline) -> Option<&TestNames> {
    match baseline.ground() {
        Ground::Named(names) => Some(names),
        Ground::Empty | Ground::Green | Ground::Red => None,
    }
}

pub(crate) fn known_tests(baseline: &Baseline) -> BTreeSet<&str> {
    names_before(baseline).into_iter().flat_map(TestNames::all).map(String::as_str).collect()
}

/// Returns the names of a run's results if it named every test. Only then does a missing name mean something.
pub(crate) fn all_names(evidence: &Evidence) -> Option<&TestNames> {
    let finding = evidence.finding()?;
    names(evidence).filter(|names| names.names_all(finding.counts))
}

/// Returns the names of a run's results if a missing name means something: this run named every test, or the run before
/// did. The second case covers tests whose own output looks like results, so that the counts and the names disagree.
pub(crate) fn comparable_names<'a>(evidence: &'a Evidence, baseline: &Baseline) -> Option<&'a TestNames> {
    let has_room = |names: &&TestNames| names.passed.len().max(names.failed.len()) < TestNames::MOST;
    let as_before = || all_names(&baseline.tests).and(names(evidence)).filter(has_room);
    all_names(evidence).or_else(as_before)
}

/// Returns the failing tests that do not count against the change: they failed before, or a person waived them.
pub(crate) fn excused(tests: &Evidence, baseline: &Baseline, waived: &[WaivedTest]) -> Vec<Excused> {
    let before: BTreeSet<&String> = names_before(baseline).into_iter().flat_map(|names| &names.failed).collect();
    let excuse = |name: &String| {
        let why = match waived.iter().find(|waived| waived.test == *name) {
            Some(waived) => Excuse::Waived { by: waived.by.clone() },
            None if before.contains(name) => Excuse::Baseline,
            None => return None,
        };
        Some(Excused { test: name.clone(), why })
    };
    failed(tests).iter().filter_map(excuse).collect()
}

/// Returns the failing tests that count against the change.
pub(crate) fn unexcused_failures(tests: &Evidence, excused: &[Excused]) -> Vec<String> {
    let is_excused: BTreeSet<&String> = excused.iter().map(|excused| &excused.test).collect();
    let held = failed(tests).iter().filter(|name| !is_excused.contains(name));
    held.cloned().collect()
}

/// `true` if the tests ran and no failure counts against the change.
pub(crate) fn is_sound(tests: &Evidence, excused: &[Excused]) -> bool {
    match tests {
        Evidence::Passed(_) => true,
        Evidence::Failed(_) => !failed(tests).is_empty() && unexcused_failures(tests, excused).is_empty(),
        Evidence::Absent(_) => false,
    }
}

/// Replaces a failure by missing evidence if the tests already failed before and no names say which: the failure then
/// says nothing about the change.
pub(crate) fn against(tests: Evidence, baseline: &Baseline) -> Evidence {
    match (&tests, baseline.ground()) {
        (Evidence::Failed(finding), Ground::Red) if !is_stopped(finding) => Evidence::Absent(Absence::Unnamed),
        _ => tests,
    }
}

/// `true` if a signal, or a limit other than time, ended the run.
pub(crate) fn is_stopped(finding: &Finding) -> bool {
    finding.exit_code.is_none()
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::evidence::{Additions, Counts};

    fn ran(exit_code: Option<i32>, counts: (u32, u32), passed: &[&str], failed: &[&str]) -> Evidence {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let finding = Finding {
            command: "t".to_owned(),
            exit_code,
            counts: Counts::Known { passed: counts.0, failed: counts.1, skipped: 0 },
            failing: Vec::new(),
            output: String::new(),
            names: Some(TestNames { passed: owned(passed), failed: owned(failed), skipped: Vec::new() }),
            ..Finding::default()
        };
        match exit_code {
            Some(0) => Evidence::Passed(finding),
            Some(_) | None => Evidence::Failed(finding),
        }
    }

    #[test]
    fn a_name_is_missed_where_every_test_had_one_before() {
        let whole = || ran(Some(0), (2, 0), &["a", "b"], &[]);
        let printed = || ran(Some(0), (3, 0), &["a", "b"], &[]);
        let table = [
            (whole(), whole(), true),
            (whole(), printed(), true),
            (printed(), whole(), true),
            (printed(), printed(), false),
            (whole(), Evidence::Absent(Absence::NotReached), false),
        ];
        for (tests, now, expected) in table {
            let before = Baseline {
                commit: "a".repeat(40).parse().unwrap(),
                setup: None,
                tests,
                rewritten: Vec::new(),
                additions: Additions::None,
                made: std::collections::BTreeSet::new(),
            };
            let is_telling = comparable_names(&now, &before).is_some();
            assert_eq!(is_telling, expected, "{:?} then {now:?}", before.tests);
        }
    }

    #[test]
    fn a_run_is_sound_only_if_each_of_its_failures_has_a_name_and_an_excuse() {
        let excused = [Excused { test: "old".to_owned(), why: Excuse::Baseline }];
        let table = [
            (ran(Some(0), (1, 0), &["a"], &[]), true),
            (ran(Some(1), (1, 1), &["a"], &["old"]), true),
            (ran(Some(1), (1, 1), &["a"], &["new"]), false),
            (ran(Some(1), (1, 0), &["a"], &[]), false),
            (ran(None, (1, 1), &["a"], &["old"]), false),
        ];
        for (tests, expected) in table {
            assert_eq!(is_sound(&tests, &excused), expected, "{tests:?}");
        }
    }
}
