//! Parses both versions of every changed file once, for all rules.

use crate::{
    change::{Change, FileChange, Version},
    language,
    language::{
        Role,
        outline::{Function, Of, Outline, Test, Work},
    },
    pairs::{Pairs, pair},
    task::Explained,
    words::{occurrences, values},
};
use std::collections::BTreeSet;

/// The most bytes that are parsed for one change.
const MOST_BYTES: usize = 24 << 20;

/// One changed file, parsed.
pub(crate) struct ChangedFile<'a> {
    pub(crate) path: &'a str,
    pub(crate) role: Role,
    pub(crate) before: Outline,
    pub(crate) after: Outline,
    /// Whether the new version exists and could not be parsed, although its language is known.
    pub(crate) is_unreadable: bool,
    pub(crate) file: &'a FileChange,
}

/// A change in the form that the rules use.
pub(crate) struct Reading<'a> {
    pub(crate) change: &'a Change<'a>,
    pub(crate) files: &'a [ChangedFile<'a>],
    /// Each test of the base and its counterpart.
    pub(crate) pairs: Pairs<'a>,
    /// Tests in places where the runner does not look.
    pub(crate) uncollected: Vec<LocatedTest<'a>>,
    /// The removals that the change and its task explain.
    pub(crate) explained: Explained,
}

/// A test and the path of its file.
#[derive(Clone, Copy)]
pub(crate) struct LocatedTest<'a> {
    pub(crate) path: &'a str,
    pub(crate) test: &'a Test,
}

impl LocatedTest<'_> {
    /// Returns the test's name after the names of its suites.
    pub(crate) fn title(&self) -> String {
        let names = self.test.scope.iter().chain([&self.test.name]);
        let names: Vec<&str> = names.map(String::as_str).collect();
        names.join(" › ").replace('`', "'")
    }
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
        let is_unreadable = language::of(path).is_some() && file.after != Version::Absent && after.is_none();
        Self {
            path,
            role: language::role(path),
            before: before.unwrap_or_default(),
            after: after.unwrap_or_default(),
            is_unreadable,
            file,
        }
    }

    /// `true` if the file exists before and after: then its tests count on both sides.
    pub(crate) fn is_kept(&self) -> bool {
        self.file.before != Version::Absent && self.file.after != Version::Absent
    }

    /// Returns both versions of the text; empty if the file does not exist.
    pub(crate) fn texts(&self) -> (String, String) {
        let text = |version: &Version| String::from_utf8_lossy(version.bytes().unwrap_or_default()).into_owned();
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

fn outline(path: &str, version: &Version, left: &mut usize) -> Option<Outline> {
    let bytes = version.bytes()?;
    *left = left.checked_sub(bytes.len())?;
    language::read(path, &String::from_utf8_lossy(bytes))
}

impl<'a> Reading<'a> {
    pub(crate) fn new(change: &'a Change<'a>, files: &'a [ChangedFile<'a>]) -> Self {
        let (before, _) = tests(files, |file| &file.before);
        let (after, uncollected) = tests(files, |file| &file.after);
        Self {
            change,
            files,
            pairs: pair(before, after),
            uncollected,
            explained: Explained::new(change, files),
        }
    }

    /// Returns the functions of test code after the change, with their paths.
    pub(crate) fn helpers(&self) -> impl Iterator<Item = (&'a str, &'a Function)> {
        let of_file = |file: &'a ChangedFile<'a>| file.after.functions.iter().map(|function| (file.path, function));
        self.files
            .iter()
            .flat_map(of_file)
            .filter(|(_, function)| function.of == Of::Tests)
    }

    /// Returns the tests of the base that have no counterpart and were not empty.
    pub(crate) fn gone(&self) -> impl Iterator<Item = LocatedTest<'a>> {
        let gone = self.pairs.gone.iter();
        gone.filter(|one| one.test.work != Work::None).copied()
    }
}

/// Splits the tests of one side of the change into those that the runner finds and those that it does not find.
fn tests<'a>(
    files: &'a [ChangedFile<'a>],
    side: fn(&'a ChangedFile<'a>) -> &'a Outline,
) -> (Vec<LocatedTest<'a>>, Vec<LocatedTest<'a>>) {
    let includes: Vec<String> = files.iter().flat_map(|file| side(file).includes.clone()).collect();
    let is_collected = |path: &str| language::of(path).is_some_and(|language| (language.is_collected)(path, &includes));
    let (mut found, mut lost) = (Vec::new(), Vec::new());
    for file in files {
        let list = match file.is_kept() || is_collected(file.path) {
            true => &mut found,
            false => &mut lost,
        };
        let tests = side(file).tests.iter();
        list.extend(tests.map(|test| LocatedTest { path: file.path, test }));
    }
    (found, lost)
}

impl Reading<'_> {
    /// `true` if the values of an assertion occur in the changed tests as often as before: in another test, a helper,
    /// or a table's row. An assertion with a single value must occur word for word.
    pub(crate) fn still_says(&self, check: &[String]) -> bool {
        let said = values(check);
        let without_message = said.split_last().map_or(&[][..], |(_, rest)| rest);
        let of_values =
            |wanted: &[&str]| wanted.len() > 1 && self.is_kept(|outline| occurrences(wanted, &values(&outline.words)));
        let as_it_is = || {
            self.is_kept(|outline| {
                let of_tests = outline.tests.iter().flat_map(|test| &test.checks);
                let checks = of_tests.chain(outline.functions.iter().flat_map(|function| &function.checks));
                checks.filter(|other| other.words == check).count()
            })
        };
        of_values(&said) || of_values(without_message) || as_it_is()
    }

    /// `true` if `count` is not 0 after the change and at least as high as before.
    fn is_kept(&self, count: impl Fn(&Outline) -> usize) -> bool {
        let files = || self.files.iter();
        let before: usize = files().map(|file| count(&file.before)).sum();
        let after: usize = files().map(|file| count(&file.after)).sum();
        after > 0 && after >= before
    }
}
