//! Findings as annotations of a check run: on their lines, in plain words, for that is all an annotation shows.

use crate::messages::{items, untrusted};
use domain::{
    decision::{Issue, Severity},
    evidence,
    task::{Task, Turn},
};

/// Annotations of one check run; more would be many calls that nobody reads.
const MOST: usize = 200;

/// GitHub takes 255 characters of a title, and 64 KB of a message.
const TITLE: usize = 120;
const TEXT: usize = 4_000;

/// One finding on one line of a file of the commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Annotation {
    /// The file, relative to the root.
    pub path: String,
    /// The line, from 1.
    pub line: u32,
    /// How much it weighs.
    pub level: Level,
    /// One line.
    pub title: String,
    /// Plain text.
    pub message: String,
}

/// How much an annotation weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// It sends work back.
    Failure,
    /// It should be mended.
    Warning,
    /// It is worth knowing.
    Notice,
}

/// The files that findings of a turn name.
pub fn annotated_files(task: &Task, turn: &Turn) -> Vec<String> {
    let mut files: Vec<String> = Vec::new();
    for item in found(task, turn) {
        if let Some((path, _)) = place(&item).filter(|(path, _)| !files.iter().any(|file| file == path)) {
            files.push(path.to_owned());
        }
    }
    files.truncate(MOST);
    files
}

/// What was found on lines that exist on the turn's commit. `lines` gives the number of lines of a file there.
pub fn annotations(task: &Task, turn: &Turn, lines: &dyn Fn(&str) -> Option<u32>) -> Vec<Annotation> {
    let items = found(task, turn);
    let shown = items.iter().filter_map(|item| {
        let (path, line) = place(item)?;
        (line <= lines(path)?).then(|| annotation(item, path, line))
    });
    shown.take(MOST).collect()
}

/// The verdict's items; before there is one, what the Gates found.
fn found(task: &Task, turn: &Turn) -> Vec<Issue> {
    match (&turn.verdict, &turn.gates) {
        (Some(verdict), _) => verdict.items.clone(),
        (None, Some(gates)) => evidence::items(task.plan.kind, gates),
        (None, None) => Vec::new(),
    }
}

fn place(item: &Issue) -> Option<(&str, u32)> {
    let file = item.file.as_deref()?;
    let file = file.strip_prefix("./").unwrap_or(file);
    let line = item.line.filter(|line| *line > 0)?;
    (!file.is_empty()).then_some((file, line))
}

fn annotation(item: &Issue, path: &str, line: u32) -> Annotation {
    let level = match item.severity {
        Severity::MustFix => Level::Failure,
        Severity::ShouldFix => Level::Warning,
        Severity::NiceToHave => Level::Notice,
    };
    let said = untrusted::plain(&item.description, TEXT);
    let message = match item.suggestion.as_deref().filter(|text| !text.trim().is_empty()) {
        Some(text) => format!("{said}\n\nSuggestion: {}", untrusted::plain(text, TEXT)),
        None => said,
    };
    Annotation {
        path: path.to_owned(),
        line,
        level,
        title: format!(
            "{}: {}",
            items::word(item.severity),
            untrusted::plain(&item.category, TITLE)
        ),
        message,
    }
}
