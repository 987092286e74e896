//! pytest.

use crate::gates::results::{
    numbers::before,
    runner::{Arguments, Asked, Runner},
    tally::{Outcome, Tally},
};
use std::collections::{BTreeSet, HashSet};

/// Variables make it name its tests.
pub(super) static PYTEST: Runner = Runner {
    select: Some(by_id),
    read: Some(pytest),
    begun: Some(begun),
    ..Runner::called(&[&["pytest"], &["py.test"], &["-m", "pytest"]])
};

/// Options that take no value, as far as they stand before paths often.
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

/// Tests by their ids in place of the paths that the command names, with all their parameters: those may follow from code
/// that is another.
fn by_id(words: &[&str], &Asked { names, paths, .. }: &Asked<'_>) -> Option<(Arguments, Vec<usize>)> {
    let mut named = Vec::new();
    for (number, pair) in words.windows(2).enumerate() {
        let [before, word] = pair else { continue };
        if word.starts_with('-') || number == 0 && *before == "-m" {
            continue;
        }
        let path = word
            .split("::")
            .next()
            .unwrap_or(word)
            .trim_start_matches("./")
            .trim_end_matches('/');
        let below = format!("{path}/");
        let is_path =
            path.is_empty() || path == "." || paths.iter().any(|known| known == path || known.starts_with(&below));
        // Only the option knows whether this is its value.
        let may_be_value = before.starts_with('-') && !before.contains('=') && !FLAGS.contains(before);
        match (is_path, may_be_value) {
            (true, true) => return None,
            (true, false) => named.push(number.saturating_add(1)),
            (false, true) => {}
            (false, false) => return None,
        }
    }
    let without_parameters = |name: &&str| name.split_once('[').map_or(*name, |(test, _)| test).to_owned();
    let ids: BTreeSet<String> = names.iter().map(without_parameters).collect();
    // It would read more arguments from such a file.
    if ids.iter().any(|id| id.starts_with('@')) {
        return None;
    }
    let (arguments, _) = Arguments::at_end(ids.into_iter().collect())?;
    Some((arguments, named))
}

/// The last line: `=== 1 failed, 2 passed in 0.12s ===`, with `-q` without the frame.
pub(super) fn pytest(text: &str) -> Option<Tally> {
    let summary = text.lines().rev().find(|line| is_summary(line))?;
    let number = |word: &str| before(summary, word).unwrap_or(0);
    let errors = number("errors").saturating_add(number("error"));
    let mut tally = Tally::default();
    tally.count(Outcome::Passed, number("passed").saturating_add(number("xpassed")));
    tally.count(Outcome::Failed, number("failed").saturating_add(errors));
    tally.count(Outcome::Skipped, number("skipped").saturating_add(number("xfailed")));
    results(text, &mut tally);
    Some(tally)
}

/// One line per test with `-v`, and the lists at the end.
fn results(text: &str, tally: &mut Tally) {
    let mut seen: HashSet<String> = HashSet::new();
    let mut at_end = false;
    for line in text.lines() {
        if line.contains(" short test summary info ") {
            at_end = true;
        } else if let Some((name, outcome)) = progress(line).filter(|_| !at_end) {
            match seen.insert(name.to_owned()) {
                true => tally.test(name, outcome),
                // The test itself passed, and what cleans up after it did not.
                false if outcome == Outcome::Failed => tally.test(&format!("{name} (error)"), outcome),
                false => {}
            }
        } else if let Some(name) = listed(line, "PASSED ").map(str::trim_end) {
            if seen.insert(name.to_owned()) {
                tally.test(name, Outcome::Passed);
            }
        } else if let Some(name) = failed(line) {
            // A parameter may hold what separates the name from the message: then the name was cut off.
            let is_known = tally.named(Outcome::Failed).any(|known| known.starts_with(name));
            if !is_known {
                tally.test(name, Outcome::Failed);
            }
        }
    }
}

/// `tests/test_a.py::test_x PASSED [ 50%]`, or with several workers `[gw0] [ 50%] PASSED tests/test_a.py::test_x`.
fn progress(line: &str) -> Option<(&str, Outcome)> {
    if let Some((_, rest)) = line.split_once("%] ").filter(|_| line.starts_with("[gw")) {
        let (word, name) = rest.split_once(' ')?;
        return Some((name.trim(), outcome(word)?)).filter(|(name, _)| name.contains("::"));
    }
    let (name, said) = ["PASSED", "FAILED", "ERROR", "SKIPPED", "XFAIL", "XPASS"]
        .into_iter()
        .filter_map(|word| {
            let (name, rest) = line.split_once(&format!(" {word}"))?;
            (rest.is_empty() || rest.starts_with([' ', '('])).then_some((name, word))
        })
        .min_by_key(|(name, _)| name.len())?;
    let is_name = name.contains("::") && !name.starts_with(' ');
    Some((name, outcome(said)?)).filter(|_| is_name)
}

/// The last line, `tests/test_a.py::test_x `, to which the result is added when there is one.
fn begun(text: &str) -> Option<String> {
    let begins = |line: &str| line.starts_with('=') && line.contains(" test session starts ");
    let name = text.rsplit('\n').next()?.strip_suffix(' ')?;
    let is_name = name.contains(".py::") && !name.starts_with(' ') && progress(name).is_none();
    (is_name && text.lines().any(begins)).then(|| name.to_owned())
}

fn outcome(word: &str) -> Option<Outcome> {
    match word {
        "PASSED" | "XPASS" => Some(Outcome::Passed),
        "FAILED" | "ERROR" => Some(Outcome::Failed),
        "SKIPPED" | "XFAIL" => Some(Outcome::Skipped),
        _ => None,
    }
}

/// A line of the lists at the end. unittest writes a colon after the word, and log lines have no path.
fn listed<'a>(line: &'a str, word: &str) -> Option<&'a str> {
    line.strip_prefix(word).filter(|name| name.contains(".py"))
}

/// The name in a line of the list of failures, where a message follows it.
fn failed(line: &str) -> Option<&str> {
    let name = listed(line, "FAILED ").or_else(|| listed(line, "ERROR "))?;
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

/// `3 passed`, `1 warning`.
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
