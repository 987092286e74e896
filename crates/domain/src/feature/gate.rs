//! The wave gate: tests everything that was merged, together, unless that was done already.

use crate::{
    blocked::BlockReason,
    effect::Effect,
    evidence::{Cause, Evidence, Finding, Gate, GateReport, GateResult, Part, Profile, Unmet, Weight, profile},
    feature::{
        added,
        feature::{Feature, WaveGate},
        moves,
        moves::{Step, blocked, head_is, unchanged},
        state::{Continuation, Phase},
        waves,
    },
    ids::{Emission, Millis, Sha, TaskId},
    plan::{Check, Criterion, PlannedTask, TaskType},
    problem::Problem,
    task::Task,
};

/// How many repairs a wave gets by itself, and how many more each `resume` by a person allows.
pub(super) const FIXES: u32 = 2;

pub(super) fn wave_gated(
    feature: Feature,
    emission: Emission,
    head: Sha,
    report: GateReport,
    broke: Option<Sha>,
    at: Millis,
) -> Step {
    if feature.checking == Some(emission) {
        return checked(feature, emission, head, report, broke, at);
    }
    let Some(Phase::Gate { then, .. }) = feature.waits_for(emission) else {
        return unchanged(feature);
    };
    let phase = Phase::Gate { emission, then };
    let (feature, found) = record(feature, head, report);
    let step = unchanged(feature);
    match found {
        Profile::Passed => waves::after_gate(step, then, at),
        // Someone started a task again in the meantime, so the gate runs once more after it.
        Profile::Failed(_) | Profile::Absent(_) if step.feature.has_open_tasks() => waves::run(step, at),
        Profile::Failed(failures) => mend(step, failures, broke, phase, at),
        Profile::Absent(reasons) => blocked(step, BlockReason::GatesAbsent { reasons }, phase),
    }
}

/// Stores the gate's result.
fn record(mut feature: Feature, head: Sha, report: GateReport) -> (Feature, Profile) {
    head_is(&mut feature, head.clone());
    let found = profile(strictest(&feature), &report);
    feature.gates.push(WaveGate { wave: feature.wave, head, merged: feature.completed(), report, stands_for: None });
    (feature, found)
}

/// Adds a task that repairs the failure, or blocks the Feature if the wave has used up its repairs.
fn mend(mut step: Step, failures: Vec<Unmet>, broke: Option<Sha>, phase: Phase, at: Millis) -> Step {
    let feature = &step.feature;
    let is_fix = |task: &&Task| matches!(task.id, TaskId::Fix(_)) && task.wave == feature.wave;
    let fixes = feature.tasks.iter().filter(is_fix).count();
    let allowed = FIXES.saturating_add(feature.more_fixes);
    let fix = match feature.gates.last() {
        Some(gate) if u32::try_from(fixes).is_ok_and(|fixes| fixes < allowed) => {
            added::fix(feature, &gate.head, &gate.report, &failures, broke)
        }
        Some(_) | None => return blocked(step, BlockReason::WaveGateRed { failures }, phase),
    };
    step.feature.tasks.push(fix);
    waves::run(step, at)
}

/// Handles the gate that ran during the review, for example on a person's push.
fn checked(
    feature: Feature,
    emission: Emission,
    head: Sha,
    report: GateReport,
    broke: Option<Sha>,
    at: Millis,
) -> Step {
    let (mut feature, found) = record(feature, head, report);
    feature.checking = None;
    let step = moves::publish(unchanged(feature), None);
    let then = Continuation::Pull;
    let phase = Phase::Gate { emission, then };
    match found {
        Profile::Passed => step,
        Profile::Failed(failures) => mend(step, failures, broke, phase, at),
        Profile::Absent(reasons) => blocked(step, BlockReason::GatesAbsent { reasons }, phase),
    }
}

/// Asks for the repository's own CI on the feature pull request each time it shows a commit that it did not show
/// `before`.
pub(super) fn read_ci(step: &mut Step, before: Option<&Sha>, at: Millis) {
    let reviewed = step.feature.reviewed_head();
    if reviewed.is_none() || reviewed == before {
        return;
    }
    step.ask(|emission| Effect::ReadCi { emission, since: at });
    step.feature.reading_ci = Some(step.feature.emitted);
}

/// Adds a failed CI to the last gate, which then no longer holds: a task repairs it.
pub(super) fn ci_read(mut feature: Feature, emission: Emission, head: &Sha, result: GateResult, at: Millis) -> Step {
    if feature.reading_ci != Some(emission) || feature.reviewed_head() != Some(head) {
        return unchanged(feature);
    }
    feature.reading_ci = None;
    let (Evidence::Failed(finding), Some(gate)) = (&result.evidence, feature.gates.last_mut()) else {
        return unchanged(feature);
    };
    if !gate.holds_for(head) {
        return unchanged(feature);
    }
    let failures = vec![Unmet { part: Part::Gate(result.gate), cause: Cause::Failed(finding.clone()) }];
    gate.report.more.push(result);
    let then = Continuation::Pull;
    let step = moves::publish(unchanged(feature), None);
    mend(step, failures, None, Phase::Gate { emission, then }, at)
}

