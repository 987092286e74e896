//! pytest and unittest.

use crate::gates::results::Tally;
use crate::gates::results::after;
use crate::gates::results::before;

/// The last line: `=== 1 failed, 2 passed in 0.12s ===`, with `-q` without the frame.
pub(super) fn pytest(text: &str) -> Option<Tally> {
    let summary = text.lines().rev().find(|line| is_pytest_summary(line))?;
    let number = |word: &str| before(summary, word).unwrap_or(0);
    let errors = number("errors").saturating_add(number("error"));
    let mut tally = Tally {
        passed: number("passed").saturating_add(number("xpassed")),
        failed: number("failed").saturating_add(errors),
        skipped: number("skipped").saturating_add(number("xfailed")),
        ..Tally::default()
    };
    for line in text.lines() {
        let name = line.strip_prefix("FAILED ").or_else(|| line.strip_prefix("ERROR "));
        // unittest writes a colon there, and log lines have no path.
        if let Some(name) = name.filter(|name| name.contains(".py")) {
            tally.named(name.split(" - ").next().unwrap_or(name));
        }
    }
    Some(tally)
}

fn is_pytest_summary(line: &str) -> bool {
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
    const COUNTED: [&str; 10] = [
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
    ];
    let counted = part.split_once(' ');
    counted.is_some_and(|(number, word)| number.parse::<u32>().is_ok() && COUNTED.contains(&word))
}

/// `Ran 3 tests in 0.001s`, then `OK (skipped=1)` or `FAILED (failures=1, errors=1)`.
pub(super) fn unittest(text: &str) -> Option<Tally> {
    let mut tally = Tally::default();
    let mut seen = None;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(ran) = ran_tests(line) {
            seen = Some(());
            let outcome = lines.by_ref().find(|line| !line.trim().is_empty()).unwrap_or_default();
            let number = |word: &str| after(outcome, word).unwrap_or(0);
            let failed = number("failures").saturating_add(number("errors"));
            let skipped = number("skipped");
            tally.failed = tally.failed.saturating_add(failed);
            tally.skipped = tally.skipped.saturating_add(skipped);
            let rest = ran.saturating_sub(failed).saturating_sub(skipped);
            tally.passed = tally.passed.saturating_add(rest);
        } else if let Some(name) = line.strip_prefix("FAIL: ").or_else(|| line.strip_prefix("ERROR: ")) {
            tally.named(unittest_name(name));
        }
    }
    seen.map(|()| tally)
}

fn ran_tests(line: &str) -> Option<u32> {
    let rest = line.strip_prefix("Ran ")?;
    let (number, rest) = rest.split_once(' ')?;
    let rest = rest
        .strip_prefix("tests in ")
        .or_else(|| rest.strip_prefix("test in "))?;
    rest.ends_with('s').then(|| number.parse().ok()).flatten()
}

/// `test_x (mod.Class.test_x)` from Python 3.11 on; before, `test_x (mod.Class)`.
fn unittest_name(line: &str) -> &str {
    let inner = line.split_once('(').and_then(|(_, rest)| rest.split_once(')'));
    match inner {
        Some((path, _)) if line.split(' ').next().is_some_and(|name| path.ends_with(name)) => path,
        _ => line,
    }
}
