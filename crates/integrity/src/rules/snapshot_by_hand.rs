//! A snapshot was deleted, or changed although no code changed.

use crate::{
    change::{FileChange, FileContent},
    changed_file::Reading,
    language::{Role, file_name, role},
    rules::rule::{ANYWHERE, ReadingRule, Violation, at_place, in_file},
    snapshots::{first_changed_line, is_snapshot},
};
use domain::integrity::{Detail, Rule};

pub(super) static RULE: ReadingRule = ReadingRule { rule: Rule::SnapshotByHand, applies: ANYWHERE, check };

fn check(reading: &Reading<'_>) -> Vec<Violation> {
    let files = &reading.change.files;
    let existed = |file: &&FileChange| file.before != FileContent::Absent;
    let changes_code = files.iter().filter(existed).any(|file| role(&file.path) == Role::Source);
    let is_moved = |gone: &FileChange| {
        let mut new = files.iter().filter(|file| file.before == FileContent::Absent);
        new.any(|file| file_name(&file.path) == file_name(&gone.path))
    };
    let snapshots = files.iter().filter(existed).filter(|file| is_snapshot(&file.path));
    let found = snapshots.filter_map(|file| match first_changed_line(file) {
        None => (!is_moved(file)).then(|| in_file(&file.path, Detail::Nothing)),
        Some(line) => (!changes_code).then(|| at_place(&file.path, line, Detail::Nothing)),
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::tests::check_examples;

    #[test]
    fn finds_its_example_and_not_the_honest_one() {
        check_examples(
            &RULE,
            &[("tests/snapshots/label.snap", "price: 3\nname: a\n", "price: 4\nname: a\n")],
            &[
                ("tests/snapshots/label.snap", "price: 3\nname: a\n", "price: 4\nname: a\n"),
                ("src/label.rs", "fn label() -> u32 { 3 }\n", "fn label() -> u32 { 4 }\n"),
            ],
        );
    }
}
