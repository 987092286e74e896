//! Rows taken out of the tables that tests go through.

use crate::{
    finding,
    gone::Gone,
    language,
    language::{Role, folders, outline::Table},
    places::{Grown, THROUGH},
    reading::{Placed, ReadFile},
    words::{added, likeness, names, values},
};
use domain::integrity::{IntegrityFinding, Rule};
use std::collections::BTreeSet;

/// A test that checks the same of fewer rows.
pub(super) fn in_test(one: Placed<'_>, other: Placed<'_>, grown: &[Grown<'_>]) -> Option<IntegrityFinding> {
    let checks = |placed: Placed<'_>| {
        placed
            .test
            .checks
            .iter()
            .map(|check| check.words.clone())
            .collect::<Vec<_>>()
    };
    let through = other.test.words.iter().any(|word| THROUGH.contains(&word.as_str()));
    // What is not done any more was no row: the test gets something in another way now.
    let done = doing(&one.test.words).is_subset(&doing(&other.test.words));
    let fewer = through && done && !one.test.checks.is_empty() && checks(one) == checks(other);
    let lost = lost(&one.test.words, &other.test.words)
        .filter(|lost| fewer && !is_of_each(lost) && !is_elsewhere(lost, &other.test.words, grown))?;
    let what = format!(
        "`{}` goes through fewer rows: {} is gone",
        other.test.name,
        shown(&lost)
    );
    Some(finding(Rule::AssertionRemoved, other.path, Some(other.test.line), what))
}

/// Whether each value was lost more than once: what is gone is no row, but a part of several.
fn is_of_each(lost: &[String]) -> bool {
    lost.iter()
        .all(|value| lost.iter().filter(|other| *other == value).count() > 1)
}

/// The names of what a test does, as against what stands in its rows.
fn doing(words: &[String]) -> BTreeSet<&str> {
    let said = values(words);
    let does = |name: &&str| name.starts_with(char::is_lowercase) && !said.contains(name);
    names(words).into_iter().filter(does).collect()
}

/// Lists beside tests that lost rows.
pub(super) fn in_tables(files: &[ReadFile<'_>], grown: &[Grown<'_>]) -> Vec<IntegrityFinding> {
    let of_tests = files
        .iter()
        .filter(|file| file.role != Role::Source || !file.after.tests.is_empty());
    of_tests.flat_map(|file| in_file(file, grown)).collect()
}

fn in_file(file: &ReadFile<'_>, grown: &[Grown<'_>]) -> Vec<IntegrityFinding> {
    let is_among = |table: &Table, list: &[Table]| list.iter().any(|other| other.words == table.words);
    let old = file
        .before
        .tables
        .iter()
        .filter(|table| !is_among(table, &file.after.tables));
    let new: Vec<&Table> = file
        .after
        .tables
        .iter()
        .filter(|table| !is_among(table, &file.before.tables))
        .collect();
    let mut findings = Vec::new();
    for table in old.take(100) {
        let ranked = new.iter().map(|other| (likeness(&table.words, &other.words), *other));
        let Some((_, other)) = ranked
            .filter(|ranked| ranked.0 > 0.3)
            .max_by(|one, other| one.0.total_cmp(&other.0))
        else {
            continue;
        };
        if let Some(lost) = lost(&table.words, &other.words).filter(|lost| !is_elsewhere(lost, &other.words, grown)) {
            let what = format!("a table that tests go through lost {}", shown(&lost));
            findings.push(finding(Rule::AssertionRemoved, file.path, Some(other.line), what));
        }
    }
    findings
}

/// Files of rows that lost some and gained none.
const OF_ROWS: [&str; 4] = [".csv", ".tsv", ".jsonl", ".ndjson"];
/// Folders of what is put into tests, and of what must come out of them.
const OF_INPUT: [&str; 5] = ["data", "cases", "testdata", "tables", "vectors"];
const OF_OUTPUT: [&str; 5] = ["golden", "expected", "snapshots", "output", "approved"];

/// Files of data beside tests that lost rows: what was tried with them is not tried any more.
pub(super) fn in_data(files: &[ReadFile<'_>], gone: &Gone) -> Vec<IntegrityFinding> {
    let has_folder = |path: &str, list: &[&str]| folders(path).any(|folder| list.contains(&folder));
    let is_input = |file: &&ReadFile<'_>| {
        let of_rows = OF_ROWS.iter().any(|end| file.path.ends_with(end));
        file.role == Role::Support
            && language::of(file.path).is_none()
            && (of_rows || has_folder(file.path, &OF_INPUT))
            && !has_folder(file.path, &OF_OUTPUT)
    };
    let lost = |file: &ReadFile<'_>| {
        let lines = |bytes: &[u8]| -> Vec<String> {
            let text = String::from_utf8_lossy(bytes);
            text.lines()
                .map(|line| line.trim().to_owned())
                .filter(|line| !line.is_empty())
                .collect()
        };
        let (before, after) = (lines(file.file.before.bytes()?), lines(file.file.after.bytes()?));
        let lost = added(&after, &before);
        let words: Vec<String> = lost
            .iter()
            .flat_map(|line| line.split(|c: char| !c.is_alphanumeric() && c != '_'))
            .map(str::to_owned)
            .collect();
        let is_less = !lost.is_empty() && !after.is_empty() && added(&before, &after).is_empty();
        let what = format!("data that tests go through lost {}", shown(&lost));
        (is_less && !gone.explains(&words, "")).then(|| finding(Rule::AssertionRemoved, file.path, Some(1), what))
    };
    files.iter().filter(is_input).filter_map(lost).collect()
}

/// The values that are gone, where none came in their place.
fn lost(before: &[String], after: &[String]) -> Option<Vec<String>> {
    let plain = |words: &[String]| -> Vec<String> { values(words).into_iter().map(str::to_owned).collect() };
    let (before, after) = (plain(before), plain(after));
    let lost = added(&after, &before);
    (!lost.is_empty() && added(&before, &after).is_empty()).then_some(lost)
}

fn is_elsewhere(lost: &[String], own: &[String], grown: &[Grown<'_>]) -> bool {
    let others = grown.iter().filter(|place| !std::ptr::eq(place.after, own));
    others.into_iter().any(|place| {
        let there = values(place.after);
        lost.iter().all(|value| there.contains(&value.as_str()))
    })
}

fn shown(lost: &[String]) -> String {
    crate::language::outline::quoted(&lost.join(", "))
}
