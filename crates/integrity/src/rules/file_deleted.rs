//! A document, a licence or a source file is gone although the task does not name it. Tests and snapshots have their
//! own rules.

use crate::{
    change::{FileChange, FileContent},
    changed_file::Reading,
    language::{Role, file_name},
    rules::rule::{ReadingRule, Violation, in_file},
};
use domain::integrity::{Detail, Rule};
use std::collections::BTreeSet;

pub(super) static RULE: ReadingRule =
    ReadingRule { rule: Rule::FileDeleted, applies: &[Role::Source, Role::Other, Role::Settings], check };

fn check(reading: &Reading<'_>) -> Vec<Violation> {
    let files = || reading.change.files.iter();
    let is_elsewhere = |gone: &FileChange| {
        files().any(|other| {
            let is_here = other.path != gone.path && other.after != FileContent::Absent;
            is_here && (other.after == gone.before || other.before == FileContent::Absent && is_alike(gone, other))
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

/// `true` if a new file has the name of one that is gone, without extensions, or at least half of its lines.
fn is_alike(gone: &FileChange, new: &FileChange) -> bool {
    let stem = |path: &str| file_name(path).split('.').next().map(str::to_lowercase);
    let lines = |version: &FileContent| -> BTreeSet<String> {
        let text = String::from_utf8_lossy(version.bytes().unwrap_or_default()).into_owned();
        text.lines().map(|line| line.trim().to_owned()).filter(|line| line.len() > 1).collect()
    };
    let (old, now) = (lines(&gone.before), lines(&new.after));
    let kept = old.intersection(&now).count();
    stem(&gone.path) == stem(&new.path) || kept > 0 && kept.saturating_mul(2) >= old.len()
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::tests::check_examples;

    #[test]
    fn a_file_that_moved_with_a_few_other_lines_is_there() {
        let store = "package store\n\nfunc Open() int {\n\treturn 1\n}\n";
        let moved = store.replace("package store", "package kvstore");
        check_examples(
            &RULE,
            &[("store/store.go", store, ""), ("kvstore/kv.go", "", "package kvstore\n")],
            &[("store/store.go", store, ""), ("kvstore/kv.go", "", &moved)],
        );
    }

    #[test]
    fn finds_its_example_and_not_the_honest_one() {
        check_examples(
            &RULE,
            &[("LICENSE", "Permission is granted.\n", "")],
            &[("LICENSE", "Permission is granted.\n", ""), ("docs/LICENSE", "", "Permission is granted.\n")],
        );
    }
}
