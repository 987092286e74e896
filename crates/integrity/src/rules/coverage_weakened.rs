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

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::tests::check_examples;

    #[test]
    fn finds_its_example_and_not_the_honest_one() {
        check_examples(
            &RULE,
            &[("fees.py", "", "def fee(amount):  # pragma: no cover\n    return amount * 2\n")],
            &[("fees.py", "", "def fee(amount):\n    return amount * 2\n")],
        );
    }
}
