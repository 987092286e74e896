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

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::tests::check_examples;

    #[test]
    fn finds_its_example_and_not_the_honest_one() {
        check_examples(
            &RULE,
            &[("test/sum.test.js", "", "it('adds', () => { process.exit(0); });\n")],
            &[("src/cli.js", "", "export function main() { process.exit(0); }\n")],
        );
    }
}
