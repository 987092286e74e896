//! Finds tests that pass in all four runs but assert less than before. Runs cannot tell them from tests that were
//! merely rewritten, so they become questions.

use crate::gates::{
    change::{Change, text},
    table::{
        mixed::TestSide,
        rows::{Naming, TestRow},
    },
};
use domain::{
    question::{Question, Topic},
    test_outcome::TestOutcome,
};
use integrity::{
    FileChange, FileContent,
    asserts_less::{lost_by_helper, lost_by_test},
    first_changed_line, language,
    language::{
        Role,
        outline::{Function, Outline, Purpose, Test},
    },
};
use runners::test_index::TestSite;
use std::collections::BTreeMap;

struct Outlines {
    before: BTreeMap<String, Outline>,
    after: BTreeMap<String, Outline>,
}

/// Returns a question for each kept test, and each helper, whose assertions are gone.
pub(super) fn questions(change: &Change, rows: &[TestRow]) -> Vec<Question> {
    let outlines = Outlines::read(change);
    let kept = rows.iter().filter(|row| row.outcome() == TestOutcome::Kept && row.is_changed);
    let mut questions: BTreeMap<(String, u32), Question> = BTreeMap::new();
    for row in kept {
        let Some(place) = row.site.clone() else { continue };
        let lost = outlines.lost_by(change, row);
        if !lost.is_empty() {
            questions.insert(place.clone(), question(row.name(), place, &lost));
        }
    }
    for (name, place, lost) in outlines.helpers() {
        let asked = || question(&name, place.clone(), &lost);
        questions.entry(place.clone()).or_insert_with(asked);
    }
    questions.into_values().collect()
}

/// Returns a question for each old test file without a parser. These are scripts of the test command, and tests of a
/// suite without names. No run shows the fate of a single check in them, and a line at the end of a script decides what
/// the whole script reports.
pub(super) fn of_files(change: &Change, side: &TestSide<'_>, naming: Naming) -> Vec<Question> {
    let scripts = side.scripts();
    let is_of_tests = |file: &&FileChange| {
        let is_test = matches!(language::role(&file.path), Role::Test | Role::Support);
        let is_unnamed = is_test && naming == Naming::Unnamed;
        (is_unnamed || scripts.contains(file.path.as_str())) && language::language_of(&file.path).is_none()
    };
    let asked = change.files.iter().filter(is_of_tests).filter_map(|file| {
        let (before, after) = (text(&file.before)?, text(&file.after).unwrap_or_default());
        let lines = changed_lines(before, after);
        let place = (file.path.clone(), first_changed_line(file).unwrap_or(1));
        (before != after).then(|| question_on_lines(&file.path, place, &lines))
    });
    asked.collect()
}

/// Returns the lines that only one of two texts has, marked as in a diff.
pub(super) fn changed_lines(before: &str, after: &str) -> Vec<String> {
    let only = |mark: char, text: &str, other: &str| -> Vec<String> {
        let mut there: BTreeMap<&str, usize> = BTreeMap::new();
        for line in other.lines() {
            *there.entry(line).or_default() += 1;
        }
        let mut own = Vec::new();
        for line in text.lines() {
            // A line that stands there twice and here three times was added once.
            match there.get_mut(line) {
                Some(left @ 1..) => *left -= 1,
                Some(0) | None => own.push(format!("{mark} {line}")),
            }
        }
        own
    };
    [only('-', before, after), only('+', after, before)].concat()
}

fn question(name: &str, place: (String, u32), lost: &[String]) -> Question {
    let lines: Vec<String> = lost.iter().map(|check| format!("- {check}")).collect();
    question_on_lines(name, place, &lines)
}

fn question_on_lines(name: &str, place: (String, u32), lines: &[String]) -> Question {
    Question {
        topic: Topic::Outcome(TestOutcome::Loosened),
        about: vec![name.to_owned()],
        place: Some(place),
        material: lines.join("\n"),
        absence: None,
    }
}

impl Outlines {
    fn read(change: &Change) -> Self {
        let (mut before, mut after) = (BTreeMap::new(), BTreeMap::new());
        for file in &change.files {
            let outline = |version: &FileContent| language::read(&file.path, text(version)?);
            before.extend(outline(&file.before).map(|outline| (file.path.clone(), outline)));
            after.extend(outline(&file.after).map(|outline| (file.path.clone(), outline)));
        }
        Self { before, after }
    }

    /// Returns the assertions that a test lost; none if several tests of the head have its name, since their forms
    /// cannot be matched.
    fn lost_by(&self, change: &Change, row: &TestRow) -> Vec<String> {
        let base = row.pair.base.as_ref().map(|name| change.before.find(name));
        let head = row.pair.head.as_ref().map(|name| change.after.find(name));
        let (Some([was, ..]), Some([is])) = (base.as_deref(), head.as_deref()) else {
            return Vec::new();
        };
        let both = test_at(&self.before, was).zip(test_at(&self.after, is));
        both.map(|(was, is)| lost_by_test(was, is)).unwrap_or_default()
    }

    /// Returns the helpers of tests that lost assertions, with their places.
    fn helpers(&self) -> Vec<(String, (String, u32), Vec<String>)> {
        let mut found = Vec::new();
        for (path, was) in &self.before {
            let Some(is) = self.after.get(path) else { continue };
            let is_helper = |function: &&Function| function.purpose == Purpose::Tests && !function.name.is_empty();
            for old in was.functions.iter().filter(is_helper) {
                let mut same = is.functions.iter().filter(|new| new.name == old.name);
                let Some(new) = same.next().filter(|new| new.words != old.words) else {
                    continue;
                };
                let lost = lost_by_helper(&old.checks, &new.checks);
                if !lost.is_empty() {
                    found.push((old.name.clone(), (path.clone(), new.line), lost));
                }
            }
        }
        found
    }
}

fn test_at<'o>(outlines: &'o BTreeMap<String, Outline>, site: &TestSite) -> Option<&'o Test> {
    let outline = outlines.get(&site.path)?;
    outline.tests.iter().find(|test| test.line == site.line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_added_once_more_is_shown() {
        assert_eq!(changed_lines("a\nexit 0\nb\n", "a\nexit 0\nb\nexit 0\n"), ["+ exit 0"]);
        assert_eq!(changed_lines("a\nb\n", "b\na\n"), [""; 0]);
        assert_eq!(changed_lines("a\nb\n", "a\nc\n"), ["- b", "+ c"]);
    }
}
