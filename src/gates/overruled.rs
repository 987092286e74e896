//! Lets test runs overrule findings from reading the code. A test that ran was not skipped; one that failed without the
//! change checks something; a removed test of the base was not lost if it still passes or may go. Such findings become
//! informational.

use crate::gates::{change::Change, compare};
use domain::{
    decision::{Issue, Severity},
    evidence::Evidence,
    integrity::{IntegrityFinding, Rule},
    plan::TaskType,
};
use std::collections::BTreeSet;

/// The evidence from test runs.
#[derive(Debug, Default)]
pub(crate) struct Ran {
    /// The names of the tests that passed or failed on the change's commit.
    pub(crate) ran: BTreeSet<String>,
    /// The tests that failed without the change and pass with it.
    pub(crate) red: BTreeSet<String>,
    /// The base's files whose removed tests may all go.
    pub(crate) settled: BTreeSet<String>,
}

impl Ran {
    /// Starts from the run of the change's own tests.
    pub(crate) fn of(tests: &Evidence) -> Self {
        let names = compare::passed(tests).iter().chain(compare::failed(tests));
        Self {
            ran: names.cloned().collect(),
            ..Self::default()
        }
    }
}

/// The rules about tests that check less. One that failed without the change checks enough.
const CHECKS_LESS: [Rule; 3] = [Rule::TestEmptied, Rule::AssertionRemoved, Rule::AssertionTrivial];

/// Removes the findings that runs overrule, and returns them as informational items.
pub(crate) fn by_running(
    change: &Change,
    kind: TaskType,
    ran: &Ran,
    findings: &mut Vec<IntegrityFinding>,
) -> Vec<Issue> {
    let is_overruled = |finding: &mut IntegrityFinding| {
        let is_among = |names: &BTreeSet<String>| is_about_one_of(change, finding, names);
        finding.rule == Rule::SkipAdded && is_among(&ran.ran)
            || CHECKS_LESS.contains(&finding.rule) && is_among(&ran.red)
            || finding.rule == Rule::TestDeleted && ran.settled.contains(&finding.path)
    };
    let shown = |finding: IntegrityFinding| Issue {
        severity: Severity::ShouldFix,
        ..finding.item(kind)
    };
    findings.extract_if(.., is_overruled).map(shown).collect()
}

/// `true` if the finding is in a test of one of these names.
fn is_about_one_of(change: &Change, finding: &IntegrityFinding, names: &BTreeSet<String>) -> bool {
    let path = &finding.path;
    let begins = finding.line.and_then(|line| change.after.test_around(path, line));
    begins.is_some_and(|begins| {
        let mut sites = names.iter().flat_map(|name| change.after.find(name));
        sites.any(|site| site.path == *path && site.line == begins)
    })
}
