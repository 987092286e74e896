//! Findings as annotations of a check run: on their lines and as plain text, since annotations show no Markdown.

use crate::messages::{causes::problems, form::untrusted, pull::items};
use domain::{
    evidence,
    problem::{ReviewItem, Severity},
    task::{Task, Turn},
};
use std::collections::BTreeSet;

/// The most annotations of one check run; more would cost many calls, and nobody would read them.
const MOST: usize = 200;

/// The most characters of a title and of a message; GitHub accepts 255 characters and 64 KB.
const TITLE: usize = 120;
const TEXT: usize = 4_000;

/// One finding on one line of a file of the commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Annotation {
    /// The file, relative to the root.
    pub path: String,
    /// The line, from 1.
    pub line: u32,
    pub severity: Severity,
    pub title: String,
    pub message: String,
}

/// Returns the files that a turn's findings name.
pub fn annotated_files(task: &Task, turn: &Turn) -> Vec<String> {
    let (items, mut seen) = (items_of_turn(task, turn), BTreeSet::new());
    let files = items.iter().filter_map(place).map(|(path, _)| path);
    let once = files.filter(|path| seen.insert(*path));
    once.take(MOST).map(str::to_owned).collect()
}

/// Returns the findings on lines that exist on the turn's commit. `lines` gives the number of lines of a file there.
pub fn annotations(task: &Task, turn: &Turn, lines: &dyn Fn(&str) -> Option<u32>) -> Vec<Annotation> {
    let items = items_of_turn(task, turn);
    let shown = items.iter().filter_map(|item| {
        let (path, line) = place(item)?;
        (line <= lines(path)?).then(|| annotation(item, path, line))
    });
    shown.take(MOST).collect()
}

/// Returns the verdict's items; before there is a verdict, the Gates' findings.
fn items_of_turn(task: &Task, turn: &Turn) -> Vec<ReviewItem> {
    match (&turn.verdict, &turn.gates) {
        (Some(verdict), _) => verdict.items.clone(),
        (None, Some(gates)) => evidence::items(task.plan.kind, gates),
        (None, None) => Vec::new(),
    }
}

fn place(item: &ReviewItem) -> Option<(&str, u32)> {
    let file = item.file.as_deref()?;
    let file = file.strip_prefix("./").unwrap_or(file);
    let line = item.line.filter(|line| *line > 0)?;
    (!file.is_empty()).then_some((file, line))
}

fn annotation(item: &ReviewItem, path: &str, line: u32) -> Annotation {
    let said = untrusted::plain(&problems::problem(item), TEXT);
    let message = match item.suggestion.as_deref().filter(|text| !text.trim().is_empty()) {
        Some(text) => format!("{said}\n\nSuggestion: {}", untrusted::plain(text, TEXT)),
        None => said,
    };
    Annotation {
        path: path.to_owned(),
        line,
        severity: item.severity,
        title: format!("{}: {}", items::word(item.severity), untrusted::plain(item.problem.category(), TITLE)),
        message,
    }
}
