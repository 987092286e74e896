//! Reads pytest.

use crate::results::{
    failures::Layout,
    numbers::before,
    runner::{Arguments, Runner, Select, SelectedTests},
    tally::{Outcome, Tally},
};
use std::{
    collections::{BTreeSet, HashSet},
    ops::Bound,
};

/// pytest. Environment variables make it name its tests, so `naming` is not set.
pub(super) static PYTEST: Runner = Runner {
    select: Some(Select { by: by_id, unless: &[] }),
    read: Some(pytest),
    failures: Some(Layout::after(|line| {
        let name = failed(line)?;
        let (_, text) = line.split_once(" - ")?;
        Some((name, text))
    })),
    begun: Some(unfinished_test),
    ..Runner::only_called(&[&["pytest"], &["py.test"], &["-m", "pytest"]])
};

/// Options without a value that often precede paths.
const FLAGS: [&str; 16] = [
    "-v",
    "-vv",
    "-q",
    "-qq",
    "-x",
    "-s",
    "-l",
    "--verbose",
    "--quiet",
    "--exitfirst",
    "--strict",
    "--strict-markers",
    "--strict-config",
    "--lf",
    "--ff",
    "--no-header",
];

/// Selects tests by id, in place of the paths in the command, and with all their parameters, which may depend on
/// changed code. `None` if a word may not be a path.
fn by_id(words: &[&str], &SelectedTests { names, paths, .. }: &SelectedTests<'_>) -> Option<Arguments> {
    let mut replaced = Vec::new();
    for (number, pair) in words.windows(2).enumerate() {
        let [before, word] = pair else { continue };
        if word.starts_with('-') || number == 0 && *before == "-m" {
            continue;
        }
        let path = word.split("::").next().unwrap_or(word).trim_start_matches("./").trim_end_matches('/');
        let below = format!("{path}/");
        let is_path =
            path.is_empty() || path == "." || paths.iter().any(|known| *known == path || known.starts_with(&below));
        // The word may be the option's value.
        let may_be_value = before.starts_with('-') && !before.contains('=') && !FLAGS.contains(before);
        match (is_path, may_be_value) {
            (true, true) => return None,
            (true, false) => replaced.push(number.saturating_add(1)),
            (false, true) => {}
            (false, false) => return None,
        }
    }
    let without_parameters = |name: &&str| name.split_once('[').map_or(*name, |(test, _)| test).to_owned();
    let ids: BTreeSet<String> = names.iter().map(without_parameters).collect();
    // pytest reads more arguments from a file whose name follows `@`.
    if ids.iter().any(|id| id.starts_with('@')) {
        return None;
    }
    Some(Arguments { replaced, ..Arguments::at_end(ids) })
}

/// Reads the last line: `=== 1 failed, 2 passed in 0.12s ===`, or without the frame with `-q`.
pub(super) fn pytest(text: &str) -> Option<Tally> {
    let summary = text.lines().rev().find(|line| is_summary(line))?;
    let number = |word: &str| before(summary, word).unwrap_or(0);
    let errors = number("errors").saturating_add(number("error"));
    let mut tally = Tally::default();
    tally.sum(
        number("passed").saturating_add(number("xpassed")),
        number("failed").saturating_add(errors),
        number("skipped").saturating_add(number("xfailed")),
    );
    results(text, &mut tally);
    Some(tally)
}

/// Reads one line per test with `-v`, and the lists at the end.
fn results(text: &str, tally: &mut Tally) {
    let mut seen: HashSet<String> = HashSet::new();
    let mut failures: BTreeSet<String> = BTreeSet::new();
    let mut at_end = false;
    for line in text.lines() {
        if line.contains(" short test summary info ") {
            at_end = true;
        } else if let Some((name, outcome)) = progress(line).filter(|_| !at_end) {
            if outcome == Outcome::Failed {
                failures.insert(name.to_owned());
            }
            match seen.insert(name.to_owned()) {
                true => tally.record_name(name, outcome),
                // The test itself passed, but its teardown failed.
                false if outcome == Outcome::Failed => tally.record_name(&format!("{name} (error)"), outcome),
                false => {}
            }
        } else if let Some(name) = read_listed(line, "PASSED ").map(str::trim_end) {
            if seen.insert(name.to_owned()) {
                tally.record_name(name, Outcome::Passed);
            }
        } else if let Some(name) = failed(line) {
            // A parameter may contain the separator between name and message: then the name is cut short.
            let next = failures.range::<str, _>((Bound::Included(name), Bound::Unbounded)).next();
            if !next.is_some_and(|known| known.starts_with(name)) {
                tally.record_name(name, Outcome::Failed);
                failures.insert(name.to_owned());
            }
        }
    }
}

