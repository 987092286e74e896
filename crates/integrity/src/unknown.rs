//! Tests in languages that have no file of their own: whole files, and the marks that most runners know.

use crate::{
    Version, finding,
    gone::Gone,
    language,
    language::{Role, outline::quoted},
    less,
    reading::ReadFile,
};
use domain::integrity::{IntegrityFinding, Rule};

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
    let included = files
        .iter()
        .filter(|file| file.role == Role::Support && language::of(file.path).is_none());
    let included = included.filter_map(|file| fewer_assertions(file, gone));
    of_tests
        .flat_map(|file| in_file(file, files, gone))
        .chain(included)
        .collect()
}

/// Code that tests take in from a file of another kind, with fewer assertions of a value than before.
fn fewer_assertions(file: &ReadFile<'_>, gone: &Gone) -> Option<IntegrityFinding> {
    let (before, after) = (text(&file.file.before), text(&file.file.after));
    let times = |text: &str| {
        words(text)
            .iter()
            .filter(|word| EQUALITIES.contains(&word.as_str()))
            .count()
    };
    let is_less = file.file.after != Version::Absent && times(&after) < times(&before);
    let what = "what tests take in from this file asserts less";
    (is_less && !gone.explains(&words(&before), "")).then(|| finding(Rule::AssertionRemoved, file.path, Some(1), what))
}

/// Assertions of a value.
const EQUALITIES: [&str; 6] = [
    "assert_eq",
    "assertEqual",
    "assertEquals",
    "toBe",
    "toEqual",
    "strictEqual",
];

fn in_file(file: &ReadFile<'_>, files: &[ReadFile<'_>], gone: &Gone) -> Vec<IntegrityFinding> {
    let (before, after) = (text(&file.file.before), text(&file.file.after));
    if !before.trim().is_empty() && after.trim().is_empty() {
        return gone_file(file, &before, files, gone).into_iter().collect();
    }
    let mut findings = skips(file, &before, &after);
    if file.file.before != Version::Absent && !gone.explains(&words(&before), "") {
        findings.extend(less::find(file, (&before, &after), files));
    }
    findings
}

/// What a file says; nothing where it is not there.
fn text(version: &Version) -> String {
    version
        .bytes()
        .map(|bytes| String::from_utf8_lossy(bytes).into_owned())
        .unwrap_or_default()
}

fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.map(str::to_owned).collect()
}

/// A file of tests that is gone, or that stands where its runner does not look.
fn gone_file(file: &ReadFile<'_>, before: &str, files: &[ReadFile<'_>], gone: &Gone) -> Option<IntegrityFinding> {
    let name = language::file_name(file.path);
    let is_here = |other: &&ReadFile<'_>| {
        other.path != file.path && other.role == Role::Test && is_much_of(before, &text(&other.file.after))
    };
    if let Some(moved) = files.iter().find(is_here) {
        let hidden = is_marked(name) && !is_marked(language::file_name(moved.path));
        let what = format!(
            "the tests of `{}` stand in a file that is no longer named as a test",
            file.path
        );
        return hidden.then(|| finding(Rule::TestRenamedAway, moved.path, Some(1), what));
    }
    let what = "the tests of this file are gone";
    (!gone.explains(&words(before), name)).then(|| finding(Rule::TestDeleted, file.path, None, what))
}

/// Whether a file's name says that it holds tests, as the runners of most languages look for it.
fn is_marked(name: &str) -> bool {
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem).to_lowercase();
    ["test", "spec"]
        .iter()
        .any(|mark| stem.starts_with(mark) || stem.ends_with(mark))
}

fn skips(file: &ReadFile<'_>, before: &str, after: &str) -> Vec<IntegrityFinding> {
    let count = |text: &str| text.lines().filter(|line| is_skip(line)).count();
    if count(after) <= count(before) {
        return Vec::new();
    }
    let new = (1_u32..)
        .zip(after.lines())
        .filter(|(_, line)| is_skip(line) && !before.contains(line.trim()));
    new.map(|(number, line)| {
        let what = format!("{} skips the test", quoted(line));
        finding(Rule::SkipAdded, file.path, Some(number), what)
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
