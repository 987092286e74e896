//! Code behaves differently under test.

use crate::{
    changed_file::Reading,
    language::{Role, capture::Fact, outline::Of},
    marks::new_marks,
    rules::rule::{ReadingRule, Violation, at},
};
use domain::integrity::{Detail, Rule};

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
    let violations = new.into_iter();
    violations
        .map(|(file, mark)| at(file.path, mark.line, Detail::Code(mark.text.clone())))
        .collect()
}
