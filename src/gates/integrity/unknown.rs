//! Tests in languages that have no file of their own: whole files, and the marks that most runners know.

use crate::domain::integrity::IntegrityFinding;
use crate::domain::integrity::Rule;
use crate::gates::integrity::finding;
use crate::gates::integrity::gone::Gone;
use crate::gates::integrity::reading::ReadFile;
use crate::gates::language;
use crate::gates::language::Role;
use crate::gates::language::outline::quoted;

const SKIPS: [&str; 13] = [
    "t.Skip(",
    "t.SkipNow(",
    "t.Skipf(",
    "@Disabled",
    "@Ignore",
    "@Test(enabled = false",
    "[Ignore",
    "Skip = \"",
    "markTestSkipped(",
    "pending ",
    "xit ",
    "xdescribe ",
    "@tag :skip",
];

/// What can be said of tests without knowing their language.
pub(super) fn find(files: &[ReadFile<'_>], gone: &Gone) -> Vec<IntegrityFinding> {
    let of_tests = files
        .iter()
        .filter(|file| file.role == Role::Test && language::of(file.path).is_none());
    of_tests.flat_map(|file| in_file(file, files, gone)).collect()
}

fn in_file(file: &ReadFile<'_>, files: &[ReadFile<'_>], gone: &Gone) -> Vec<IntegrityFinding> {
    let text = |bytes: Option<&[u8]>| {
        bytes
            .map(|bytes| String::from_utf8_lossy(bytes).into_owned())
            .unwrap_or_default()
    };
    let (before, after) = (text(file.file.before.bytes()), text(file.file.after.bytes()));
    if !before.trim().is_empty() && after.trim().is_empty() {
        let name = language::file_name(file.path);
        let moved = files.iter().any(|other| {
            other.path != file.path && other.role == Role::Test && is_much_of(&before, &text(other.file.after.bytes()))
        });
        let words: Vec<String> = before
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .map(str::to_owned)
            .collect();
        let what = "the tests of this file are gone";
        let explained = moved || gone.explains(&words, name);
        return if explained {
            Vec::new()
        } else {
            vec![finding(Rule::TestDeleted, file.path, None, what)]
        };
    }
    let skips = |text: &str| text.lines().filter(|line| is_skip(line)).count();
    let known = skips(&before);
    let new = (1_u32..)
        .zip(after.lines())
        .filter(|(_, line)| is_skip(line) && !before.contains(line.trim()));
    if skips(&after) <= known {
        return Vec::new();
    }
    new.map(|(number, line)| {
        finding(
            Rule::SkipAdded,
            file.path,
            Some(number),
            format!("{} skips the test", quoted(line)),
        )
    })
    .collect()
}

/// Whether a line skips a test in one of the usual languages.
fn is_skip(line: &str) -> bool {
    SKIPS
        .iter()
        .any(|skip| line.trim_start().starts_with(skip) || line.contains(skip) && !skip.ends_with(' '))
}

/// Whether most lines of one text stand in another.
fn is_much_of(one: &str, other: &str) -> bool {
    let lines: std::collections::BTreeSet<&str> = other.lines().map(str::trim).collect();
    let mine: Vec<&str> = one.lines().map(str::trim).filter(|line| line.len() > 2).collect();
    let shared = mine.iter().filter(|line| lines.contains(*line)).count();
    shared.saturating_mul(2) > mine.len()
}
