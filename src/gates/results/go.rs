//! `go test`, with and without `-v`.

use crate::gates::results::tally::{Outcome, Tally, Uncounted};

/// Names of tests stand on `--- FAIL: TestX (0.00s)` lines; without `-v` those that pass are not printed at all, and a
/// package that passes is one line: `ok  <TAB>pkg<TAB>0.01s`.
pub(super) fn test(text: &str) -> Option<Tally> {
    let mut tally = Tally::default();
    let mut seen = None;
    let mut packages_with_tests = 0u32;
    for line in text.lines() {
        let outcome = |word: &str| {
            let rest = line.strip_prefix("--- ")?.strip_prefix(word)?;
            Some(rest.split(' ').next().unwrap_or(rest))
        };
        if let Some(name) = outcome("PASS: ") {
            tally.counted(name, Outcome::Passed);
        } else if let Some(name) = outcome("FAIL: ") {
            tally.counted(name, Outcome::Failed);
        } else if let Some(name) = outcome("SKIP: ") {
            tally.counted(name, Outcome::Skipped);
        } else if let Some(rest) = line.strip_prefix("ok  \t") {
            seen = Some(());
            if !rest.contains("[no tests to run]") {
                packages_with_tests = packages_with_tests.saturating_add(1);
            }
        } else if line.starts_with("FAIL\t") {
            seen = Some(());
            // A package that does not build or that crashes fails without naming a test.
            if let Some(package) = line.split('\t').nth(1).filter(|_| line.contains("[")) {
                tally.mention(package);
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
