//! A test cannot fail: it asserts nothing, something that always holds or is never reached, or only on a condition.
//! Skipped tests are found by running them.

use crate::{
    changed_file::{ChangedFile, Reading},
    language::outline::{Check, Purpose, Strength, Test, quoted},
    rules::rule::{ANYWHERE, ReadingRule, Violation, at_place},
};
use domain::integrity::{Detail, Rule};
use std::collections::BTreeSet;

pub(super) static RULE: ReadingRule = ReadingRule { rule: Rule::CannotFail, applies: ANYWHERE, check };

fn check(reading: &Reading<'_>) -> Vec<Violation> {
    let of_tests = |file: &ChangedFile<'_>| -> Vec<String> {
        let functions = file.after.functions.iter().filter(|function| function.purpose == Purpose::Tests);
        functions.map(|function| function.name.clone()).collect()
    };
    let helpers: BTreeSet<String> = reading.files.iter().flat_map(of_tests).collect();
    let asks_nothing = |test: &Test| test.checks.is_empty() && !test.words.iter().any(|word| helpers.contains(word));
    let silent = reading.new_tests().filter(|(_, test)| asks_nothing(test));
    let silent = silent.map(|(file, test)| at_place(file.path, test.line, Detail::Test(test.name.clone())));
    let others = reading.files.iter().flat_map(|file| always_holding(file).into_iter().chain(leaving_early(file)));
    silent.chain(others).collect()
}

/// Finds the first new assertion without effect of each test.
fn always_holding(file: &ChangedFile<'_>) -> Vec<Violation> {
    let is_old = |new: &Check| {
        let mut old = file.before.tests.iter().flat_map(|test| &test.checks);
        old.any(|old| old.words == new.words && old.strength == new.strength)
    };
    let first = |test: &Test| {
        let mut checks = test.checks.iter();
        let check = checks.find(|check| check.strength < Strength::Same && !is_old(check))?;
        let what = Detail::InTest { test: test.name.clone(), code: quoted(&check.words.join(" ")) };
        Some(at_place(file.path, check.line, what))
    };
    file.after.tests.iter().filter_map(first).collect()
}

/// Finds tests that may return before their first check since this change.
fn leaving_early(file: &ChangedFile<'_>) -> Vec<Violation> {
    let is_old = |test: &Test| {
        let mut before = file.before.tests.iter();
        before.any(|old| old.name == test.name && old.returns_early == test.returns_early)
    };
    let early = |test: &Test| {
        let what = Detail::InTest { test: test.name.clone(), code: quoted(test.returns_early.as_deref()?) };
        Some(at_place(file.path, test.line, what))
    };
    file.after.tests.iter().filter(|test| !is_old(test)).filter_map(early).collect()
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::tests::check_examples;

    #[test]
    fn finds_its_example_and_not_the_honest_one() {
        check_examples(
            &RULE,
            &[
                (
                    "tests/test_fee.py",
                    "",
                    "def test_fee():\n    if not READY:\n        return\n    assert fee(1) == 25\n",
                ),
                ("tests/sum.rs", "", "#[test]\nfn adds() { add(1, 2); assert!(true); }\n"),
                ("sum_test.go", "", "package sum\n\nfunc TestAdds(t *testing.T) {\n\tAdd(1, 2)\n}\n"),
            ],
            &[
                ("tests/sum.rs", "", "#[test]\nfn adds() { assert!(add(1, 2) == 3); }\n"),
                ("sum_test.go", "", "package sum\n\nfunc TestAdds(t *testing.T) {\n\tis(t, Add(1, 2), 3)\n}\n"),
            ],
        );
    }
}
