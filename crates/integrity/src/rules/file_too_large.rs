//! A file exceeds the size limit.

use crate::{
    change::{FileChange, FileContent},
    changed_file::Reading,
    rules::rule::{ANYWHERE, ReadingRule, Violation, in_file},
};
use domain::integrity::{Detail, Rule};

pub(super) static RULE: ReadingRule = ReadingRule { rule: Rule::FileTooLarge, applies: ANYWHERE, check };

fn check(reading: &Reading<'_>) -> Vec<Violation> {
    let most = reading.change.max_file_bytes;
    let files = reading.change.files.iter();
    let grew = files.filter(|file| {
        let was_small = file.before.size() <= most || file.before == FileContent::Absent;
        file.after.size() > most && was_small
    });
    let violation = |file: &FileChange| {
        let is = file.after.size();
        in_file(&file.path, Detail::Size { is, most })
    };
    grew.map(violation).collect()
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::tests::check_examples;

    #[test]
    fn finds_its_example_and_not_the_honest_one() {
        check_examples(
            &RULE,
            &[(
                "dump.bin",
                "",
                "{deep}{deep}{deep}{deep}{deep}{deep}{deep}{deep}{deep}{deep}{deep}{deep}{deep}{deep}{deep}{deep}{deep}{deep}{deep}{deep}{deep}{deep}{deep}{deep}{deep}{deep}{deep}{deep}{deep}{deep}{deep}{deep}{deep}{deep}{deep}{deep}{deep}{deep}{deep}{deep}{deep}{deep}{deep}{deep}{deep}{deep}{deep}{deep}{deep}{deep}{deep}{deep}{deep}{deep}{deep}{deep}{deep}{deep}{deep}{deep}",
            )],
            &[("dump.bin", "", "little\n")],
        );
    }
}
