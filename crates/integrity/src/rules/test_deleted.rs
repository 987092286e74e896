//! A test or its file is gone and nothing explains it: no existing product code changed, no new test of its file
//! replaces it, and the task does not name it.

use crate::{
    changed_file::{ChangedFile, LocatedTest, Reading},
    language::Role,
    rules::{
        rule::{ReadingRule, Violation, in_file},
        test_renamed_away, unknown_language,
    },
};
use domain::integrity::{Detail, Rule};

pub(super) static RULE: ReadingRule = ReadingRule {
    rule: Rule::TestDeleted,
    applies: &[Role::Test, Role::Support, Role::Source],
    refuses: &[("tests/test_sum.py", "def test_adds():\n    assert add(1, 2) == 3\n", "")],
    accepts: &[
        ("tests/test_sum.py", "def test_adds():\n    assert add(1, 2) == 3\n", ""),
        ("sum.py", "def add(a, b):\n    return a + b\n", ""),
    ],
    check,
};

fn check(reading: &Reading<'_>) -> Vec<Violation> {
    let mut found = lost_files(reading);
    let unexplained = vanished(reading).into_iter().filter(|one| !is_explained(reading, *one));
    found.extend(by_file(unexplained.collect()));
    found.extend(unknown_language::deleted(reading));
    found
}

/// Finds files that contained tests and can no longer be parsed.
fn lost_files(reading: &Reading<'_>) -> Vec<Violation> {
    let is_lost = |file: &&ChangedFile<'_>| file.is_unreadable && !file.before.tests.is_empty();
    let lost = reading.files.iter().filter(is_lost);
    lost.map(|file| in_file(file.path, Detail::Nothing)).collect()
}

/// Returns the tests of the base that no longer exist in any form.
pub(super) fn vanished<'a>(reading: &Reading<'a>) -> Vec<LocatedTest<'a>> {
    let unreadable = |path: &str| reading.files.iter().any(|file| file.path == path && file.is_unreadable);
    let gone = reading.gone().filter(|one| !unreadable(one.path));
    let vanished = gone.filter(|one| test_renamed_away::hidden(reading, *one).is_none());
    vanished.collect()
}

/// `true` if something explains the removal of a test.
pub(super) fn is_explained(reading: &Reading<'_>, one: LocatedTest<'_>) -> bool {
    let here = |list: &[LocatedTest<'_>]| list.iter().filter(|test| test.path == one.path).count();
    let is_replaced = here(&reading.pairs.new) >= here(&reading.pairs.gone);
    let file = reading.files.iter().find(|file| file.path == one.path);
    // The name may be in a table's row, or in a macro call that creates the test.
    let is_named_in_code = file.is_some_and(|file| file.after.words.contains(&one.test.name));
    let is_named = reading.explained.names(&one.test.name) || reading.explained.names(one.path);
    is_replaced
        || is_named_in_code
        || is_named
        || reading.explained.changes_product()
        || is_said_elsewhere(reading, one)
}

/// `true` if everything that a test asserted is asserted in the changed tests, or is in one of their tables.
fn is_said_elsewhere(reading: &Reading<'_>, one: LocatedTest<'_>) -> bool {
    let mut checks = one.test.checks.iter().peekable();
    checks.peek().is_some() && checks.all(|check| reading.still_says(&check.words))
}

/// Returns one violation for each file that lost tests, with the number of further tests.
pub(super) fn by_file(gone: Vec<LocatedTest<'_>>) -> Vec<Violation> {
    let mut counted: Vec<(LocatedTest<'_>, usize)> = Vec::new();
    for one in gone {
        match counted.iter_mut().find(|(known, _)| known.path == one.path) {
            Some((_, more)) => *more = more.saturating_add(1),
            None => counted.push((one, 0)),
        }
    }
    let violation = |(one, more): (LocatedTest<'_>, usize)| {
        let first = one.title();
        in_file(one.path, Detail::Tests { first, more })
    };
    counted.into_iter().map(violation).collect()
}
