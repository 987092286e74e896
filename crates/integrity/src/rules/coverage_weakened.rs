//! Code is marked so that the coverage tool leaves it out. The tool's settings belong to the tests' side, so the rule
//! about the runner covers them.

use crate::{
    language::{capture::Fact, outline::Purpose},
    rules::rule::{ANYWHERE, ReadingRule, at_marks},
};
use domain::integrity::Rule;

pub(super) static RULE: ReadingRule = ReadingRule {
    rule: Rule::CoverageWeakened,
    applies: ANYWHERE,
    check: |reading| at_marks(reading, Fact::Uncovered, Purpose::Product),
};
