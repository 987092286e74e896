//! Tests put under a function of another file that lets no failure be heard.

use crate::{finding, reading::ReadFile};
use domain::integrity::{IntegrityFinding, Rule};

/// Every function that is new, forgives, and decorates a test of the change.
pub(super) fn find(files: &[ReadFile<'_>]) -> Vec<IntegrityFinding> {
    let decorates = |name: &str| {
        let mut tests = files.iter().flat_map(|file| file.after.tests.iter());
        tests.any(|test| {
            let mut pairs = test.words.windows(2);
            pairs.any(|pair| pair.iter().map(String::as_str).eq(["@", name]))
        })
    };
    let mut findings = Vec::new();
    for file in files {
        let known = |name: &str| file.before.forgiving.iter().any(|(old, _)| old == name);
        for (name, line) in file.after.forgiving.iter().filter(|(name, _)| !known(name)) {
            if decorates(name) {
                let what = format!("tests under `{name}` may fail without anybody hearing of it");
                findings.push(finding(Rule::AssertionRemoved, file.path, Some(*line), what));
            }
        }
    }
    findings
}
