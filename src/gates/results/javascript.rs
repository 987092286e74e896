//! jest, vitest, mocha and Node's own runner.

use crate::gates::results::Tally;
use crate::gates::results::before;

/// `Tests:       1 failed, 1 skipped, 2 passed, 4 total`.
pub(super) fn jest(text: &str) -> Option<Tally> {
    let mut tally = Tally::default();
    let mut seen = None;
    for line in text.lines() {
        let trimmed = line.trim_start();
        if let Some(summary) = trimmed.strip_prefix("Tests:").filter(|rest| rest.contains(" total")) {
            seen = Some(());
            add(&mut tally, summary);
        } else if let Some(name) = trimmed.strip_prefix("● ").filter(|name| name.contains(" › ")) {
            tally.named(name);
        } else if trimmed.starts_with("No tests found, exiting with code") {
            seen = Some(());
        }
    }
    seen.map(|()| tally)
}

/// `Tests  1 failed | 2 passed | 1 skipped (4)`.
pub(super) fn vitest(text: &str) -> Option<Tally> {
    let mut tally = Tally::default();
    let mut seen = None;
    for line in text.lines().map(str::trim) {
        let summary = line
            .strip_prefix("Tests ")
            .map(str::trim_start)
            .filter(|rest| rest.ends_with(')') && rest.starts_with(|c: char| c.is_ascii_digit()));
        if let Some(summary) = summary {
            seen = Some(());
            add(&mut tally, summary);
        } else if let Some(name) = line.strip_prefix("FAIL ").filter(|name| name.contains(" > ")) {
            tally.named(name);
        } else if line.starts_with("No test files found, exiting with code") {
            seen = Some(());
        }
    }
    seen.map(|()| tally)
}

fn add(tally: &mut Tally, summary: &str) {
    let number = |word: &str| before(summary, word).unwrap_or(0);
    tally.passed = tally.passed.saturating_add(number("passed"));
    tally.failed = tally.failed.saturating_add(number("failed"));
    let skipped = number("skipped").saturating_add(number("todo"));
    tally.skipped = tally.skipped.saturating_add(skipped);
}

/// `2 passing (5ms)`, `1 failing`, `1 pending`, each on a line of its own.
pub(super) fn mocha(text: &str) -> Option<Tally> {
    let mut tally = Tally::default();
    let mut seen = None;
    let mut lines = text.lines().map(str::trim).peekable();
    while let Some(line) = lines.next() {
        let mut words = line.split(' ');
        match (words.next().and_then(|number| number.parse::<u32>().ok()), words.next()) {
            (Some(number), Some("passing")) if line.ends_with("s)") => {
                seen = Some(());
                tally.passed = tally.passed.saturating_add(number);
            }
            (Some(number), Some("failing")) if seen.is_some() => tally.failed = tally.failed.saturating_add(number),
            (Some(number), Some("pending")) if seen.is_some() => tally.skipped = tally.skipped.saturating_add(number),
            _ => {
                // A failure is listed as `1) suite`, then each inner title on its own line, the last with a colon.
                let listed = numbered(line).filter(|_| tally.failed > 0);
                let inner = lines.peek().filter(|line| line.ends_with(':'));
                if let (Some(suite), Some(title)) = (listed, inner) {
                    tally.named(&format!("{suite} {}", title.trim_end_matches(':')));
                }
            }
        }
    }
    seen.map(|()| tally)
}

fn numbered(line: &str) -> Option<&str> {
    let (number, title) = line.split_once(") ")?;
    number.parse::<u32>().ok().map(|_| title)
}

/// `# pass 2` in the Test Anything Protocol, `ℹ pass 2` in the readable form.
pub(super) fn node(text: &str) -> Option<Tally> {
    let mut tally = Tally::default();
    let (mut tests, mut passes) = (None, None);
    for line in text.lines() {
        let summary = line.strip_prefix("# ").or_else(|| line.strip_prefix("ℹ "));
        let (word, number) = match summary.and_then(|rest| rest.split_once(' ')) {
            Some((word, number)) => (word, number.trim().parse::<u32>().ok()),
            None => ("", None),
        };
        match (word, number) {
            ("tests", Some(_)) => tests = number,
            ("pass", Some(number)) => passes = Some(passes.unwrap_or(0u32).saturating_add(number)),
            ("fail" | "cancelled", Some(number)) => tally.failed = tally.failed.saturating_add(number),
            ("skipped" | "todo", Some(number)) => tally.skipped = tally.skipped.saturating_add(number),
            _ => failed_node_test(line).into_iter().for_each(|name| tally.named(name)),
        }
    }
    tests?;
    tally.passed = passes?;
    Some(tally)
}

/// `not ok 1 - name`, or `✖ name (0.5ms)`.
fn failed_node_test(line: &str) -> Option<&str> {
    let line = line.trim_start();
    if let Some(rest) = line.strip_prefix("not ok ") {
        return rest.split_once(" - ").map(|(_, name)| name);
    }
    let name = line.strip_prefix("✖ ")?;
    let (name, time) = name.rsplit_once(" (")?;
    time.ends_with("ms)").then_some(name)
}
