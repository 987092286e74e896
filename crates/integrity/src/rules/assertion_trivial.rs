//! A test checks something that always holds or is never reached, so it cannot fail.

use crate::{
    changed_file::{ChangedFile, Reading},
    language::outline::{Check, Strength, Test, quoted},
    rules::rule::{ANYWHERE, ReadingRule, Violation, at},
};
use domain::integrity::{Detail, Rule};

pub(super) static RULE: ReadingRule = ReadingRule {
    rule: Rule::AssertionTrivial,
    applies: ANYWHERE,
    refuses: &[("tests/sum.rs", "", "#[test]\nfn adds() { add(1, 2); assert!(true); }\n")],
    accepts: &[("tests/sum.rs", "", "#[test]\nfn adds() { assert!(add(1, 2) == 3); }\n")],
    check,
};

fn check(reading: &Reading<'_>) -> Vec<Violation> {
    reading.files.iter().flat_map(in_one).collect()
}

/// Finds the first new assertion without effect of each test.
fn in_one(file: &ChangedFile<'_>) -> Vec<Violation> {
    let is_old = |new: &Check| {
        let mut old = file.before.tests.iter().flat_map(|test| &test.checks);
        old.any(|old| old.words == new.words && old.strength == new.strength)
    };
    let first = |test: &Test| {
        let mut checks = test.checks.iter();
        let check = checks.find(|check| check.strength < Strength::Same && !is_old(check))?;
        let what = Detail::InTest {
            test: test.name.clone(),
            code: quoted(&check.words.join(" ")),
        };
        Some(at(file.path, check.line, what))
    };
    file.after.tests.iter().filter_map(first).collect()
}
