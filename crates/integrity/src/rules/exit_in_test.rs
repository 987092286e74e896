//! A test, or test support, ends the process: the results so far count, and a test that would fail never runs.

use crate::{
    changed_file::Reading,
    language::{Role, capture::Fact, outline::Purpose},
    marks::new_marks,
    rules::rule::{ReadingRule, Violation, at_mark},
};
use domain::integrity::Rule;

pub(super) static RULE: ReadingRule = ReadingRule {
    rule: Rule::ExitInTest,
    applies: &[Role::Test, Role::Support, Role::Source, Role::Settings],
    check,
};

fn check(reading: &Reading<'_>) -> Vec<Violation> {
    let new = new_marks(reading, &[Fact::Exit], &[Purpose::Tests]);
    new.into_iter().map(at_mark).collect()
}
