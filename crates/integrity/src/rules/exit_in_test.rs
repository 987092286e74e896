//! A test, or test support, ends the process: only the results so far count, and tests that would fail never run.

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
