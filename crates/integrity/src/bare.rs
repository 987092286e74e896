//! Tests that check nothing: new ones without any assertion, and tests that a later one of the same name hides.

use crate::{
    finding,
    language::{
        Role,
        outline::{Test, Work},
    },
    reading::{Placed, ReadFile, tests},
};
use domain::integrity::{IntegrityFinding, Rule};

/// Parts of words that a file has whose tests check something, in whatever way, or have it checked elsewhere.
const HINTS: [&str; 22] = [
    "assert", "expect", "should", "check", "verif", "raise", "throw", "reject", "panic", "unwrap", "?;", "?)",
    "snapshot", "support", "helper", "common", "fixture", "conftest", "ensure", "fail", "must", "t.is(",
];

pub(super) fn find(files: &[ReadFile<'_>]) -> Vec<IntegrityFinding> {
    let mut findings = without_checks(files);
    findings.extend(files.iter().flat_map(hidden));
    findings
}

/// New tests, none of which checks anything: running is not checking.
fn without_checks(files: &[ReadFile<'_>]) -> Vec<IntegrityFinding> {
    let (before, _) = tests(files, |file| &file.before);
    let (after, _) = tests(files, |file| &file.after);
    let is_known = |one: &Placed<'_>| {
        before
            .iter()
            .any(|old| old.test.name == one.test.name || old.test.words == one.test.words)
    };
    let new: Vec<Placed<'_>> = after.into_iter().filter(|one| !is_known(one)).collect();
    let hinted = |path: &str| {
        let file = files.iter().find(|file| file.path == path);
        let text = file
            .and_then(|file| file.file.after.bytes())
            .map(String::from_utf8_lossy);
        text.is_none_or(|text| HINTS.iter().any(|hint| text.to_lowercase().contains(hint)))
    };
    let is_bare = |one: &Placed<'_>| one.test.work == Work::Some && one.test.checks.is_empty() && !hinted(one.path);
    if new.is_empty() || !new.iter().all(is_bare) {
        return Vec::new();
    }
    new.iter()
        .map(|one| {
            let what = format!(
                "the new test `{}` asserts nothing, and no other new test does",
                one.test.name
            );
            finding(Rule::AssertionTrivial, one.path, Some(one.test.line), what)
        })
        .collect()
}

/// Where a name can be given twice, the later test hides the earlier one.
fn hidden(file: &ReadFile<'_>) -> Vec<IntegrityFinding> {
    if !file.path.ends_with(".py") || file.role == Role::Source {
        return Vec::new();
    }
    let twice = |tests: &[Test], at: usize| {
        let Some(one) = tests.get(at) else { return false };
        let later = tests.iter().skip(at.saturating_add(1));
        later
            .into_iter()
            .any(|other| other.name == one.name && other.scope == one.scope)
    };
    let was = |name: &str| {
        let tests = &file.before.tests;
        (0..tests.len()).any(|at| tests.get(at).is_some_and(|test| test.name == name) && twice(tests, at))
    };
    let tests = &file.after.tests;
    (0..tests.len())
        .filter(|at| twice(tests, *at))
        .filter_map(|at| tests.get(at))
        .filter(|test| !was(&test.name))
        .map(|test| {
            let what = format!("a later test of the same name hides `{}`, which never runs", test.name);
            finding(Rule::TestVanished, file.path, Some(test.line), what)
        })
        .collect()
}