/// `true` if the last gate passed and holds for the integration branch's head and for all merged tasks.
pub(super) fn is_green(feature: &Feature) -> bool {
    let (Some(integration), Some(last)) = (&feature.integration, feature.gates.last()) else {
        return false;
    };
    last.holds_for(&integration.head) && !is_due(feature)
}

/// `true` if the wave gate has to run: other tasks are merged than at the last gate, or that gate did not pass.
pub(super) fn is_due(feature: &Feature) -> bool {
    let merged = feature.completed();
    match feature.gates.last() {
        Some(last) => last.merged != merged || profile(strictest(feature), &last.report) != Profile::Passed,
        None => !merged.is_empty(),
    }
}

/// Returns one task that represents all merged ones, by which the Feature is judged as a whole; `None` before the last
/// wave is merged.
pub fn whole(feature: &Feature) -> Option<PlannedTask> {
    let merged = feature.tasks.iter().filter(|task| task.is_completed());
    let plans: Vec<&PlannedTask> = merged.map(|task| &task.plan).collect();
    let (first, others) = plans.split_first()?;
    if feature.wave < feature.last_wave() || feature.has_open_tasks() {
        return None;
    }
    let keeps_behaviour = plans.iter().all(|plan| plan.kind == TaskType::Refactoring);
    let mut whole = PlannedTask::clone(first);
    for plan in others {
        whole.description = format!("{}\n{}\n{}", whole.description, plan.name, plan.description);
        whole.acceptance_criteria.extend(plan.acceptance_criteria.iter().cloned());
        whole.files.extend(plan.files.iter().cloned());
        whole.changes.extend(plan.changes.iter().cloned());
        whole.removes.extend(plan.removes.iter().cloned());
    }
    if !others.is_empty() {
        whole.kind = if keeps_behaviour { TaskType::Refactoring } else { TaskType::Feature };
    }
    Some(whole)
}

/// A command or file of a criterion that held when its task was finished, so it has to hold in the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldCheck {
    pub task: TaskId,
    /// The criterion's number in its task, from 1.
    pub number: usize,
    pub criterion: Criterion,
}

/// Returns the checks of finished tasks that held in their last turns, but for files that the plan removes.
pub fn held_checks(feature: &Feature) -> Vec<HeldCheck> {
    let merged = || feature.tasks.iter().filter(|task| task.is_completed());
    let is_removed = |path: &str| merged().any(|task| task.plan.removes.iter().any(|intent| intent.names_path(path)));
    let is_wanted = |criterion: &Criterion| match &criterion.check {
        Check::Command(_) => true,
        Check::File(path) => !is_removed(path),
        Check::Test(_) | Check::Human => false,
    };
    let of_task = |task: &Task| {
        let report = task.turns.last().and_then(|turn| turn.gates.as_ref());
        let passed = |number: usize| {
            let result = report.and_then(|report| report.result(Gate::Check(number)));
            result.is_some_and(|result| matches!(result.evidence, Evidence::Passed(_)))
        };
        let criteria = (1..).zip(&task.plan.acceptance_criteria);
        let held = criteria.filter(|(number, criterion)| is_wanted(criterion) && passed(*number));
        let check = |(number, criterion): (usize, &Criterion)| HeldCheck {
            task: task.id,
            number,
            criterion: criterion.clone(),
        };
        held.map(check).collect::<Vec<_>>()
    };
    merged().flat_map(of_task).collect()
}

impl Feature {
    /// Returns the criteria of finished tasks that do not hold on the last wave's result, each with its check's result.
    pub fn undone_criteria(&self) -> Vec<(&str, &Finding)> {
        let results = self.gates.last().map_or(&[][..], |gate| &gate.report.more);
        let items = results.iter().filter(|result| result.weight == Weight::Asked).flat_map(|result| &result.items);
        let undone = items.filter_map(|item| {
            if let Problem::CheckFailed { text, finding, .. } = &item.problem {
                Some((text.as_str(), finding))
            } else {
                None
            }
        });
        undone.collect()
    }
}

/// Returns the kind of task whose checks the merged result has to pass: that of the most demanding merged task.
pub fn strictest(feature: &Feature) -> TaskType {
    let merged = || {
        let completed = feature.tasks.iter().filter(|task| task.is_completed());
        completed.map(|task| task.plan.kind)
    };
    merged().find(|kind| kind.requires_tests()).or_else(|| merged().next()).unwrap_or(TaskType::Documentation)
}
