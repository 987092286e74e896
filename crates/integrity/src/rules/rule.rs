//! The definition of a rule and of its results.

use crate::{
    change::FileChange,
    changed_file::{ChangedFile, Reading},
    language::{
        Role,
        capture::Fact,
        outline::{Function, Mark, Purpose, quoted},
        role,
    },
    marks::new_marks,
    snapshots::first_changed_line,
};
use domain::integrity::{Author, Detail, IntegrityFinding, Rule};

/// A rule that is decided by reading the change.
pub struct ReadingRule {
    pub rule: Rule,
    /// The roles of the files that it covers.
    pub applies: &'static [Role],
    pub(crate) check: fn(&Reading<'_>) -> Vec<Violation>,
}

/// A place where code breaks a rule, and the code found there.
pub(crate) struct Violation {
    path: String,
    line: Option<u32>,
    what: Detail,
}

pub(crate) fn at_place(path: &str, line: u32, what: Detail) -> Violation {
    Violation { path: path.to_owned(), line: Some(line), what }
}

/// Creates a violation without a line: the line was removed, or the whole file breaks the rule.
pub(crate) fn in_file(path: &str, what: Detail) -> Violation {
    Violation { path: path.to_owned(), line: None, what }
}

pub(crate) fn at_line(path: &str, number: u32, line: &str) -> Violation {
    at_place(path, number, Detail::Code(quoted(line)))
}

/// Creates a violation at the first line of a file that changed; at the file if that is gone.
pub(super) fn at_first_change(file: &FileChange) -> Violation {
    let text = String::from_utf8_lossy(file.after.bytes().unwrap_or_default());
    let line = first_changed_line(file).and_then(|number| {
        let at = usize::try_from(number).ok()?.checked_sub(1)?;
        Some(at_line(&file.path, number, text.lines().nth(at)?))
    });
    line.unwrap_or_else(|| in_file(&file.path, Detail::Nothing))
}

/// Creates a violation at each new mark.
pub(super) fn at_marks(reading: &Reading<'_>, fact: Fact, purpose: Purpose) -> Vec<Violation> {
    new_marks(reading, &[fact], purpose).into_iter().map(|(file, mark)| at_mark(file, mark)).collect()
}

pub(super) fn at_mark(file: &ChangedFile<'_>, mark: &Mark) -> Violation {
    at_place(file.path, mark.line, Detail::Code(mark.text.clone()))
}

pub(super) fn new_functions<'f>(file: &'f ChangedFile<'_>) -> impl Iterator<Item = &'f Function> {
    let is_old = |new: &Function| {
        let mut before = file.before.functions.iter();
        before.any(|old| old.name == new.name && old.class == new.class && old.words == new.words)
    };
    file.after.functions.iter().filter(move |function| !is_old(function))
}

pub(super) fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
}

pub(super) const ANYWHERE: &[Role] = &[Role::Test, Role::Support, Role::Settings, Role::Source, Role::Other];

impl ReadingRule {
    /// Returns its findings in the files that it covers. The Player counts as their author unless the caller corrects
    /// that.
    pub(crate) fn findings(&self, reading: &Reading<'_>) -> Vec<IntegrityFinding> {
        let violations = (self.check)(reading).into_iter();
        let here = violations.filter(|violation| self.applies.contains(&role(&violation.path)));
        here.map(|violation| IntegrityFinding {
            rule: self.rule,
            path: violation.path,
            line: violation.line,
            what: violation.what,
            by: Author::Player,
        })
        .collect()
    }
}
