//! A file cannot be parsed, so only the rules that need no syntax were applied.

use crate::{
    changed_file::Reading,
    rules::rule::{ANYWHERE, ReadingRule, Violation, in_file},
};
use domain::integrity::{Detail, Rule};

pub(super) static RULE: ReadingRule = ReadingRule { rule: Rule::Unreadable, applies: ANYWHERE, check };

fn check(reading: &Reading<'_>) -> Vec<Violation> {
    let unreadable = reading.files.iter().filter(|file| file.is_unreadable);
    unreadable.map(|file| in_file(file.path, Detail::Nothing)).collect()
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::tests::check_examples;

    #[test]
    fn finds_its_example_and_not_the_honest_one() {
        check_examples(&RULE, &[("deep.py", "", "x = {deep}\n")], &[("flat.py", "", "x = ((((1))))\n")]);
    }
}
