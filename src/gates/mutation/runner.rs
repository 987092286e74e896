//! Runs the experiments of the table within one budget.

use crate::gates::{
    compare, files,
    mutation::{
        ALL,
        budget::Budget,
        code::{Put, code, stored},
        experiment::{Experiment, Facts, Found, Material, Mutant, Mutants, Suspicious},
    },
    run::{
        context::{GateError, host},
        overlay::Overlay,
        result_cache::Expected,
    },
    said,
    test_line::Selection,
    turn::Run,
};
use domain::{
    evidence::{Evidence, Gate, GateResult, TestNames, Weight},
    integrity::IntegrityFinding,
};
use git::blocking;
use std::{collections::BTreeSet, sync::Arc, time::Duration};
use tokio::time::Instant;

/// The most findings of one experiment.
const MOST: usize = 20;
/// The largest file that is compared after a run, in bytes.
const LARGEST: u64 = 1024 * 1024;

/// The results of the experiments.
#[derive(Default)]
pub(crate) struct Tried {
    pub(crate) findings: Vec<IntegrityFinding>,
    /// The Gate's result, which says what ran and what was left out; `None` if no experiment had anything to try.
    pub(crate) result: Option<GateResult>,
}

/// Runs every experiment that applies, while time is left.
pub(crate) async fn experiments(run: &Run<'_>, facts: Facts) -> Result<Tried, GateError> {
    let facts = Arc::new(facts);
    let mut budget = Budget::of(run.subject.settings.checks.depth, run.prepared.plain());
    let (mut findings, mut ran) = (Vec::new(), Vec::new());
    for experiment in ALL.iter().filter(|experiment| (experiment.applies)(&facts)) {
        if let Some(found) = one(run, experiment, &facts, &mut budget).await? {
            ran.push(experiment.name);
            findings.extend(found);
        }
    }
    let sentence = budget.sentence(&ran);
    let result = sentence.map(|sentence| said::passed(Gate::Experiments, Weight::Informational, sentence));
    Ok(Tried { findings, result })
}

/// Returns what an experiment found; `None` if there was nothing to try or, as the budget then says, no time.
async fn one(
    run: &Run<'_>,
    experiment: &'static Experiment,
    facts: &Arc<Facts>,
    budget: &mut Budget,
) -> Result<Option<Vec<IntegrityFinding>>, GateError> {
    let material = match (experiment.needs)(facts) {
        Material::Change => Vec::new(),
        Material::Code => code(run).await?,
        Material::Stored => stored(run).await?,
    };
    let known = Arc::clone(facts);
    let making = blocking(move || (experiment.mutants)(&known, material)).await;
    let Some(mutants) = making.map_err(|error| host("preparing an experiment")(error.into()))? else {
        return Ok(None);
    };
    let mut found = BTreeSet::new();
    for way in &mutants.ways {
        let Some(left) = try_way(run, &mutants, way, budget).await? else {
            budget.leave_out(experiment.name);
            return Ok(None);
        };
        found.extend(left);
    }
    Ok(Some(told(experiment, facts, &mutants, &found)))
}

/// Returns the suspects left after all runs of a sequence; `None` if the time ran out before.
async fn try_way(
    run: &Run<'_>,
    mutants: &Mutants,
    way: &[Mutant],
    budget: &mut Budget,
) -> Result<Option<BTreeSet<String>>, GateError> {
    let mut left = mutants.suspects.clone();
    let mut only: Option<BTreeSet<String>> = None;
    for mutant in way {
        let Some(limit) = budget.left() else { return Ok(None) };
        let kept = |(path, ..): &&Put| only.as_ref().is_none_or(|only| only.contains(path));
        let files: Vec<Put> = mutant.files.iter().filter(kept).cloned().collect();
        let overlay = Overlay::of_bytes(files.clone()).without(&mutant.without);
        let wanted = Selection::of(left.iter().chain(&mutants.others).cloned().collect(), &run.change.after);
        let begun = Instant::now();
        let (found, rewritten) = match mutant.suspicious {
            Suspicious::Passing => (within(run, &overlay, Expected::Red, (&wanted, limit)).await?, None),
            Suspicious::Failing => (within(run, &overlay, Expected::Green, (&wanted, limit)).await?, None),
            Suspicious::Rewriting => {
                let (found, rewritten) = rewriting(run, &overlay, files, limit).await?;
                (found, Some(rewritten))
            }
        };
        budget.spend(begun.elapsed());
        if matches!(found, Evidence::Absent(_)) && budget.left().is_none() {
            return Ok(None);
        }
        match rewritten {
            Some(rewritten) if rewritten.is_empty() => left.clear(),
            Some(rewritten) => only = Some(rewritten),
            None => left = suspected(left, mutants, mutant.suspicious, compare::names(&found)),
        }
        if left.is_empty() {
            break;
        }
    }
    Ok(Some(left))
}

