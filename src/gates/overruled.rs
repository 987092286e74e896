//! Lets test runs overrule findings from reading the code. A test that ran was not skipped; one that failed without the
//! change checks something; a removed test of the base was not lost if it still passes or may go. Such findings become
//! informational.

use crate::gates::{change::Change, compare, said};
use domain::{
    decision::Issue,
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
        let names = compare::names(tests).map(|names| names.passed.iter().chain(&names.failed).cloned().collect());
        Self {
            ran: names.unwrap_or_default(),
            ..Self::default()
        }
    }
}

/// The evidence that overrules a finding.
#[derive(Clone, Copy)]
enum Answer {
    /// The test ran.
    Ran,
    /// The test failed without the change.
    Red,
    /// The test may go.
    Settled,
}

/// The rules that a run can overrule, with the evidence needed.
const ANSWERS: [(Rule, Answer); 5] = [
    (Rule::SkipAdded, Answer::Ran),
    (Rule::TestEmptied, Answer::Red),
    (Rule::AssertionRemoved, Answer::Red),
    (Rule::AssertionTrivial, Answer::Red),
    (Rule::TestDeleted, Answer::Settled),
];

/// Removes the findings that runs overrule, and returns them as informational items.
pub(crate) fn by_running(
    change: &Change,
    kind: TaskType,
    ran: &Ran,
    findings: &mut Vec<IntegrityFinding>,
) -> Vec<Issue> {
    let is_overruled = |finding: &mut IntegrityFinding| {
        let is_among = |names: &BTreeSet<String>| is_about_one_of(change, finding, names);
        let answer = ANSWERS.iter().find(|(rule, _)| *rule == finding.rule);
        answer.is_some_and(|(_, answer)| match answer {
            Answer::Ran => is_among(&ran.ran),
            Answer::Red => is_among(&ran.red),
            Answer::Settled => ran.settled.contains(&finding.path),
        })
    };
    let overruled: Vec<IntegrityFinding> = findings.extract_if(.., is_overruled).collect();
    overruled
        .iter()
        .map(|finding| said::only_shown(finding.item(kind)))
        .collect()
}

/// `true` if the finding is in a test of one of these names.
fn is_about_one_of(change: &Change, finding: &IntegrityFinding, names: &BTreeSet<String>) -> bool {
    let line = finding
        .line
        .and_then(|line| change.after.test_around(&finding.path, line));
    let stands_there = |name: &String| {
        let sites = change.after.find(name);
        sites
            .iter()
            .any(|site| site.path == finding.path && Some(site.line) == line)
    };
    line.is_some() && names.iter().any(stands_there)
}
