//! The report of all Gates on one commit: set-up, tests, and every other Gate with its weight.

use crate::{
    evidence::{Counts, Evidence, Finding},
    ids::User,
    integrity::Weight,
    isolation::Level,
    plan::{Check, Criterion},
    problem::ReviewItem,
    question::Question,
    test_outcome::IntendedChange,
};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeSet, fmt};

/// The results of all Gates on one commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateReport {
    /// The result of the set-up command; `None` if there is none, and then it is not part of the profile.
    pub setup: Option<Evidence>,
    /// The result of the test command.
    pub tests: Evidence,
    /// Failing tests that are not counted against the work, each with the reason.
    pub excused: Vec<Excused>,
    /// The other Gates, in the order in which they are shown.
    pub more: Vec<GateResult>,
    /// The questions that need an answer before an approval holds, the gravest first.
    pub questions: Vec<Question>,
    /// The changes of tests that the plan names, for which nobody is asked.
    pub intended: Vec<IntendedChange>,
    /// The isolation level of the commands; `None` if it was not recorded.
    pub isolation: Option<Level>,
}

/// A failing test that is not counted against the work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Excused {
    pub test: String,
    pub why: Excuse,
}

/// The reason why a failing test does not count against the work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Excuse {
    /// It already failed on the base commit.
    Baseline,
    /// The change does not touch it, and it passed when it was run once more on the same commit.
    Flaky,
    /// A person waived it.
    Waived { by: User },
}

/// The result of one Gate other than set-up and tests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateResult {
    pub gate: Gate,
    /// The result. For a Gate without a command, its facts state it.
    pub evidence: Evidence,
    pub weight: Weight,
    /// The findings place by place. If there are any, they say more than the evidence's sentence.
    pub items: Vec<ReviewItem>,
}

/// The Gates other than set-up and tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gate {
    /// The base commit's own tests on the new code.
    BaseTests,
    /// The new tests on the base commit's code: they must fail there.
    RedBeforeGreen,
    /// Coverage of the changed lines.
    Coverage,
    Integrity,
    /// Experiments: tests run after a change that they should notice.
    Experiments,
    /// The check of a criterion, by the criterion's number from 1.
    Check(usize),
    /// The plan's smoke command.
    Smoke,
    /// A command that the Coach asked for, by its number from 1.
    Probe(usize),
    Ci,
}

impl Gate {
    /// Returns the Gate's name for tables.
    pub fn name(self) -> String {
        match self {
            Self::BaseTests => "tests of the base".to_owned(),
            Self::RedBeforeGreen => "red before green".to_owned(),
            Self::Coverage => "coverage".to_owned(),
            Self::Integrity => "integrity".to_owned(),
            Self::Experiments => "experiments".to_owned(),
            Self::Check(number) => format!("check of criterion {number}"),
            Self::Smoke => "smoke".to_owned(),
            Self::Probe(number) => format!("probe {number}"),
            Self::Ci => "CI".to_owned(),
        }
    }

    /// Returns `true` if its finding names tests. A person may waive each of them separately.
    pub(crate) fn names_tests(self) -> bool {
        match self {
            Self::BaseTests => true,
            Self::RedBeforeGreen
            | Self::Coverage
            | Self::Integrity
            | Self::Experiments
            | Self::Check(_)
            | Self::Smoke
            | Self::Probe(_)
            | Self::Ci => false,
        }
    }
}

impl fmt::Display for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

impl GateReport {
    /// Returns a report of set-up and tests alone.
    pub fn new(setup: Option<Evidence>, tests: Evidence) -> Self {
        Self {
            setup,
            tests,
            excused: Vec::new(),
            more: Vec::new(),
            questions: Vec::new(),
            intended: Vec::new(),
            isolation: None,
        }
    }

    /// Returns the result of one of the other Gates, if it is part of this report.
    pub fn result(&self, gate: Gate) -> Option<&GateResult> {
        self.more.iter().find(|result| result.gate == gate)
    }

    /// `true` if every failing test has a name and an excuse.
    pub fn all_excused(&self, finding: &Finding) -> bool {
        let names = finding.names.as_ref();
        names.is_some_and(|names| finding.names_failures(names)) && self.blocking_failures(finding).is_empty()
    }

