//! What ran overrules what was read: a test that ran was not skipped, one that failed without the change checks something,
//! and one of the base that still holds, or may go, was not taken away. Such findings only inform.

use crate::gates::{change::Change, compare, said};
use domain::{
    decision::Issue,
    evidence::Evidence,
    integrity::{IntegrityFinding, Rule},
    plan::TaskType,
};
use std::collections::BTreeSet;

/// What runs showed.
#[derive(Debug, Default)]
pub(crate) struct Ran {
    /// The tests that gave a result on the change's commit, by name.
    pub(crate) ran: BTreeSet<String>,
    /// Those that failed without the change and pass with it.
    pub(crate) red: BTreeSet<String>,
    /// Files of the base from which every test that is gone may go.
    pub(crate) settled: BTreeSet<String>,
}

impl Ran {
    /// Begins with the run of the change's own tests.
    pub(crate) fn of(tests: &Evidence) -> Self {
        let names = compare::names(tests).map(|names| names.passed.iter().chain(&names.failed).cloned().collect());
        Self {
            ran: names.unwrap_or_default(),
            ..Self::default()
        }
    }
}

/// What a run can say against a finding.
#[derive(Clone, Copy)]
enum Answer {
    /// The test ran.
    Ran,
    /// The test failed without the change.
    Red,
    /// The test may go.
    Settled,
}

/// The rules that a run can speak against.
const ANSWERS: [(Rule, Answer); 5] = [
    (Rule::SkipAdded, Answer::Ran),
    (Rule::TestEmptied, Answer::Red),
    (Rule::AssertionRemoved, Answer::Red),
    (Rule::AssertionTrivial, Answer::Red),
    (Rule::TestDeleted, Answer::Settled),
];

/// Takes the findings out that runs speak against, and gives them as items that only inform.
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

/// Whether the finding stands in a test of one of these names.
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
