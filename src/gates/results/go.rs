//! `go test`, with and without `-v`.

use crate::gates::results::Tally;
use crate::gates::results::Uncounted;

/// Names of tests stand on `--- FAIL: TestX (0.00s)` lines; without `-v` those that pass are not printed at all, and a
/// package that passes is one line: `ok  <TAB>pkg<TAB>0.01s`.
pub(super) fn test(text: &str) -> Option<Tally> {
    let mut tally = Tally::default();
    let mut seen = None;
    let mut packages_with_tests = 0u32;
    for line in text.lines() {
        let outcome = |word: &str| line.strip_prefix("--- ").and_then(|rest| rest.strip_prefix(word));
        if outcome("PASS: ").is_some() {
            tally.passed = tally.passed.saturating_add(1);
        } else if let Some(name) = outcome("FAIL: ") {
            tally.failed = tally.failed.saturating_add(1);
            tally.named(name.split(' ').next().unwrap_or(name));
        } else if outcome("SKIP: ").is_some() {
            tally.skipped = tally.skipped.saturating_add(1);
        } else if let Some(rest) = line.strip_prefix("ok  \t") {
            seen = Some(());
            if !rest.contains("[no tests to run]") {
                packages_with_tests = packages_with_tests.saturating_add(1);
            }
        } else if line.starts_with("FAIL\t") {
            seen = Some(());
            // A package that does not build or that crashes fails without naming a test.
            if let Some(package) = line.split('\t').nth(1).filter(|_| line.contains("[")) {
                tally.named(package);
            }
        } else if line.starts_with("?   \t") && line.contains("[no test files]") {
            seen = Some(());
        }
    }
    if packages_with_tests > 0 && tally.passed == 0 {
        tally.uncounted = Uncounted::Some;
    }
    seen.map(|()| tally)
}
