//! How a Feature goes from wave to wave, and from the last wave to its pull request.

use crate::domain::blocked::BlockReason;
use crate::domain::effect::Effect;
use crate::domain::evidence::GateReport;
use crate::domain::evidence::Profile;
use crate::domain::evidence::profile;
use crate::domain::feature::CancelledWhy;
use crate::domain::feature::Feature;
use crate::domain::feature::Integration;
use crate::domain::feature::Phase;
use crate::domain::feature::State;
use crate::domain::feature::Step;
use crate::domain::feature::StopScope;
use crate::domain::feature::Then;
use crate::domain::feature::WaveGate;
use crate::domain::feature::event::DefaultMerge;
use crate::domain::feature::people;
use crate::domain::feature::step::blocked;
use crate::domain::feature::step::emit;
use crate::domain::feature::step::shown;
use crate::domain::feature::step::unchanged;
use crate::domain::feature::waves::open_wave;
use crate::domain::feature::waves::settle;
use crate::domain::ids::Millis;
use crate::domain::ids::PullNumber;
use crate::domain::ids::Sha;
use crate::domain::plan::TaskType;
use crate::domain::task;

/// The first step after the plan is in force.
pub(super) fn open_branch(mut feature: Feature) -> Step {
    let run = emit(&mut feature);
    enter(&mut feature, Phase::OpeningBranch { run });
    let mut step = unchanged(feature);
    step.effects.push(Effect::OpenIntegration { run });
    shown(step)
}

/// Moves to `phase`: a paused Feature stays paused there.
pub(super) fn enter(feature: &mut Feature, phase: Phase) {
    feature.state = match &feature.state {
        State::Paused { by, .. } => State::Paused { phase, by: by.clone() },
        State::Planning { .. }
        | State::AwaitingApproval
        | State::Building { .. }
        | State::Blocked { .. }
        | State::InReview
        | State::Completed
        | State::Cancelled { .. }
        | State::Failed { .. } => State::Building { phase },
    };
}

pub(super) fn phase(feature: &Feature) -> Option<&Phase> {
    match &feature.state {
        State::Building { phase } | State::Paused { phase, .. } => Some(phase),
        State::Planning { .. }
        | State::AwaitingApproval
        | State::Blocked { .. }
        | State::InReview
        | State::Completed
        | State::Cancelled { .. }
        | State::Failed { .. } => None,
    }
}

pub(super) fn integration_opened(mut feature: Feature, run: u64, base: Sha, head: Sha, at: Millis) -> Step {
    if phase(&feature) != Some(&Phase::OpeningBranch { run }) {
        return unchanged(feature);
    }
    feature.integration = Some(Integration {
        branch: feature.key.integration_branch(),
        base,
        head,
    });
    feature.wave = 1;
    shown(open_wave(unchanged(feature), at))
}

pub(super) fn default_merged(mut feature: Feature, run: u64, outcome: DefaultMerge, at: Millis) -> Step {
    let then = match phase(&feature) {
        Some(Phase::MergingDefault { run: waits_for, then }) if *waits_for == run => *then,
        _ => return unchanged(feature),
    };
    let is_new = match outcome {
        DefaultMerge::Conflict { files } => {
            let phase = Phase::MergingDefault { run, then };
            feature.state = State::Blocked {
                reason: BlockReason::DefaultConflict { files },
                phase,
            };
            return blocked(feature);
        }
        DefaultMerge::UpToDate { head } => {
            moved(&mut feature, head);
            false
        }
        DefaultMerge::Merged { head } => {
            moved(&mut feature, head);
            true
        }
    };
    let step = unchanged(feature);
    shown(match then {
        Then::Wave => open_wave(step, at),
        // What was merged just now was never tested together with the tasks.
        Then::Pull if is_new => gate(step, Then::Pull),
        Then::Pull => open_pull(step),
    })
}

fn moved(feature: &mut Feature, head: Sha) {
    if let Some(integration) = &mut feature.integration {
        integration.head = head;
    }
}

pub(super) fn gate(mut step: Step, then: Then) -> Step {
    let run = emit(&mut step.feature);
    enter(&mut step.feature, Phase::Gate { run, then });
    step.effects.push(Effect::WaveGate { run });
    step
}

