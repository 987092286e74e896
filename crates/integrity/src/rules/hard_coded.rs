//! The product contains exactly the answers that its new tests expect for their inputs: nothing is computed.

use crate::{
    changed_file::{ChangedFile, Reading},
    language::{
        Role,
        outline::{Answer, FixedAnswer, Function, Purpose, Test},
    },
    rules::rule::{ReadingRule, Violation, at_place, new_functions},
};
use domain::integrity::{Detail, Rule};
use std::collections::BTreeMap;
use text::mention::mentions;

pub(super) static RULE: ReadingRule = ReadingRule { rule: Rule::HardCoded, applies: &[Role::Source], check };

/// The most answers of one function or table; a longer table is data.
const MOST: usize = 40;

/// The most words between an input and the result that a test expects.
const NEAR: usize = 8;

fn check(reading: &Reading<'_>) -> Vec<Violation> {
    let tests: Vec<Vec<&str>> = reading.new_tests().map(|(_, test)| values_and_names(test)).collect();
    let wanted = reading.texts_of_task().collect::<Vec<_>>().join("\n");
    let sources = reading.files.iter().filter(|file| file.role == Role::Source);
    let found = sources.flat_map(|file| {
        let by_group = groups(file).into_values();
        let fixed = by_group.filter_map(|group| first_of_tests(&group, &tests, &wanted));
        let fixed = fixed.map(|answer| at_place(file.path, answer.line, Detail::Code(answer.text.clone())));
        fixed.chain(constants(file, &tests, &wanted)).collect::<Vec<_>>()
    });
    found.collect()
}

fn values_and_names(test: &Test) -> Vec<&str> {
    let bare = test.words.iter().map(|word| bare(word));
    bare.filter(|word| word.contains(char::is_alphanumeric)).collect()
}

fn bare(word: &str) -> &str {
    word.trim_matches(['"', '\'', '`'])
}

fn groups<'a>(file: &'a ChangedFile<'_>) -> BTreeMap<usize, Vec<&'a FixedAnswer>> {
    let is_old = |new: &FixedAnswer| {
        let mut before = file.before.answers.iter();
        before.any(|old| (&old.input, &old.result) == (&new.input, &new.result))
    };
    let mut groups: BTreeMap<usize, Vec<&FixedAnswer>> = BTreeMap::new();
    for answer in file.after.answers.iter().filter(|answer| !is_old(answer)) {
        groups.entry(answer.group).or_default().push(answer);
    }
    groups
}

/// If all answers of a group occur in tests, returns the first one that is more than a base case, unless the task asks
/// for them.
fn first_of_tests<'a>(group: &[&'a FixedAnswer], tests: &[Vec<&str>], wanted: &str) -> Option<&'a FixedAnswer> {
    let group: Vec<&FixedAnswer> = group.iter().copied().filter(|answer| !answer.input.is_empty()).collect();
    let stands = |answer: &&FixedAnswer| tests.iter().any(|words| expects(words, &answer.input, &answer.result));
    if group.len() > MOST || !group.iter().all(stands) {
        return None;
    }
    let is_wanted = |answer: &FixedAnswer| {
        let mut literals = answer.input.iter().chain(&answer.result);
        literals.all(|literal| mentions(wanted, literal))
    };
    let is_specific = |answer: &&FixedAnswer| [&answer.input, &answer.result].iter().all(|side| are_specific(side));
    group.into_iter().filter(is_specific).find(|answer| !is_wanted(answer))
}

/// `true` if literals are more than a base case such as 0, 1 or an empty text.
fn are_specific(literals: &[String]) -> bool {
    literals.iter().any(|literal| literal.chars().count() > 1)
}

fn expects(words: &[&str], input: &[String], result: &[String]) -> bool {
    let places = |wanted: &[String]| -> Vec<usize> {
        let windows = words.windows(wanted.len().max(1)).enumerate();
        let same = windows.filter(|(_, window)| window.iter().eq(wanted.iter()));
        same.map(|(at, _)| at).collect()
    };
    let results = places(result);
    let is_near = |at: &usize| {
        let after = at.saturating_add(input.len());
        let before = at.saturating_sub(result.len());
        let mut near = results.iter();
        near.any(|result| {
            (after..after.saturating_add(NEAR)).contains(result)
                || (before.saturating_sub(NEAR)..=before).contains(result)
        })
    };
    !result.is_empty() && places(input).iter().any(is_near)
}

/// Finds new functions that return exactly the number that a test expects of them.
fn constants(file: &ChangedFile<'_>, tests: &[Vec<&str>], wanted: &str) -> Vec<Violation> {
    let is_expected = |function: &&Function| {
        let value = function.value.as_deref().unwrap_or_default();
        let is_number = value.len() > 1 && value.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | '_'));
        let both = [vec![function.name.clone()], vec![value.to_owned()]];
        let [input, result] = &both;
        is_number && !mentions(wanted, value) && tests.iter().any(|words| expects(words, input, result))
    };
    let of_product =
        new_functions(file).filter(|one| one.purpose == Purpose::Product && one.answer == Answer::Constant);
    let new = of_product.filter(is_expected);
    new.map(|function| at_place(file.path, function.line, Detail::Function(function.name.clone()))).collect()
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
                ("fees.py", "", "def fee(amount):\n    if amount == 10000:\n        return 100\n    return 25\n"),
                ("tests/test_fees.py", "", "def test_fee():\n    assert fee(10000) == 100\n"),
            ],
            &[
                ("fees.py", "", "LIMITS = {10000: 100, 20000: 150}\n"),
                ("tests/test_fees.py", "", "def test_limit():\n    assert LIMITS[10000] == 100\n"),
            ],
        );
    }
}
