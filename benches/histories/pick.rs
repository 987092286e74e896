//! Picks commits by a rule that is the same for all projects: newest first, no merges, both sources and tests changed,
//! at most 300 changed lines of sources.

use crate::{
    Outcome,
    clone::{ChangedFile, ProjectClone},
};
use integrity::{
    FileContent,
    language::{
        Role, role, {self},
    },
};
use std::collections::BTreeSet;

/// The most changed lines of sources, added and removed.
const MOST_LINES: u64 = 300;

/// The most commits that are examined in one project.
const MOST_LOOKED_AT: usize = 5_000;

/// Returns up to `commits` commits that fit the rule.
pub fn pick(clone: &ProjectClone, from: &str, commits: usize) -> Outcome<Vec<String>> {
    let mut picked = Vec::new();
    for commit in clone.commits(from)?.into_iter().take(MOST_LOOKED_AT) {
        if picked.len() == commits {
            break;
        }
        if is_picked(clone, &clone.changed_files(&commit)?)? {
            picked.push(commit);
        }
    }
    if picked.len() < commits {
        eprintln!("only {} commits fit the rule", picked.len());
    }
    Ok(picked)
}

fn is_picked(clone: &ProjectClone, files: &[ChangedFile]) -> Outcome<bool> {
    let sources = || files.iter().filter(|file| role(&file.path) == Role::Source);
    let lines: u64 = sources().map(|file| file.lines).sum();
    if lines == 0 || lines > MOST_LINES {
        return Ok(false);
    }
    if files.iter().any(|file| role(&file.path) == Role::Test) {
        return Ok(true);
    }
    for file in sources() {
        let has_inline = language::language_of(&file.path).is_some_and(|language| language.test_parts.is_some());
        if has_inline && changes_inline_tests(clone, file)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns `true` if the tests inside a source file differ.
fn changes_inline_tests(clone: &ProjectClone, file: &ChangedFile) -> Outcome<bool> {
    let versions = clone.versions(file)?;
    let tests = |version: &FileContent| -> BTreeSet<(String, Vec<String>)> {
        let text = String::from_utf8_lossy(version.bytes().unwrap_or_default());
        let outline = language::read(&file.path, &text).unwrap_or_default();
        outline.tests.into_iter().map(|test| (test.name, test.words)).collect()
    };
    Ok(tests(&versions.before) != tests(&versions.after))
}
