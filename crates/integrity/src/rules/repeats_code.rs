//! A new helper function of the tests has the same names, numbers and texts as a new function of the product, so a mistake
//! is in both.

use crate::{
    changed_file::{ChangedFile, Reading},
    language::{
        Role,
        outline::{Function, Purpose},
    },
    rules::rule::{ReadingRule, Violation, at_place, new_functions},
};
use domain::integrity::{Detail, Rule};

pub(super) static RULE: ReadingRule =
    ReadingRule { rule: Rule::RepeatsCode, applies: &[Role::Test, Role::Support, Role::Source], check };

/// The fewest names and numbers for a function's computation to be recognisable.
const FEWEST: usize = 4;

fn check(reading: &Reading<'_>) -> Vec<Violation> {
    let new = |purpose: Purpose| {
        let files = reading.files.iter();
        let functions = files.flat_map(|file| new_functions(file).map(move |function| (file, function)));
        functions.filter(move |(_, function)| function.purpose == purpose)
    };
    let product: Vec<Vec<&str>> = new(Purpose::Product).map(|(_, function)| content(function)).collect();
    let repeats = |(_, function): &(&ChangedFile<'_>, &Function)| {
        let own = content(function);
        own.len() >= FEWEST && product.contains(&own)
    };
    let found = new(Purpose::Tests).filter(repeats);
    found.map(|(file, function)| at_place(file.path, function.line, Detail::Function(function.name.clone()))).collect()
}

/// Returns the names, numbers and texts of a function in one order, without the language's own words.
fn content(function: &Function) -> Vec<&str> {
    let mut words: Vec<&str> = function.content.iter().map(String::as_str).collect();
    words.sort_unstable();
    words
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
                ("fees.py", "", "def fee(cents, days):\n    if days >= 7:\n        return cents // 2\n    return 0\n"),
                ("tests/test_fees.py", "", "def expected(cents, days):\n    return cents // 2 if days >= 7 else 0\n"),
            ],
            &[
                ("fees.py", "", "def fee(cents, days):\n    if days >= 7:\n        return cents // 2\n    return 0\n"),
                (
                    "tests/test_fees.py",
                    "",
                    "def expected(cents, days):\n    return {0: 0, 7: 50, 14: 50}[days] * cents // 100\n",
                ),
            ],
        );
    }
}
