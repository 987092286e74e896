//! A test, or test support, ends the process: the results so far count, and a test that would fail never runs.

use crate::{
    language::{Role, capture::Fact, outline::Purpose},
    rules::rule::{ReadingRule, at_marks},
};
use domain::integrity::Rule;

pub(super) static RULE: ReadingRule = ReadingRule {
    rule: Rule::ExitInTest,
    applies: &[Role::Test, Role::Support, Role::Source, Role::Settings],
    check: |reading| at_marks(reading, Fact::Exit, Purpose::Tests),
};
