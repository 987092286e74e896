//! A document, a licence or a source file is gone although the task does not name it. Tests and snapshots have their
//! own rules.

use crate::{
    change::{FileChange, FileContent},
    changed_file::Reading,
    language::{Role, file_name},
    rules::rule::{ReadingRule, Violation, in_file},
};
use domain::integrity::{Detail, Rule};

pub(super) static RULE: ReadingRule =
    ReadingRule { rule: Rule::FileDeleted, applies: &[Role::Source, Role::Other, Role::Settings], check };

fn check(reading: &Reading<'_>) -> Vec<Violation> {
    let files = || reading.change.files.iter();
    let is_elsewhere = |gone: &FileChange| {
        files().any(|other| {
            let is_here = other.path != gone.path && other.after != FileContent::Absent;
            is_here
                && (other.after == gone.before || other.before == FileContent::Absent && is_named_alike(gone, other))
        })
    };
    let is_named = |path: &str| {
        let task = reading.change.task;
        let criteria = task.acceptance_criteria.iter().map(|criterion| &criterion.text);
        let mut words = criteria.chain([&task.name, &task.description]);
        let is_removed = task.removes.iter().any(|intent| intent.name == path);
        is_removed || task.files.iter().any(|file| file == path) || words.any(|text| text.contains(file_name(path)))
    };
    let gone = files().filter(|file| file.before.size() > 0 && file.after == FileContent::Absent);
    gone.filter(|file| !is_named(&file.path) && !is_elsewhere(file))
        .map(|file| in_file(&file.path, Detail::Nothing))
        .collect()
}

/// `true` if two files have the same name without extensions.
fn is_named_alike(one: &FileChange, other: &FileChange) -> bool {
    let stem = |path: &str| file_name(path).split('.').next().map(str::to_lowercase);
    stem(&one.path) == stem(&other.path)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::tests::check_examples;

    #[test]
    fn finds_its_example_and_not_the_honest_one() {
        check_examples(
            &RULE,
            &[("LICENSE", "Permission is granted.\n", "")],
            &[("LICENSE", "Permission is granted.\n", ""), ("docs/LICENSE", "", "Permission is granted.\n")],
        );
    }
}
