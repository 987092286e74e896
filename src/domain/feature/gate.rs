//! The wave gate: what was merged is tested together.

use crate::domain::blocked::BlockReason;
use crate::domain::effect::Effect;
use crate::domain::evidence::GateReport;
use crate::domain::evidence::Profile;
use crate::domain::evidence::profile;
use crate::domain::feature::Feature;
use crate::domain::feature::Phase;
use crate::domain::feature::Step;
use crate::domain::feature::StopScope;
use crate::domain::feature::Then;
use crate::domain::feature::WaveGate;
use crate::domain::feature::flow;
use crate::domain::feature::step::blocked;
use crate::domain::feature::step::emit;
use crate::domain::feature::step::unchanged;
use crate::domain::feature::waves;
use crate::domain::ids::Millis;
use crate::domain::ids::Sha;
use crate::domain::plan::TaskType;

/// Runs the Gates on the integration branch.
pub(super) fn gate(mut step: Step, then: Then) -> Step {
    let run = emit(&mut step.feature);
    flow::enter(&mut step.feature, Phase::Gate { run, then });
    step.effects.push(Effect::WaveGate { run });
    step
}

/// Whether something was merged since the last green gate.
pub(super) fn is_due(feature: &Feature) -> bool {
    let merged = feature.completed();
    match feature.gates.last() {
        Some(last) => last.merged != merged || profile(strictest(feature), &last.report) != Profile::Passed,
        None => !merged.is_empty(),
    }
}

pub(super) fn wave_gated(feature: Feature, run: u64, head: Sha, report: GateReport, at: Millis) -> Step {
    if feature.checking == Some(run) {
        return checked(feature, run, head, report);
    }
    let then = match feature.phase() {
        Some(Phase::Gate { run: waits_for, then }) if *waits_for == run => *then,
        Some(_) | None => return unchanged(feature),
    };
    let (feature, red) = record(feature, head, report);
    let step = unchanged(feature);
    match red {
        None => flow::after_gate(step, then, at),
        // Someone started a task again meanwhile: the gate runs once more after it.
        Some(_) if step.feature.has_open_tasks() => waves::run(step, at),
        Some(reason) => blocked(step, reason, Phase::Gate { run, then }),
    }
}

/// Remembers what the gate found, and says why it is not green.
fn record(mut feature: Feature, head: Sha, report: GateReport) -> (Feature, Option<BlockReason>) {
    flow::head_is(&mut feature, head.clone());
    let red = match profile(strictest(&feature), &report) {
        Profile::Passed => None,
        Profile::Failed(failures) => Some(BlockReason::WaveGateRed { failures }),
        Profile::Absent(reasons) => Some(BlockReason::GatesAbsent { reasons }),
    };
    feature.gates.push(WaveGate {
        wave: feature.wave,
        head,
        merged: feature.completed(),
        report,
    });
    (feature, red)
}

/// The gate on what a person pushed in review.
fn checked(feature: Feature, run: u64, head: Sha, report: GateReport) -> Step {
    let (mut feature, red) = record(feature, head, report);
    feature.checking = None;
    let step = publish(unchanged(feature));
    match red {
        None => step,
        Some(reason) => blocked(step, reason, Phase::Gate { run, then: Then::Pull }),
    }
}

/// Shows the last gate as the check run of the commit that it ran on.
pub(super) fn publish(mut step: Step) -> Step {
    let run = emit(&mut step.feature);
    step.effects.push(Effect::PublishWaveCheck { run });
    step
}

/// Runs the gate on a head in review that no gate saw. Only the newest head counts.
pub(super) fn check_again(mut step: Step) -> Step {
    step.stop.push(StopScope::Feature);
    let run = emit(&mut step.feature);
    step.feature.checking = Some(run);
    step.effects.push(Effect::WaveGate { run });
    step
}

/// The gate in review is not waited for any more.
pub(super) fn check_ends(mut feature: Feature) -> Step {
    feature.checking = None;
    Step {
        feature,
        effects: Vec::new(),
        stop: vec![StopScope::Feature],
    }
}

/// The merged result must hold what the most demanding of its tasks had to hold.
#[must_use]
pub fn strictest(feature: &Feature) -> TaskType {
    let merged = || {
        let completed = feature.tasks.iter().filter(|task| task.is_completed());
        completed.map(|task| task.plan.kind)
    };
    merged()
        .find(|kind| matches!(kind, TaskType::Feature | TaskType::Testing))
        .or_else(|| merged().next())
        .unwrap_or(TaskType::Documentation)
}
