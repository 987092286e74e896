//! Runs tests on files that are broken on purpose.

use crate::gates::{
    compare,
    mutation::{Facts, HeadResults, budget::Budget},
    run::{
        context::GateError,
        overlay::{FileToWrite, Overlay},
        result_cache::Expected,
    },
    turn::Run,
};
use domain::evidence::{Absence, Evidence};
use runners::test_line::Selection;
use std::{collections::BTreeSet, time::Duration};
use tokio::time::Instant;

/// The runs of one turn's experiments.
pub(super) struct Trial<'r> {
    pub(super) run: &'r Run<'r>,
    pub(super) facts: &'r Facts,
    pub(super) budget: Budget,
}

#[derive(Clone, Debug)]
pub(super) enum Tests {
    All,
    Named(Vec<String>),
}

/// The reaction of tests to broken code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TrialOutcome {
    /// These tests turned red; none if the runner gives no names.
    Noticed(BTreeSet<String>),
    Unnoticed,
    /// The code does not build or load, or the run did not end.
    Inconclusive,
}

impl<'r> Trial<'r> {
    pub(super) fn new(run: &'r Run<'r>, facts: &'r Facts) -> Self {
        Self { run, facts, budget: Budget::of(run.subject.settings.checks.depth, run.prepared.plain()) }
    }

    /// Runs tests with these files in place, for as long as a run of them may take.
    pub(super) async fn outcome(&mut self, files: Vec<FileToWrite>, tests: &Tests) -> Result<TrialOutcome, GateError> {
        let found = self.evidence(files, tests, self.run.prepared.patience()).await?;
        Ok(compare_with_head(&found, &self.facts.head))
    }

    /// Does the same, but only while time is left; `None` if there is none.
    pub(super) async fn outcome_in_time(
        &mut self,
        files: Vec<FileToWrite>,
        tests: &Tests,
    ) -> Result<Option<TrialOutcome>, GateError> {
        let Some(left) = self.budget.remaining() else {
            return Ok(None);
        };
        let begun = Instant::now();
        let found = self.evidence(files, tests, left.min(self.run.prepared.patience())).await?;
        self.budget.spend(begun.elapsed());
        let outcome = compare_with_head(&found, &self.facts.head);
        let is_out = outcome == TrialOutcome::Inconclusive && self.budget.remaining().is_none();
        Ok((!is_out).then_some(outcome))
    }

    pub(super) async fn evidence(
        &mut self,
        files: Vec<FileToWrite>,
        tests: &Tests,
        limit: Duration,
    ) -> Result<Evidence, GateError> {
        let selection = match tests {
            Tests::All => Selection::All,
            Tests::Named(names) => Selection::of(names.clone(), &self.facts.change.after),
        };
        let overlay = Overlay::of_bytes(files);
        self.run.prepared.tests_with(self.run.subject.head, &overlay, Expected::Noticed, &selection, limit).await
    }

    /// `true` if a criterion's command fails with these files in place.
    pub(super) async fn command_notices(&mut self, files: &[FileToWrite]) -> Result<bool, GateError> {
        let overlay = Overlay::of_bytes(files.to_vec());
        for command in &self.facts.commands {
            let found = self.run.prepared.command_with(self.run.subject.head, &overlay, command).await?;
            if matches!(found, Evidence::Failed(_)) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Compares a run on broken code with the run on the head.
pub(super) fn compare_with_head(found: &Evidence, head: &HeadResults) -> TrialOutcome {
    let red = |names: &[String]| -> BTreeSet<String> {
        let known = names.iter().filter(|name| head.passed.contains(*name));
        known.cloned().collect()
    };
    let failed = compare::failed(found);
    let is_named = !head.passed.is_empty();
    let red = match found {
        Evidence::Absent(Absence::TimedOut { in_test, failed, .. }) => {
            red(&failed.iter().chain(in_test).cloned().collect::<Vec<_>>())
        }
        Evidence::Passed(_) | Evidence::Failed(_) | Evidence::Absent(_) => red(failed),
    };
    match found {
        _ if !red.is_empty() => TrialOutcome::Noticed(red),
        Evidence::Passed(_) if !is_named || !compare::passed(found).is_empty() => TrialOutcome::Unnoticed,
        Evidence::Failed(_) if !failed.is_empty() && failed.iter().all(|name| head.failed.contains(name)) => {
            TrialOutcome::Unnoticed
        }
        Evidence::Failed(finding) if !is_named && !compare::is_stopped(finding) => TrialOutcome::Noticed(red),
        Evidence::Passed(_) | Evidence::Failed(_) | Evidence::Absent(_) => TrialOutcome::Inconclusive,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::evidence::{Counts, Finding, TestNames};

    #[test]
    fn a_test_notices_by_turning_red_and_code_that_does_not_build_says_nothing() {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<String>>();
        let finding = |names: Option<(&[&str], &[&str])>| Finding {
            command: "t".to_owned(),
            exit_code: Some(1),
            counts: Counts::Unknown,
            names: names.map(|(passed, failed)| TestNames {
                passed: owned(passed),
                failed: owned(failed),
                skipped: vec![],
            }),
            ..Finding::default()
        };
        let late = |in_test: Option<&str>, failed: &[&str]| {
            Evidence::Absent(Absence::TimedOut {
                command: "t".to_owned(),
                seconds: 9,
                in_test: in_test.map(str::to_owned),
                failed: owned(failed),
            })
        };
        let head = |passed: &[&str], failed: &[&str]| HeadResults {
            passed: owned(passed).into_iter().collect(),
            failed: owned(failed).into_iter().collect(),
        };
        let noticed = |names: &[&str]| TrialOutcome::Noticed(owned(names).into_iter().collect());
        let named = || head(&["a", "b"], &["old"]);
        let table = [
            (Evidence::Passed(finding(Some((&["a"], &[])))), named(), TrialOutcome::Unnoticed),
            (Evidence::Passed(finding(Some((&[], &[])))), named(), TrialOutcome::Inconclusive),
            (Evidence::Failed(finding(Some((&["b"], &["a"])))), named(), noticed(&["a"])),
            (Evidence::Failed(finding(Some((&["b"], &["old"])))), named(), TrialOutcome::Unnoticed),
            (Evidence::Failed(finding(Some((&["b"], &["loading"])))), named(), TrialOutcome::Inconclusive),
            (Evidence::Failed(finding(None)), named(), TrialOutcome::Inconclusive),
            (Evidence::Failed(finding(None)), head(&[], &[]), noticed(&[])),
            (Evidence::Passed(finding(None)), head(&[], &[]), TrialOutcome::Unnoticed),
            (late(Some("a"), &["b"]), named(), noticed(&["a", "b"])),
            (late(None, &[]), named(), TrialOutcome::Inconclusive),
            (Evidence::Absent(Absence::NotReached), named(), TrialOutcome::Inconclusive),
        ];
        for (found, head, expected) in table {
            assert_eq!(compare_with_head(&found, &head), expected, "{found:?}");
        }
    }
}
