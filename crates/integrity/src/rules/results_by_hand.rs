//! The change contains a file of results that the service reads after the test run: only a run may write it.

use crate::{
    change::{FileChange, FileContent},
    changed_file::Reading,
    rules::rule::{ANYWHERE, ReadingRule, Violation, at_place},
};
use domain::integrity::{Detail, Rule};

pub(super) static RULE: ReadingRule = ReadingRule { rule: Rule::ResultsByHand, applies: ANYWHERE, check };

fn check(reading: &Reading<'_>) -> Vec<Violation> {
    let is_read = |file: &&FileChange| {
        let mut results = reading.change.results.iter();
        file.after != FileContent::Absent && results.any(|path| path.trim_start_matches("./") == file.path)
    };
    let files = reading.change.files.iter().filter(is_read);
    files.map(|file| at_place(&file.path, 1, Detail::Nothing)).collect()
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::tests::check_examples;

    #[test]
    fn finds_its_example_and_not_the_honest_one() {
        check_examples(
            &RULE,
            &[("results.xml", "", "<testsuites>\n</testsuites>\n")],
            &[("tests/fixtures/junit.xml", "", "<testsuites>\n</testsuites>\n")],
        );
    }
}
