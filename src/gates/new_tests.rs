//! Finds the tests that a change adds or touches, by name.

use crate::gates::{change::Change, compare, test_index::Origin};
use domain::evidence::{Baseline, TestNames};
use integrity::language::Role;
use std::collections::BTreeSet;

/// The passing tests of a run that are new, or may have changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct NewTests {
    /// Tests that did not exist before.
    pub(crate) new: Vec<String>,
    /// Tests whose body changed.
    pub(crate) changed: Vec<String>,
    /// New names that no test in the changed files has: a loop or macro generates them, or an earlier task added them.
    pub(crate) unplaced: Vec<String>,
}

/// The state before the change of a test that passes now.
enum Before {
    Nothing,
    Another,
    Same,
    Unknown,
}

impl NewTests {
    /// Sorts the passing tests by their state at the fork.
    pub(crate) fn of(change: &Change, known: &BTreeSet<&str>, now: &TestNames) -> Self {
        let mut tests = Self::default();
        for name in &now.passed {
            match before(change, name, known) {
                Before::Nothing => tests.new.push(name.clone()),
                Before::Another => tests.changed.push(name.clone()),
                Before::Unknown => tests.unplaced.push(name.clone()),
                Before::Same => {}
            }
        }
        tests
    }
}

/// Returns the names of all tests that existed before.
pub(crate) fn known(baseline: &Baseline) -> BTreeSet<&str> {
    compare::names_before(baseline)
        .into_iter()
        .flat_map(TestNames::all)
        .map(String::as_str)
        .collect()
}

fn before(change: &Change, name: &str, known: &BTreeSet<&str>) -> Before {
    let (was, is) = (change.before.find(name), change.after.find(name));
    let is_made = is.iter().all(|site| site.origin == Origin::Made);
    match (is.is_empty(), was.is_empty()) {
        (true, _) if known.contains(name) => Before::Same,
        // An earlier task added the test in a file that this change does not touch, or its name there is computed.
        (true, _) if !change.has_unreadable_tests() => match change.of_role(Role::Test).next() {
            None => Before::Same,
            Some(_) => Before::Unknown,
        },
        (true, _) => Before::Nothing,
        (false, true) if known.contains(name) => Before::Same,
        (false, true) if is.iter().all(|site| change.before.has_body(&site.words)) => Before::Same,
        (false, true) => Before::Nothing,
        (false, false) if is.iter().all(|site| was.iter().any(|old| old.words == site.words)) => Before::Same,
        // The call makes several tests, and any of them may have changed.
        (false, false) if is_made && known.contains(name) => Before::Unknown,
        (false, false) if is_made => Before::Nothing,
        (false, false) => Before::Another,
    }
}
