//! Experiments: run the tests on code that is broken on purpose. Code that nothing notices is not tested.
//!
//! Every function that the change adds or rewrites is emptied at once, and then by halves ([`emptied`]); the tests'
//! assertions are made to fail ([`assertions`]). All runs go through one [`trial`] with one [`budget`]. This is mutation
//! testing; emptying whole functions is extreme mutation (Niedermayr, Jürgens, Wagner, "Will my tests tell me if I break
//! this code?", 2016).

mod assertions;
mod budget;
pub(crate) mod code;
mod emptied;
mod functions;
mod trial;

use crate::gates::{change::Change, compare, gate_result, run::context::GateError, turn::Run};
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
    /// What follows if nothing tests the change: required, or asked if the task needs no witness.
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
pub(crate) struct Tried {
    pub(crate) findings: Vec<IntegrityFinding>,
    pub(crate) questions: Vec<Question>,
    /// The tests that turned red when functions of the change were emptied; `None` if none was emptied.
    pub(crate) noticed: Option<BTreeSet<String>>,
    /// The Gate's result, which says what ran and what was left out; `None` if there was nothing to try.
    pub(crate) result: Option<GateResult>,
}

/// Runs the experiments that the task's type asks for: first those that may send the work back, then those that only
/// ask, while time is left.
pub(crate) async fn experiments(run: &Run<'_>, facts: &Facts, weight: Weight) -> Result<Tried, GateError> {
    let mut tried = Tried::default();
    if !matches!(facts.kind, TaskType::Feature | TaskType::Testing) {
        return Ok(tried);
    }
    let functions = functions::functions(run, facts).await?;
    let mut trial = Trial::new(run, facts);
    let mut emptied = emptied::all(&mut trial, &functions, &mut tried).await?;
    let ignored = assertions::all(&mut trial, &mut tried).await?;
    if emptied.is_some() {
        emptied::other_values(&mut trial, &functions, &mut tried).await?;
    }
    if let Some(emptied) = emptied.as_mut().filter(|_| facts.kind == TaskType::Feature) {
        emptied.each(&mut trial, &functions, &mut tried).await?;
    }
    assertions::each(&mut trial, &ignored, &mut tried).await?;
    let fact = trial.budget.fact();
    tried.result = fact.map(|fact| gate_result::passed(Gate::Experiments, weight, fact));
    Ok(tried)
}