/// Returns the suspects that did not notice the mutant.
fn suspected(
    mut left: BTreeSet<String>,
    mutants: &Mutants,
    suspicious: Suspicious,
    found: Option<&TestNames>,
) -> BTreeSet<String> {
    let Some(names) = found else { return BTreeSet::new() };
    let list = match suspicious {
        Suspicious::Failing => &names.failed,
        Suspicious::Passing | Suspicious::Rewriting => &names.passed,
    };
    let list: BTreeSet<&String> = list.iter().collect();
    left.retain(|name| list.contains(name));
    let all_are_left = left.len() == mutants.suspects.len() && mutants.others.iter().all(|name| list.contains(name));
    if mutants.found == Found::All && !all_are_left {
        left.clear();
    }
    left
}

async fn within(
    run: &Run<'_>,
    overlay: &Overlay,
    expected: Expected,
    (wanted, limit): (&Selection, Duration),
) -> Result<Evidence, GateError> {
    let limit = limit.min(run.prepared.patience());
    let of = (run.subject.head, overlay);
    run.prepared.tests_within(of, expected, wanted, limit).await
}

/// Runs the tests with these files in place, and returns the result and the paths that the run rewrote.
async fn rewriting(
    run: &Run<'_>,
    overlay: &Overlay,
    laid: Vec<Put>,
    limit: Duration,
) -> Result<(Evidence, BTreeSet<String>), GateError> {
    let ready = run.prepared.with(run.subject.head, overlay).await?.within(limit);
    let found = ready.tests().await?;
    let root = ready.checkout.path().to_path_buf();
    let looking = blocking(move || {
        let is_another = |(path, bytes, _): &Put| files::read(&root, path, LARGEST).is_ok_and(|now| now != *bytes);
        let rewritten = laid.into_iter().filter(is_another).map(|(path, ..)| path);
        rewritten.collect()
    });
    let rewritten = looking.await;
    let rewritten = rewritten.map_err(|error| host("reading stored files")(error.into()))?;
    Ok((found, rewritten))
}

/// Creates a finding for each test; a test with several rows counts only if all its rows are found.
fn told(experiment: &Experiment, facts: &Facts, mutants: &Mutants, found: &BTreeSet<String>) -> Vec<IntegrityFinding> {
    let mut places = BTreeSet::new();
    let mut findings = Vec::new();
    for name in found {
        let place = facts.change.after.place(name);
        let is_here = |other: &&String| facts.change.after.place(other) == place;
        let is_whole = place.is_none() || mutants.suspects.iter().filter(is_here).all(|row| found.contains(row));
        if !is_whole || place.is_some() && !places.insert(place.clone()) {
            continue;
        }
        let (path, line) = place.unzip();
        let what = format!("`{name}` {}", mutants.says);
        findings.push(said::finding(experiment.rule, &path.unwrap_or_default(), line, what));
    }
    findings.truncate(MOST);
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_is_suspected_as_long_as_it_notices_nothing() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<String>>();
        let run = TestNames {
            passed: names(&["a", "b", "old"]),
            failed: names(&["c"]),
            skipped: vec![],
        };
        let mutants = |suspects: &[&str], others: &[&str], found| Mutants {
            suspects: names(suspects).into_iter().collect(),
            others: names(others),
            found,
            ways: Vec::new(),
            says: String::new(),
        };
        let (passing, failing) = (Suspicious::Passing, Suspicious::Failing);
        let table: [(&[&str], &[&str], _, _, &[&str]); 6] = [
            (&["a", "c"], &[], Found::Each, passing, &["a"]),
            (&["a", "c"], &[], Found::All, passing, &[]),
            (&["a", "b"], &["old"], Found::All, passing, &["a", "b"]),
            (&["a", "b"], &["c"], Found::All, passing, &[]),
            (&["a", "c"], &[], Found::Each, failing, &["c"]),
            (&["not run"], &[], Found::Each, passing, &[]),
        ];
        for (suspects, others, found, suspicious, expected) in table {
            let mutants = mutants(suspects, others, found);
            let left = suspected(mutants.suspects.clone(), &mutants, suspicious, Some(&run));
            assert_eq!(left.into_iter().collect::<Vec<_>>(), names(expected), "{suspects:?}");
        }
    }
}
