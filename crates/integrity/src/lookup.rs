//! Functions that only look up the numbers that their tests expect: every answer that is asked for stands there beside its
//! question, there are no others, and nothing is computed.
//!
//! A table that a task asks for looks alike; its numbers stand in the task, or its keys go up one by one. Tables of words
//! are left alone: what they say is known, not computed.

use crate::{
    Change, finding, language,
    language::{
        Role,
        outline::{Check, Function, Strength},
    },
    reading::ReadFile,
};
use domain::integrity::{IntegrityFinding, Rule};

/// Words by which something is computed, or one answer given for many questions.
const COMPUTES: [&str; 24] = [
    "+", "-", "*", "/", "%", "**", "//", "<<", ">>", "<", ">", "<=", ">=", "..", "..=", "^", "~", "+=", "-=", "*=",
    "for", "while", "loop", "lambda",
];

/// Every new or changed function of the product that only looks up the numbers of its tests.
pub(super) fn find(change: &Change<'_>, files: &[ReadFile<'_>]) -> Vec<IntegrityFinding> {
    let tests = files.iter().flat_map(|file| &file.after.tests);
    let strong = |check: &&Check| check.strength == Strength::Strong;
    let checks: Vec<&Check> = tests.flat_map(|test| &test.checks).filter(strong).collect();
    let text = format!("{} {}", change.task.name, change.task.description);
    let asked_for = numbers(text.split(|c: char| !c.is_ascii_digit() && c != '.' && c != '_'));
    let mut findings = Vec::new();
    for file in files.iter().filter(|file| file.role == Role::Source) {
        let is_new = |now: &&Function| {
            let mut before = file.before.functions.iter();
            !before.any(|old| old.name == now.name && old.words == now.words)
        };
        let only_looks_up = |now: &&Function| {
            let asked: Vec<&Check> = checks
                .iter()
                .filter(|check| check.words.contains(&now.name))
                .copied()
                .collect();
            is_plain(&now.words) && asked.len() > 1 && is_table(&table(file, now), &asked, &asked_for)
        };
        let found = file.after.functions.iter().filter(is_new).filter(only_looks_up);
        findings.extend(found.map(|now| {
            let what = format!(
                "`{}` computes nothing: it holds the answers that its tests ask for, and no others",
                now.name
            );
            finding(Rule::Stub, file.path, Some(now.line), what)
        }));
    }
    findings
}

fn is_plain(words: &[String]) -> bool {
    !words.iter().any(|word| COMPUTES.contains(&word.as_str()))
}

/// The numbers that a function knows: its own, and before them those of what it names beside itself.
fn table(file: &ReadFile<'_>, function: &Function) -> Vec<f64> {
    let text = file.file.after.bytes().map(String::from_utf8_lossy).unwrap_or_default();
    let doing = language::doing(file.path, &text).unwrap_or_default();
    let named = doing.values.iter().filter(|value| {
        let name = value.name.as_ref();
        name.is_some_and(|name| function.words.contains(name)) && is_plain(&value.words)
    });
    let mut known: Vec<f64> = named
        .flat_map(|value| numbers(value.words.iter().map(String::as_str)))
        .collect();
    known.extend(numbers(function.words.iter().map(String::as_str)));
    known
}

/// The numbers among the words, in their order.
fn numbers<'a>(words: impl Iterator<Item = &'a str>) -> Vec<f64> {
    let number = |word: &str| {
        let begins = word.starts_with(|c: char| c.is_ascii_digit());
        let plain = word.replace('_', "");
        let plain = plain.trim_end_matches(['u', 'i', 'f', 'n', '.']);
        begins.then(|| plain.parse().ok()).flatten()
    };
    words.filter_map(number).collect()
}

/// Whether the numbers are the questions and answers of all checks, and hardly anything else, although nobody asked for them.
fn is_table(known: &[f64], checks: &[&Check], asked_for: &[f64]) -> bool {
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for check in checks {
        let said = numbers(check.words.iter().map(String::as_str));
        let [first, .., last] = said.as_slice() else {
            return false;
        };
        let row = [said.clone(), vec![*first, *last]]
            .into_iter()
            .find(|row| known.windows(row.len()).any(|window| window == row.as_slice()));
        let Some(row) = row else { return false };
        if !rows.contains(&row) {
            rows.push(row);
        }
    }
    let listed: usize = rows.iter().map(Vec::len).sum();
    let has_answer = |row: &Vec<f64>| row.last().is_some_and(|answer| asked_for.contains(answer));
    rows.len() > 1 && known.len() <= listed.saturating_add(1) && !rows.iter().all(has_answer) && !are_counted(&rows)
}

/// Whether the first numbers of all rows go up one by one: places in a list, levels, months.
fn are_counted(rows: &[Vec<f64>]) -> bool {
    let mut keys: Vec<f64> = rows.iter().filter_map(|row| row.first().copied()).collect();
    keys.sort_by(f64::total_cmp);
    let is_next = |pair: &[f64]| matches!(pair, [one, other] if (other - one - 1.0).abs() < f64::EPSILON);
    keys.windows(2).all(is_next) && rows.iter().all(|row| row.len() == 2)
}

#[cfg(test)]
mod tests {
    use super::{are_counted, numbers};

    #[test]
    fn numbers_are_read_as_people_write_them() {
        let words = ["fee", "10_000", "12.5", "390u", "x1", "7n", "-", "3."];
        assert_eq!(numbers(words.into_iter()), [10000.0, 12.5, 390.0, 7.0, 3.0]);
    }

    #[test]
    fn places_in_a_list_are_counted_and_amounts_are_not() {
        assert!(are_counted(&[vec![2.0, 28.0], vec![1.0, 31.0], vec![3.0, 31.0]]));
        assert!(!are_counted(&[vec![10.0, 25.0], vec![10000.0, 100.0]]));
    }
}
