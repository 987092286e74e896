//! Parses both versions of every changed file once, for all rules.

use crate::{
    change::{Change, FileChange, FileContent},
    language,
    language::{
        Role,
        outline::{Outline, Test},
    },
};
use std::collections::BTreeSet;

/// The most bytes that are parsed for one change.
const MOST_BYTES: usize = 24 << 20;

pub(crate) struct ChangedFile<'a> {
    pub(crate) path: &'a str,
    pub(crate) role: Role,
    pub(crate) before: Outline,
    pub(crate) after: Outline,
    /// `true` if the new version exists and could not be parsed, although its language is known.
    pub(crate) is_unreadable: bool,
    pub(crate) file: &'a FileChange,
}

/// A change with its files parsed, as the rules use it.
pub(crate) struct Reading<'a> {
    pub(crate) change: &'a Change<'a>,
    pub(crate) files: &'a [ChangedFile<'a>],
}

impl<'a> ChangedFile<'a> {
    /// Parses every changed file whose language is known.
    pub(crate) fn all(change: &Change<'a>) -> Vec<Self> {
        let mut left = MOST_BYTES;
        change.files.iter().map(|file| Self::read(file, &mut left)).collect()
    }

    fn read(file: &'a FileChange, left: &mut usize) -> Self {
        let path = file.path.as_str();
        let before = outline(path, &file.before, left);
        let after = outline(path, &file.after, left);
        let is_unreadable =
            language::language_of(path).is_some() && file.after != FileContent::Absent && after.is_none();
        Self {
            path,
            role: language::role(path),
            before: before.unwrap_or_default(),
            after: after.unwrap_or_default(),
            is_unreadable,
            file,
        }
    }

    /// Returns both versions of the text; empty if the file does not exist.
    pub(crate) fn texts(&self) -> (String, String) {
        let text = |version: &FileContent| String::from_utf8_lossy(version.bytes().unwrap_or_default()).into_owned();
        (text(&self.file.before), text(&self.file.after))
    }

    /// Returns the lines of `after`, the new version's text, that the old version does not have, with their numbers.
    pub(crate) fn new_lines<'t>(&self, after: &'t str) -> Vec<(u32, &'t str)> {
        let (before, _) = self.texts();
        let known: BTreeSet<&str> = before.lines().map(str::trim).collect();
        let lines = (1_u32..).zip(after.lines());
        lines.filter(|(_, line)| !known.contains(line.trim())).collect()
    }
}

impl<'a> Reading<'a> {
    /// Returns the tests that the change adds or rewrites, with their files.
    pub(crate) fn new_tests(&self) -> impl Iterator<Item = (&'a ChangedFile<'a>, &'a Test)> {
        let is_old = |file: &ChangedFile<'_>, test: &Test| file.before.tests.iter().any(|old| old.words == test.words);
        let tests = self.files.iter().flat_map(|file| file.after.tests.iter().map(move |test| (file, test)));
        tests.filter(move |(file, test)| !is_old(file, test))
    }

    pub(crate) fn texts_of_task(&self) -> impl Iterator<Item = &'a str> {
        let task = self.change.task;
        let criteria = task.acceptance_criteria.iter().map(|criterion| criterion.text.as_str());
        [task.name.as_str(), task.description.as_str()].into_iter().chain(criteria)
    }
}

fn outline(path: &str, version: &FileContent, left: &mut usize) -> Option<Outline> {
    let bytes = version.bytes()?;
    *left = left.checked_sub(bytes.len())?;
    language::read(path, &String::from_utf8_lossy(bytes))
}
