//! `cargo test` and `cargo nextest`.

use crate::gates::results::Tally;
use crate::gates::results::before;

/// Adds up every `test result:` line: one per test binary and one for documentation tests.
pub(super) fn libtest(text: &str) -> Option<Tally> {
    let mut tally = Tally::default();
    let mut seen = None;
    for line in text.lines() {
        if let Some(result) = line.trim_start().strip_prefix("test result: ") {
            seen = Some(());
            let number = |word: &str| before(result, word).unwrap_or(0);
            tally.passed = tally.passed.saturating_add(number("passed"));
            tally.failed = tally.failed.saturating_add(number("failed"));
            tally.skipped = tally.skipped.saturating_add(number("ignored"));
        } else if let Some(name) = failed_test(line) {
            tally.named(name);
        }
    }
    seen.map(|()| tally)
}

/// `test tests::name ... FAILED`; the name may carry a mark such as ` - should panic`.
fn failed_test(line: &str) -> Option<&str> {
    if let Some(name) = line
        .strip_prefix("---- ")
        .and_then(|rest| rest.strip_suffix(" stdout ----"))
    {
        return Some(without_mark(name));
    }
    let name = line.strip_prefix("test ")?.strip_suffix(" ... FAILED")?;
    Some(without_mark(name))
}

fn without_mark(name: &str) -> &str {
    name.split(" - should panic").next().unwrap_or(name)
}

/// `Summary [0.016s] 3 tests run: 2 passed, 1 failed, 1 skipped`.
pub(super) fn nextest(text: &str) -> Option<Tally> {
    let mut tally = Tally::default();
    let mut seen = None;
    for line in text.lines().map(str::trim_start) {
        if line.starts_with("Summary [") && (line.contains("tests run:") || line.contains("test run:")) {
            seen = Some(());
            let number = |word: &str| before(line, word).unwrap_or(0);
            tally.passed = tally.passed.saturating_add(number("passed"));
            let failed = number("failed").saturating_add(number("out"));
            tally.failed = tally.failed.saturating_add(failed);
            tally.skipped = tally.skipped.saturating_add(number("skipped"));
        } else if line.starts_with("FAIL [") || line.starts_with("TIMEOUT [") {
            tally.named(line.split_once(']').map_or("", |(_, name)| name));
        }
    }
    seen.map(|()| tally)
}
