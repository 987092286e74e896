//! Code behaves differently under test.

use crate::{
    changed_file::Reading,
    language::{Role, capture::Fact, outline::Of},
    marks::new_marks,
    rules::rule::{ReadingRule, Violation, at_mark},
};
use domain::integrity::Rule;

pub(super) static RULE: ReadingRule = ReadingRule {
    rule: Rule::DiffersUnderTest,
    applies: &[Role::Source],
    refuses: &[(
        "src/rate.js",
        "",
        "export const rate = process.env.VITEST ? 7 : ask();\n",
    )],
    accepts: &[("src/rate.js", "", "export const rate = process.env.RATE ? 7 : ask();\n")],
    check,
};

fn check(reading: &Reading<'_>) -> Vec<Violation> {
    let new = new_marks(reading, &[Fact::Differs], &[Of::Product]);
    new.into_iter().map(at_mark).collect()
}