    /// Returns the names of the failing tests that count against the work.
    pub fn blocking_failures(&self, finding: &Finding) -> Vec<String> {
        let excused: BTreeSet<&str> = self.excused.iter().map(|excused| excused.test.as_str()).collect();
        let held = finding.failed_names().filter(|name| !excused.contains(name.as_str()));
        held.cloned().collect()
    }

    /// Returns the finding without the excused tests, for sentences about the facts that count against the work.
    pub fn without_excused(&self, finding: &Finding) -> Finding {
        let is_excused = |name: &String| self.excused.iter().any(|excused| excused.test == *name);
        let mut held = finding.clone();
        held.failing.retain(|name| !is_excused(name));
        if let Some(names) = &mut held.names {
            names.failed.retain(|name| !is_excused(name));
        }
        held
    }
}

/// The names of the tests that ran, as their runner spells them and in its order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestNames {
    pub passed: Vec<String>,
    pub failed: Vec<String>,
    /// Tests that were skipped, which is not a pass.
    pub skipped: Vec<String>,
}

impl TestNames {
    pub fn all(&self) -> impl Iterator<Item = &String> {
        self.passed.iter().chain(&self.failed).chain(&self.skipped)
    }

    /// The most names that are kept in each list.
    pub const MOST: usize = 20_000;

    /// `true` if every passed and failed test that the runner counted is named. Only then does a missing name mean
    /// something.
    pub fn names_all(&self, counts: Counts) -> bool {
        let is = |names: &[String], number: u32| u32::try_from(names.len()) == Ok(number);
        match counts {
            Counts::Known { passed, failed, .. } => is(&self.passed, passed) && is(&self.failed, failed),
            Counts::Unknown => false,
        }
    }

    /// `true` if every failure that the runner counted is named.
    pub fn names_all_failures(&self, counts: Counts) -> bool {
        match counts {
            Counts::Known { failed, .. } => u32::try_from(self.failed.len()).is_ok_and(|named| named == failed),
            Counts::Unknown => self.failed.len() < Self::MOST,
        }
    }
}

/// Returns the failed checks of criteria that repeat a failure of the test Gate: the criterion's test is among the
/// failing tests. Each comes with the criterion's number, from 1.
pub fn repeated_test_failures<'a>(
    criteria: &'a [Criterion],
    gates: &'a GateReport,
) -> impl Iterator<Item = (usize, &'a GateResult)> + 'a {
    let failure = gates.tests.failure();
    let named = failure.map_or_else(Vec::new, |finding| gates.blocking_failures(finding));
    gates.more.iter().filter_map(move |result| {
        let Gate::Check(number) = result.gate else {
            return None;
        };
        let criterion = criteria.get(number.checked_sub(1)?)?;
        let is_repeated = matches!(&criterion.check, Check::Test(test) if named.contains(test));
        (is_repeated && result.evidence.failure().is_some()).then_some((number, result))
    })
}

#[cfg(test)]
mod tests {
    mod repeats {
        use super::super::*;
        use crate::evidence::{Counts, Finding, Weight};

        fn failed(names: &[&str]) -> Evidence {
            Evidence::Failed(Finding {
                command: "t".to_owned(),
                exit_code: Some(1),
                counts: Counts::Unknown,
                failing: names.iter().map(|name| (*name).to_owned()).collect(),
                output: String::new(),
                ..Finding::default()
            })
        }

        fn check(number: usize, evidence: Evidence) -> GateResult {
            GateResult { gate: Gate::Check(number), weight: Weight::Required, evidence, items: Vec::new() }
        }

        #[test]
        fn a_check_that_fails_by_a_named_test_says_nothing_new() {
            let bound = |check: Check| Criterion { text: "it holds".to_owned(), check };
            let criteria = [
                bound(Check::Test("top".to_owned())),
                bound(Check::Test("other".to_owned())),
                bound(Check::Command("top".to_owned())),
            ];
            let report = GateReport {
                setup: None,
                tests: failed(&["top"]),
                excused: Vec::new(),
                more: (1..=4).map(|number| check(number, failed(&[]))).collect(),
                questions: Vec::new(),
                intended: Vec::new(),
                isolation: None,
            };
            let found: Vec<usize> = repeated_test_failures(&criteria, &report).map(|(number, _)| number).collect();
            assert_eq!(found, [1], "the second failed by itself, the third is a command, the fourth has no criterion");
        }
    }
}