pub(super) fn wave_gated(mut feature: Feature, run: u64, head: Sha, report: GateReport) -> Step {
    let then = match phase(&feature) {
        Some(Phase::Gate { run: waits_for, then }) if *waits_for == run => *then,
        _ if feature.state == State::InReview => return gated_in_review(feature, head, report),
        _ => return unchanged(feature),
    };
    moved(&mut feature, head.clone());
    let found = profile(strictest(&feature), &report);
    feature.gates.push(WaveGate {
        wave: feature.wave,
        head,
        report,
    });
    let reason = match found {
        Profile::Passed => return shown(after_gate(unchanged(feature), then)),
        Profile::Failed(failures) => BlockReason::WaveGateRed { failures },
        Profile::Absent(reasons) => BlockReason::GatesAbsent { reasons },
    };
    feature.state = State::Blocked {
        reason,
        phase: Phase::Gate { run, then },
    };
    blocked(feature)
}

fn gated_in_review(mut feature: Feature, head: Sha, report: GateReport) -> Step {
    if feature.gates.last().is_some_and(|last| last.head == head) {
        return unchanged(feature);
    }
    moved(&mut feature, head.clone());
    feature.gates.push(WaveGate {
        wave: feature.wave,
        head,
        report,
    });
    let run = emit(&mut feature);
    let mut step = unchanged(feature);
    step.effects.push(Effect::PublishWaveCheck { run });
    shown(step)
}

/// The merged result must hold what the most demanding of its tasks had to hold.
#[must_use]
pub fn strictest(feature: &Feature) -> TaskType {
    let merged = || {
        feature
            .tasks
            .iter()
            .filter(|task| task.is_completed())
            .map(|task| task.plan.kind)
    };
    merged()
        .find(|kind| matches!(kind, TaskType::Feature | TaskType::Testing))
        .or_else(|| merged().next())
        .unwrap_or(TaskType::Documentation)
}

pub(super) fn after_gate(mut step: Step, then: Then) -> Step {
    let last = step.feature.wave >= step.feature.last_wave();
    match then {
        Then::Pull => open_pull(step),
        Then::Wave if !last => {
            step.feature.wave = step.feature.wave.saturating_add(1);
            merge_default(step, Then::Wave)
        }
        Then::Wave if step.feature.tasks.iter().any(task::Task::is_completed) => merge_default(step, Then::Pull),
        Then::Wave => {
            let ended = people::cancelled(step.feature, CancelledWhy::NothingCompleted);
            step.effects.extend(ended.effects);
            step.stop.extend(ended.stop);
            Step {
                feature: ended.feature,
                effects: step.effects,
                stop: step.stop,
            }
        }
    }
}

fn merge_default(mut step: Step, then: Then) -> Step {
    let run = emit(&mut step.feature);
    enter(&mut step.feature, Phase::MergingDefault { run, then });
    step.effects.push(Effect::MergeDefault { run });
    step
}

fn open_pull(mut step: Step) -> Step {
    let run = emit(&mut step.feature);
    enter(&mut step.feature, Phase::OpeningPull { run });
    step.effects.push(Effect::OpenFeaturePull { run });
    step
}

pub(super) fn pull_opened(mut feature: Feature, run: u64, pull: PullNumber) -> Step {
    if phase(&feature) != Some(&Phase::OpeningPull { run }) {
        return unchanged(feature);
    }
    feature.pull = Some(pull);
    feature.state = State::InReview;
    let run = emit(&mut feature);
    let mut step = unchanged(feature);
    step.effects.push(Effect::PublishWaveCheck { run });
    shown(step)
}

/// Does the step again at which the Feature stopped.
pub(super) fn again(mut feature: Feature, phase: Phase, at: Millis) -> Step {
    feature.state = State::Building { phase: phase.clone() };
    let step = Step {
        feature,
        effects: Vec::new(),
        stop: vec![StopScope::Feature],
    };
    match phase {
        Phase::Planning { .. } => people::plan_again(step),
        Phase::OpeningBranch { .. } => open_branch(step.feature),
        Phase::MergingDefault { then, .. } => merge_default(step, then),
        Phase::Tasks => settle(
            Step {
                stop: Vec::new(),
                ..step
            },
            at,
        ),
        Phase::Gate { then, .. } => gate(step, then),
        Phase::OpeningPull { .. } => open_pull(step),
    }
}
