//! Both versions of every changed file, read once.

use crate::{
    Change, FileChange, Version, finding, language,
    language::{
        Role,
        outline::{Function, Outline, Test},
    },
};
use domain::integrity::{IntegrityFinding, Rule};

/// All that is parsed for one change.
const MOST_BYTES: usize = 24 << 20;

/// One changed file, read.
pub(super) struct ReadFile<'a> {
    pub(super) path: &'a str,
    pub(super) role: Role,
    pub(super) before: Outline,
    pub(super) after: Outline,
    /// Whether the new version is there and could not be parsed, although its language is known.
    pub(super) is_unreadable: bool,
    pub(super) file: &'a FileChange,
}

/// A test and where it stands.
#[derive(Clone, Copy)]
pub(super) struct Placed<'a> {
    pub(super) path: &'a str,
    pub(super) test: &'a Test,
}

/// A function that is no test and where it stands.
#[derive(Clone, Copy)]
pub(super) struct Helper<'a> {
    pub(super) path: &'a str,
    pub(super) function: &'a Function,
}

/// Reads every changed file whose language is known.
pub(super) fn read<'a>(change: &Change<'a>) -> Vec<ReadFile<'a>> {
    let mut left = MOST_BYTES;
    change.files.iter().map(|file| read_file(file, &mut left)).collect()
}

fn read_file<'a>(file: &'a FileChange, left: &mut usize) -> ReadFile<'a> {
    let path = file.path.as_str();
    let before = outline(path, &file.before, left);
    let after = outline(path, &file.after, left);
    let is_unreadable = language::of(path).is_some() && file.after != Version::Absent && after.is_none();
    ReadFile {
        path,
        role: language::role(path),
        before: before.unwrap_or_default(),
        after: after.unwrap_or_default(),
        is_unreadable,
        file,
    }
}

fn outline(path: &str, version: &Version, left: &mut usize) -> Option<Outline> {
    let bytes = version.bytes()?;
    *left = left.checked_sub(bytes.len())?;
    language::read(path, &String::from_utf8_lossy(bytes))
}

impl<'a> ReadFile<'a> {
    /// Whether the runner looks into the file, where these other files are included.
    fn is_collected(&self, includes: &[String]) -> bool {
        language::of(self.path).is_some_and(|language| (language.is_collected)(self.path, includes))
    }

    /// Whether the file stays what it was to the runner: then what it holds counts as tests on both sides.
    fn is_kept(&self) -> bool {
        self.file.before != Version::Absent && self.file.after != Version::Absent
    }
}

/// The tests that the runner finds at one side of the change, and those that it does not find.
pub(super) fn tests<'a>(
    files: &'a [ReadFile<'a>],
    side: fn(&'a ReadFile<'a>) -> &'a Outline,
) -> (Vec<Placed<'a>>, Vec<Placed<'a>>) {
    let includes: Vec<String> = files
        .iter()
        .flat_map(|file| side(file).includes.iter().cloned())
        .collect();
    let (mut found, mut lost) = (Vec::new(), Vec::new());
    for file in files {
        let list = if file.is_kept() || file.is_collected(&includes) {
            &mut found
        } else {
            &mut lost
        };
        list.extend(side(file).tests.iter().map(|test| Placed { path: file.path, test }));
    }
    (found, lost)
}

/// The functions of one side that may check something for a test.
pub(super) fn helpers<'a>(files: &'a [ReadFile<'a>], side: fn(&'a ReadFile<'a>) -> &'a Outline) -> Vec<Helper<'a>> {
    let mut helpers = Vec::new();
    for file in files {
        let outline = side(file);
        let inline = language::of(file.path).is_some_and(|language| language.inline_tests);
        let of_tests =
            |function: &&Function| file.role != Role::Source || inline && !outline.defines.contains(&function.name);
        let functions = outline.functions.iter().filter(of_tests);
        helpers.extend(functions.map(|function| Helper {
            path: file.path,
            function,
        }));
    }
    helpers
}

/// Files that cannot be parsed: shown, and held against the change where tests were in them.
pub(super) fn unreadable(files: &[ReadFile<'_>]) -> Vec<IntegrityFinding> {
    let unreadable = files.iter().filter(|file| file.is_unreadable);
    unreadable
        .map(|file| match file.before.tests.is_empty() {
            true => finding(
                Rule::Unreadable,
                file.path,
                None,
                "the file is too large or too deep to be read",
            ),
            false => finding(
                Rule::TestDeleted,
                file.path,
                None,
                "the file held tests, and now it is too large or too deep to be read",
            ),
        })
        .collect()
}
