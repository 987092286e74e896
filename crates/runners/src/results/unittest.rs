//! Reads Python's unittest.

use crate::results::{
    failures::{Layout, NO_END, is_text},
    runner::{Arguments, Naming, Runner, Select},
    tally::{Outcome, Tally},
};
use std::collections::BTreeSet;

pub(super) static UNITTEST: Runner = Runner {
    naming: Some(Naming { argument: "-v", unless: &["-v", "--verbose", "-q", "--quiet"] }),
    select: Some(BY_PATTERN),
    read: Some(unittest),
    begun: Some(unfinished_test),
    failures: Some(Layout {
        test: |line| {
            let name = line.strip_prefix("FAIL: ").or_else(|| line.strip_prefix("ERROR: "))?;
            Some((name, ""))
        },
        name: full_name,
        mark: Some(|line| line.starts_with("Traceback ").then_some("")),
        text: |line| !line.starts_with(' ') && is_text(line),
        end: NO_END,
    }),
    ..Runner::only_called(&[&["-m", "unittest"]])
};

/// Django's own runner, which is built on unittest.
pub(super) static DJANGO: Runner = Runner {
    naming: Some(Naming { argument: "--verbosity=2", unless: &["-v", "--verbosity"] }),
    select: Some(BY_PATTERN),
    ..Runner::only_called(&[&["manage.py", "test"]])
};

/// A pattern without a star matches anywhere in a name. The text after a blank is a subtest's parameters.
const BY_PATTERN: Select = Select {
    by: |_, asked| {
        let names = asked.names.iter();
        let tests: BTreeSet<&str> = names.filter_map(|name| name.split([' ', '(']).next()).collect();
        Some(Arguments::at_end(tests.into_iter().flat_map(|test| ["-k", test]).map(str::to_owned)))
    },
    unless: &["-k"],
};

/// Reads `Ran 3 tests in 0.001s`, then `OK (skipped=1)` or `FAILED (failures=1, errors=1)`; with `-v`, one line per
/// test before it.
pub(super) fn unittest(text: &str) -> Option<Tally> {
    let mut tally = Tally::default();
    let mut seen = None;
    let mut open: Option<&str> = None;
    let mut listed = Tally::default();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(ran) = ran_tests(line) {
            seen = Some(());
            let outcome = lines.by_ref().find(|line| !line.trim().is_empty()).unwrap_or_default();
            sum(&mut tally, ran, outcome);
        } else if let Some(name) = line.strip_prefix("FAIL: ").or_else(|| line.strip_prefix("ERROR: ")) {
            tally.record_mentioned(&full_name(name));
        } else {
            open = result(line, open, &mut listed);
        }
    }
    seen?;
    // Subtests, and classes whose set-up failed, make the summary's counts differ from the tests, whereas the lines are
    // exact. But a failure that only the summary counts must not be lost.
    let is_verbose = listed.passed > 0 || listed.failed > 0 || listed.skipped > 0;
    Some(if is_verbose && listed.failed >= tally.failed { listed } else { tally })
}

/// Returns the last test that `-v` announced without an outcome, if the run did not end.
fn unfinished_test(text: &str) -> Option<String> {
    let mut listed = Tally::default();
    let open = text.lines().fold(None, |open, line| result(line, open, &mut listed));
    let has_ended = text.lines().any(|line| ran_tests(line).is_some());
    open.filter(|_| !has_ended).map(full_name)
}

/// Reads a line of `-v`; returns the test whose outcome is still to come.
fn result<'a>(line: &'a str, open: Option<&'a str>, tally: &mut Tally) -> Option<&'a str> {
    let Some((start, said)) = line.rsplit_once(" ... ").or_else(|| Some((line.strip_suffix(" ...")?, ""))) else {
        return match (open, outcome(line)) {
            (Some(name), Some(outcome)) => {
                tally.record(&full_name(name), outcome);
                None
            }
            // The test's output, or its docstring, is printed before the outcome.
            (open, _) => open.or_else(|| is_test(line).then_some(line)),
        };
    };
    let name = if is_test(start) { start } else { open? };
    match outcome(said) {
        Some(outcome) => {
            tally.record(&full_name(name), outcome);
            // If subtests fail, unittest prints their outcomes but none for the test itself.
            None
        }
        None => Some(name),
    }
}

fn outcome(said: &str) -> Option<Outcome> {
    match said.trim_end() {
        "ok" => Some(Outcome::Passed),
        "FAIL" | "ERROR" | "unexpected success" => Some(Outcome::Failed),
        "expected failure" => Some(Outcome::Skipped),
        said if said.starts_with("skipped ") => Some(Outcome::Skipped),
        _ => None,
    }
}

/// `true` if the line begins with a test, such as `test_x (mod.Class.test_x)`; a subtest's parameters follow.
fn is_test(line: &str) -> bool {
    let mut words = line.trim_start().splitn(2, ' ');
    let name = words.next().unwrap_or_default();
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.');
    is_name && words.next().is_some_and(|rest| rest.starts_with('(') && rest.contains(')'))
}

/// Counts the summary's numbers: `FAILED (failures=3, errors=2, skipped=1, expected failures=1)`.
fn sum(tally: &mut Tally, ran: u32, outcome: &str) {
    let inside = outcome.split_once('(').and_then(|(_, rest)| rest.split_once(')'));
    let number = |word: &str| {
        let parts = inside.map_or("", |(inside, _)| inside).split(", ");
        parts
            .filter_map(|part| part.split_once('='))
            .find(|(key, _)| *key == word)
            .and_then(|(_, number)| number.parse::<u32>().ok())
            .unwrap_or(0)
    };
    let failed = ["failures", "errors", "unexpected successes"].map(number);
    let failed = failed.into_iter().fold(0, u32::saturating_add);
    let skipped = number("skipped").saturating_add(number("expected failures"));
    tally.sum(ran.saturating_sub(failed).saturating_sub(skipped), failed, skipped);
}

fn ran_tests(line: &str) -> Option<u32> {
    let rest = line.strip_prefix("Ran ")?;
    let (number, rest) = rest.split_once(' ')?;
    let rest = rest.strip_prefix("tests in ").or_else(|| rest.strip_prefix("test in "))?;
    rest.ends_with('s').then(|| number.parse().ok()).flatten()
}

/// Returns the full name from `test_x (mod.Class.test_x)`, or `test_x (mod.Class)` before Python 3.11. A subtest keeps
/// its parameters.
fn full_name(line: &str) -> String {
    let line = line.trim();
    let Some((name, rest)) = line.split_once(" (") else {
        return line.to_owned();
    };
    let Some((path, parameters)) = rest.split_once(')') else {
        return line.to_owned();
    };
    match path.ends_with(name) {
        true => format!("{path}{parameters}"),
        false if name.starts_with("test") => format!("{path}.{name}{parameters}"),
        false => line.to_owned(),
    }
}
