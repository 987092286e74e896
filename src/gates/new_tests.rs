//! The tests that a change brings or touches, by name.

use crate::gates::change::Change;
use domain::evidence::{Baseline, Ground, TestNames};
use integrity::language::Role;
use std::collections::BTreeSet;

/// The tests of a run that nobody had before, and those that may be others than they were.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct NewTests {
    /// Tests that nobody had before.
    pub(crate) new: Vec<String>,
    /// Tests whose body is another.
    pub(crate) changed: Vec<String>,
    /// Tests that nobody had before and that stand nowhere by that name: made by a loop or a macro of a changed file, or
    /// brought by an earlier task.
    pub(crate) unplaced: Vec<String>,
}

/// What a test that passes now was before.
enum Before {
    Nothing,
    Another,
    Same,
    Unknown,
}

impl NewTests {
    /// The tests that pass now, by what they were at the fork.
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

    /// What may show the change: what is new or changed, and only without that what may be.
    pub(crate) fn candidates(&self) -> Vec<&String> {
        let sure: Vec<&String> = self.new.iter().chain(&self.changed).collect();
        match sure.is_empty() {
            true => self.unplaced.iter().collect(),
            false => sure,
        }
    }
}

/// Every test that was there before, by name.
pub(crate) fn known(baseline: &Baseline) -> BTreeSet<&str> {
    match baseline.ground() {
        Ground::Named(names) => {
            let all = names.passed.iter().chain(&names.failed).chain(&names.skipped);
            all.map(String::as_str).collect()
        }
        Ground::Empty | Ground::Green | Ground::Red => BTreeSet::new(),
    }
}

fn before(change: &Change, name: &str, known: &BTreeSet<&str>) -> Before {
    let (was, is) = (change.before.find(name), change.after.find(name));
    match (is.is_empty(), was.is_empty()) {
        (true, _) if known.contains(name) => Before::Same,
        // It stands in a file that the change does not touch, so an earlier task brought it; or it has no name there.
        (true, _) if !change.has_unreadable_tests() => match change.of_role(Role::Test).next() {
            None => Before::Same,
            Some(_) => Before::Unknown,
        },
        (true, _) => Before::Nothing,
        (false, true) if known.contains(name) => Before::Same,
        (false, true) if is.iter().all(|site| change.before.has_body(&site.words)) => Before::Same,
        (false, true) => Before::Nothing,
        (false, false) if is.iter().all(|site| was.iter().any(|old| old.words == site.words)) => Before::Same,
        (false, false) => Before::Another,
    }
}
