//! The path of a Feature from wave to wave, and from the last wave to its pull request.

pub use crate::feature::gate::{HeldCheck, held_checks, strictest, whole};
use crate::{
    blocked::BlockReason,
    feature::{
        event::{DefaultMerge, OpenedOn},
        feature::{Feature, Integration},
        gate, moves,
        moves::{Step, blocked, head_is, unchanged},
        people, planning,
        preflight::PreFlightOutcome,
        state::{AfterPreFlight, Continuation, Phase, Reach, State},
        syncing, waves,
    },
    ids::{Emission, Millis, PullNumber, Sha},
};

pub(super) fn integration_opened(mut feature: Feature, emission: Emission, base: Sha, head: Sha, at: Millis) -> Step {
    if feature.phase() != Some(&Phase::OpeningBranch { emission }) {
        return unchanged(feature);
    }
    feature.integration = Some(Integration { branch: feature.key.integration_branch(), base, head });
    feature.wave = 1;
    waves::run(unchanged(feature), at)
}

pub(super) fn default_merged(mut feature: Feature, emission: Emission, outcome: DefaultMerge, at: Millis) -> Step {
    let Some(Phase::MergingDefault { then, .. }) = feature.waits_for(emission) else {
        return unchanged(feature);
    };
    let (head, other) = match outcome {
        DefaultMerge::Conflict { files, other } => return syncing::start(unchanged(feature), files, other, then, at),
        DefaultMerge::UpToDate { head, other } | DefaultMerge::Merged { head, other } => (head, other),
    };
    head_is(&mut feature, head);
    let is_known = feature.preflight.as_ref().is_some_and(|known| known.commit == other);
    let step = syncing::not_needed(unchanged(feature), at);
    if is_known { go_on(step, then, at) } else { moves::pre_flight(step, Some(other), AfterPreFlight::GoOn(then)) }
}

/// Continues after the default branch was merged in and pre-flight knows its commit.
pub(super) fn go_on(step: Step, then: Continuation, at: Millis) -> Step {
    let is_busy = step.feature.has_open_tasks();
    match then {
        Continuation::Wave => waves::run(step, at),
        Continuation::Pull if is_busy => waves::run(step, at),
        Continuation::Pull if gate::is_green(&step.feature) => moves::open_pull(step),
        // No gate has tested the tasks together with the commits since the last one.
        Continuation::Pull => moves::gate(step, Continuation::Pull),
    }
}

pub(super) fn pull_opened(
    mut feature: Feature,
    emission: Emission,
    pull: PullNumber,
    opened: OpenedOn,
    at: Millis,
) -> Step {
    if let (State::Cancelled { why }, None) = (&feature.state, feature.pull)
        && why.reach() != Reach::Nothing
    {
        feature.pull = Some(pull);
        return people::close_pull(unchanged(feature), pull);
    }
    if feature.phase() != Some(&Phase::OpeningPull { emission }) {
        return unchanged(feature);
    }
    feature.pull = Some(pull);
    opened_on(&mut feature, opened);
    feature.state = State::InReview;
    let step = moves::publish(unchanged(feature), None);
    if moves::has_later_wave(&step.feature) {
        return moves::next_wave(step);
    }
    let step = if gate::is_green(&step.feature) { step } else { moves::check_again(step) };
    waves::settle(step, at)
}

/// Remembers the head that the pull request shows, and that the last gate holds for it. If a person pushed in the
/// meantime, the known head stays, so that the gate runs on the push.
fn opened_on(feature: &mut Feature, opened: OpenedOn) {
    let known = feature.integration.as_ref().map(|integration| &integration.head);
    if known != opened.known.as_ref() {
        return;
    }
    if let Some(gate) = feature.gates.last_mut()
        && opened.gated.as_ref() == Some(&gate.head)
        && opened.head != gate.head
    {
        gate.stands_for = Some(opened.head.clone());
    }
    head_is(feature, opened.head);
    if let (Some(integration), Some(branch)) = (&mut feature.integration, opened.branch) {
        integration.branch = branch;
    }
}

/// Handles an effect that was given up. It stops the Feature only if the Feature waits for it.
pub(super) fn stuck(feature: Feature, emission: Emission, reason: BlockReason, at: Millis) -> Step {
    if feature.checking == Some(emission) {
        let then = Continuation::Pull;
        return blocked(moves::check_ends(feature), reason, Phase::Gate { emission, then });
    }
    let Some(phase) = feature.waits_for(emission) else {
        return unchanged(feature);
    };
    let step = unchanged(feature);
    // A task that someone started again in the meantime comes first. The failed step is repeated after it.
    if phase.follows_tasks() && step.feature.has_open_tasks() {
        return waves::run(step, at);
    }
    blocked(step, reason, phase)
}

pub(super) fn repeat_phase(mut step: Step, phase: Phase, at: Millis) -> Step {
    step.feature.state = State::Building { phase: phase.clone() };
    match phase {
        Phase::Planning { .. } => moves::plan_again(step),
        Phase::OpeningBranch { .. } => moves::open_branch(step),
        Phase::PreFlight { then, .. } => match then {
            AfterPreFlight::OpenBranch => moves::pre_flight(step, None, then),
            // A newer commit of the default branch may fix the problem.
            AfterPreFlight::GoOn(then) => moves::merge_default(step, then),
        },
        Phase::MergingDefault { then, .. } | Phase::Gate { then, .. } => moves::merge_default(step, then),
        Phase::Syncing { task, then } => syncing::settle(step, task, then, at),
        Phase::Tasks => waves::settle(step, at),
        Phase::HeldCi | Phase::OpeningPull { .. } => moves::open_pull(step),
    }
}

/// Repeats the step at which the Feature stopped if no task can start before it. A person set a task going, which would
/// otherwise wait for this step without end.
pub(super) fn again_for_tasks(step: Step, at: Millis) -> Step {
    let State::Blocked { phase, .. } = &step.feature.state else {
        return step;
    };
    let phase = phase.clone();
    match phase {
        Phase::PreFlight { .. } | Phase::OpeningBranch { .. } | Phase::MergingDefault { .. } => {
            repeat_phase(step, phase, at)
        }
        Phase::Planning { .. }
        | Phase::Syncing { .. }
        | Phase::Tasks
        | Phase::Gate { .. }
        | Phase::HeldCi
        | Phase::OpeningPull { .. } => step,
    }
}

pub(super) fn pre_flown(mut feature: Feature, emission: Emission, outcome: PreFlightOutcome, at: Millis) -> Step {
    if planning::is_planning(&feature, emission) {
        return planning::looked_at(feature, emission, outcome);
    }
    let Some(Phase::PreFlight { then, .. }) = feature.waits_for(emission) else {
        return unchanged(feature);
    };
    match outcome {
        PreFlightOutcome::Refused(reason) => blocked(unchanged(feature), reason, Phase::PreFlight { emission, then }),
        PreFlightOutcome::Ready(found) => {
            feature.preflight = Some(found);
            let step = unchanged(feature);
            match then {
                AfterPreFlight::OpenBranch => moves::open_branch(step),
                AfterPreFlight::GoOn(then) => go_on(step, then, at),
            }
        }
    }
}
