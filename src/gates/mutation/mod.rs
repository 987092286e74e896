//! Experiments: run the tests on code that is broken on purpose. Code that nothing notices is not tested.
//!
//! Every function that the change adds or rewrites is emptied at once, and then by halves ([`emptied`]). The tests'
//! assertions are made to fail ([`assertions`]), and both forms of changed tests run on broken code
//! ([`changed_tests`]). One [`budget`] limits the runs that only ask. This is mutation testing; emptying whole
//! functions is extreme mutation (Niedermayr, Jürgens, Wagner, "Will my tests tell me if I break this code?", 2016).

mod assertions;
mod budget;
mod changed_tests;
mod emptied;
mod functions;
mod trial;

use crate::gates::{change::Change, compare, gate_result, run::context::GateError, table::TestTable, turn::Run};
use budget::Budget;
use domain::{
    evidence::{Evidence, Gate, GateResult, Weight},
    integrity::IntegrityFinding,
    plan::TaskType,
    question::Question,
};
use std::{collections::BTreeSet, sync::Arc};
use trial::Trial;

/// The facts that are known when the experiments begin.
pub(crate) struct Facts {
    pub(crate) change: Arc<Change>,
    pub(crate) kind: TaskType,
    /// The new and changed tests that pass, by name.
    pub(crate) tests: Vec<String>,
    /// The commands of criteria that fail on the base and succeed here. They count as tests.
    pub(crate) commands: Vec<String>,
    pub(crate) head: HeadResults,
    /// The weight of the finding that nothing tests the change: required, or asked if the task needs no witness.
    pub(crate) untested: Weight,
}

/// The results of all tests on the change's commit, by name; empty if the runner gives no names.
#[derive(Debug, Default)]
pub(crate) struct HeadResults {
    passed: BTreeSet<String>,
    failed: BTreeSet<String>,
}

impl HeadResults {
    pub(crate) fn of(tests: &Evidence) -> Self {
        Self {
            passed: compare::passed(tests).iter().cloned().collect(),
            failed: compare::failed(tests).iter().cloned().collect(),
        }
    }
}

#[derive(Default)]
pub(crate) struct ExperimentResults {
    pub(crate) findings: Vec<IntegrityFinding>,
    pub(crate) questions: Vec<Question>,
    /// The tests that turned red when functions of the change were emptied; `None` if none was emptied.
    pub(crate) noticed: Option<BTreeSet<String>>,
    /// The Gate's result, with the experiments that ran and those that were left out; `None` if there was nothing to
    /// try.
    pub(crate) result: Option<GateResult>,
}

/// Runs the experiments for the task's type: first those that may send the work back, then, while time is left, those
/// that only lead to questions.
pub(crate) async fn experiments(
    run: &Run<'_>,
    table: &TestTable<'_>,
    facts: &Facts,
    weight: Weight,
) -> Result<ExperimentResults, GateError> {
    let mut tried = ExperimentResults::default();
    let mut trial = Trial::new(run, facts);
    match facts.kind {
        TaskType::Feature | TaskType::Testing => of_change(&mut trial, table, &mut tried).await?,
        TaskType::Refactoring => of_refactoring(&mut trial, table, &mut tried).await?,
        TaskType::Scaffolding | TaskType::Documentation => {
            tried.questions = changed_tests::questions(run, table, &mut trial.budget).await?;
        }
    }
    let fact = trial.budget.fact();
    tried.result = fact.map(|fact| gate_result::passed(Gate::Experiments, weight, fact));
    Ok(tried)
}

/// Returns a question for each test of a whole Feature that no longer notices.
pub(crate) async fn of_feature(run: &Run<'_>, table: &TestTable<'_>) -> Result<Vec<Question>, GateError> {
    let mut budget = Budget::of(run.subject.settings.checks.depth, run.prepared.plain());
    changed_tests::questions(run, table, &mut budget).await
}

/// Asks about changed functions that no test notices: nothing shows that they still do what they did.
async fn of_refactoring(
    trial: &mut Trial<'_>,
    table: &TestTable<'_>,
    tried: &mut ExperimentResults,
) -> Result<(), GateError> {
    let functions = functions::functions(trial.run, trial.facts).await?;
    let emptied = emptied::empty_all(trial, &functions, tried).await?;
    let asked = changed_tests::questions(trial.run, table, &mut trial.budget).await?;
    tried.questions.extend(asked);
    if let Some(mut emptied) = emptied {
        emptied.find_unnoticed(trial, &functions, tried).await?;
    }
    Ok(())
}

async fn of_change(
    trial: &mut Trial<'_>,
    table: &TestTable<'_>,
    tried: &mut ExperimentResults,
) -> Result<(), GateError> {
    let facts = trial.facts;
    let functions = functions::functions(trial.run, facts).await?;
    let mut emptied = emptied::empty_all(trial, &functions, tried).await?;
    let ignored = assertions::fail_all(trial, tried).await?;
    if emptied.is_some() {
        emptied::other_values(trial, &functions, tried).await?;
    }
    let asked = changed_tests::questions(trial.run, table, &mut trial.budget).await?;
    tried.questions.extend(asked);
    if let Some(emptied) = emptied.as_mut().filter(|_| facts.kind == TaskType::Feature) {
        emptied.find_unnoticed(trial, &functions, tried).await?;
    }
    assertions::fail_each(trial, &ignored, tried).await
}