/// Reads `tests/test_a.py::test_x PASSED [ 50%]`, or with several workers
/// `[gw0] [ 50%] PASSED tests/test_a.py::test_x`.
fn progress(line: &str) -> Option<(&str, Outcome)> {
    if let Some((_, rest)) = line.split_once("%] ").filter(|_| line.starts_with("[gw")) {
        let (word, name) = rest.split_once(' ')?;
        return Some((without_origin(name.trim()), outcome(word)?)).filter(|(name, _)| name.contains("::"));
    }
    let (name, said) = ["PASSED", "FAILED", "ERROR", "SKIPPED", "XFAIL", "XPASS"]
        .into_iter()
        .filter_map(|word| {
            let (name, rest) = line.split_once(&format!(" {word}"))?;
            (rest.is_empty() || rest.starts_with([' ', '('])).then_some((name, word))
        })
        .min_by_key(|(name, _)| name.len())?;
    let is_name = name.contains("::") && !name.starts_with(' ');
    Some((without_origin(name), outcome(said)?)).filter(|_| is_name)
}

/// Returns the test that had begun: the last line is `tests/test_a.py::test_x ` without a result.
fn unfinished_test(text: &str) -> Option<String> {
    let begins = |line: &str| line.starts_with('=') && line.contains(" test session starts ");
    let name = text.rsplit('\n').next()?.strip_suffix(' ')?;
    let is_name = name.contains(".py::") && !name.starts_with(' ') && progress(name).is_none();
    (is_name && text.lines().any(begins)).then(|| without_origin(name).to_owned())
}

/// Returns the id of a test that its class inherits from another file. While it runs, pytest adds that file:
/// `tests/test_b.py::TestB::test_x <- tests/test_a.py`.
fn without_origin(name: &str) -> &str {
    let inherited = name.rsplit_once(" <- ").filter(|(_, file)| file.ends_with(".py"));
    inherited.map_or(name, |(id, _)| id)
}

fn outcome(word: &str) -> Option<Outcome> {
    match word {
        "PASSED" | "XPASS" => Some(Outcome::Passed),
        "FAILED" | "ERROR" => Some(Outcome::Failed),
        "SKIPPED" | "XFAIL" => Some(Outcome::Skipped),
        _ => None,
    }
}

/// Reads a line of the lists at the end. unittest writes a colon after the word, and log lines contain no path.
fn read_listed<'a>(line: &'a str, word: &str) -> Option<&'a str> {
    line.strip_prefix(word).filter(|name| name.contains(".py"))
}

/// Returns the name in a line of the list of failures, without the message after it.
fn failed(line: &str) -> Option<&str> {
    let name = read_listed(line, "FAILED ").or_else(|| read_listed(line, "ERROR "))?;
    Some(name.split(" - ").next().unwrap_or(name))
}

fn is_summary(line: &str) -> bool {
    let line = line.trim_matches(['=', ' ']);
    let Some((said, time)) = line.rsplit_once(" in ") else {
        return false;
    };
    let timed = time.split_whitespace().next().is_some_and(|time| {
        let number = time.strip_suffix('s').unwrap_or_default();
        number.parse::<f64>().is_ok()
    });
    timed && (said == "no tests ran" || said.split(", ").all(is_count))
}

/// `true` for a part of the summary such as `3 passed` or `1 warning`.
fn is_count(part: &str) -> bool {
    const COUNTED: [&str; 12] = [
        "passed",
        "failed",
        "error",
        "errors",
        "skipped",
        "deselected",
        "xfailed",
        "xpassed",
        "warning",
        "warnings",
        "rerun",
        "subtests passed",
    ];
    let counted = part.split_once(' ');
    counted.is_some_and(|(number, word)| number.parse::<u32>().is_ok() && COUNTED.contains(&word))
}
