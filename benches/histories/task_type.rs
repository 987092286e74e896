//! Guesses the task type of a commit from the sides that it changes.

use crate::{
    Outcome,
    clone::{ChangedFile, ProjectClone},
};
use domain::plan::TaskType;
use integrity::{
    FileChange, FileContent, language,
    side::{Repository, Side},
};
use std::collections::BTreeSet;

/// Returns `testing` for a commit that only changes the tests' side. Of the others, those that add tests are a
/// `feature`, and those that add none a `refactoring`.
pub fn guess(clone: &ProjectClone, commit: &str) -> Outcome<TaskType> {
    let (base, head) = (clone.paths(&format!("{commit}^"))?, clone.paths(commit)?);
    let repository = Repository { base: &base, head: &head, test_command: "" };
    let files: Vec<ChangedFile> = clone.changed_files(commit)?;
    let versions = files.iter().map(|file| clone.versions(file)).collect::<Outcome<Vec<_>>>()?;
    let sides: BTreeSet<Side> = versions.iter().filter_map(|file| side(&repository, file)).collect();
    let is_product = sides.contains(&Side::Product) || sides.contains(&Side::Both);
    Ok(match (is_product, brings_tests(&repository, &versions)) {
        (false, _) => TaskType::Testing,
        (true, true) => TaskType::Feature,
        (true, false) => TaskType::Refactoring,
    })
}

/// Returns the side that a file's change belongs to; `None` for prose.
fn side(repository: &Repository<'_>, file: &FileChange) -> Option<Side> {
    let is_prose = [".md", ".rst", ".txt", ".adoc"].iter().any(|end| file.path.ends_with(end));
    let (before, after) = (text(&file.before), text(&file.after));
    let changed = || repository.changed_side(&file.path, before.as_deref(), after.as_deref());
    (!is_prose).then(changed).flatten()
}

fn text(version: &FileContent) -> Option<String> {
    version.bytes().map(|bytes| String::from_utf8_lossy(bytes).into_owned())
}

/// Returns `true` if there is a test that did not exist before. In a language without a vocabulary, a new line in a
/// file of the tests' side counts as a new test.
fn brings_tests(repository: &Repository<'_>, files: &[FileChange]) -> bool {
    let tests = |file: &FileChange, version: &FileContent| -> BTreeSet<String> {
        let text = text(version).unwrap_or_default();
        match language::language_of(&file.path) {
            Some(_) => {
                let outline = language::read(&file.path, &text).unwrap_or_default();
                outline.tests.into_iter().map(|test| test.name).collect()
            }
            None if repository.side(&file.path, &[]) == Side::Tests => text.lines().map(str::to_owned).collect(),
            None => BTreeSet::new(),
        }
    };
    let of = |version: fn(&FileChange) -> &FileContent| -> BTreeSet<String> {
        files.iter().flat_map(|file| tests(file, version(file))).collect()
    };
    !of(|file| &file.after).is_subset(&of(|file| &file.before))
}
