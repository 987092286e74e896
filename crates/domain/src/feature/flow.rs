//! How a Feature goes from wave to wave, and from the last wave to its pull request.

pub use crate::feature::gate::strictest;
use crate::{
    blocked::BlockReason,
    effect::Effect,
    feature::{
        Ahead, CancelledWhy, Feature, Integration, Phase, State, Step, Then,
        event::{DefaultMerge, OpenedOn},
        gate, people, planning, preflight,
        state::Reach,
        step::{blocked, emit, unchanged},
        syncing, waves,
    },
    ids::{Millis, PullNumber, Sha},
};

/// The first step after pre-flight.
pub(super) fn open_branch(mut step: Step) -> Step {
    let run = emit(&mut step.feature);
    enter(&mut step.feature, Phase::OpeningBranch { run });
    step.effects.push(Effect::OpenIntegration { run });
    step
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

pub(super) fn integration_opened(mut feature: Feature, run: u64, base: Sha, head: Sha, at: Millis) -> Step {
    if feature.phase() != Some(&Phase::OpeningBranch { run }) {
        return unchanged(feature);
    }
    feature.integration = Some(Integration {
        branch: feature.key.integration_branch(),
        base,
        head,
    });
    feature.wave = 1;
    waves::run(unchanged(feature), at)
}

pub(super) fn default_merged(mut feature: Feature, run: u64, outcome: DefaultMerge, at: Millis) -> Step {
    let then = match feature.phase() {
        Some(Phase::MergingDefault { run: waits_for, then }) if *waits_for == run => *then,
        Some(_) | None => return unchanged(feature),
    };
    let (head, other) = match outcome {
        DefaultMerge::Conflict { files, other } => return syncing::start(unchanged(feature), files, other, then, at),
        DefaultMerge::UpToDate { head, other } | DefaultMerge::Merged { head, other } => (head, other),
    };
    head_is(&mut feature, head);
    let is_known = feature.preflight.as_ref().is_some_and(|known| known.commit == other);
    let step = syncing::not_needed(unchanged(feature), at);
    match is_known {
        true => go_on(step, then, at),
        false => preflight::pre_flight(step, Some(other), Ahead::GoOn(then)),
    }
}

/// The integration branch holds the default branch, and what that brought in is known.
pub(super) fn go_on(step: Step, then: Then, at: Millis) -> Step {
    let head = step.feature.integration.as_ref().map(|integration| &integration.head);
    let tested = match (head, step.feature.gates.last()) {
        (Some(head), Some(gate)) => gate.holds_for(head),
        (Some(_) | None, _) => false,
    };
    let is_busy = step.feature.has_open_tasks();
    match then {
        Then::Wave => waves::run(step, at),
        Then::Pull if is_busy => waves::run(step, at),
        Then::Pull if tested => open_pull(step),
        // What was merged or pushed since the last gate was never tested together with the tasks.
        Then::Pull => gate::gate(step, Then::Pull),
    }
}

/// Remembers the integration branch's head.
pub(super) fn head_is(feature: &mut Feature, head: Sha) {
    if let Some(integration) = &mut feature.integration {
        integration.head = head;
    }
}

/// After a green gate, or a wave in which nothing was merged: the next wave, the pull request, or the end. A task that
/// someone started again meanwhile comes first.
pub(super) fn after_gate(step: Step, then: Then, at: Millis) -> Step {
    if step.feature.has_open_tasks() {
        return waves::run(step, at);
    }
    match then {
        Then::Wave | Then::Pull if has_later_wave(&step.feature) => next_wave(step),
        Then::Pull => open_pull(step),
        Then::Wave if step.feature.completed().is_empty() => {
            people::cancelled(step, CancelledWhy::NothingCompleted, at)
        }
        Then::Wave => merge_default(step, Then::Pull),
    }
}

pub(super) fn has_later_wave(feature: &Feature) -> bool {
    feature.wave < feature.last_wave()
}

/// Opens the next wave, as soon as the default branch is merged in.
pub(super) fn next_wave(mut step: Step) -> Step {
    step.feature.wave = step.feature.wave.saturating_add(1);
    step.feature.more_fixes = 0;
    merge_default(step, Then::Wave)
}

pub(super) fn merge_default(mut step: Step, then: Then) -> Step {
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

pub(super) fn pull_opened(
    mut feature: Feature,
    run: u64,
    pull: PullNumber,
    opened: Option<OpenedOn>,
    at: Millis,
) -> Step {
    if let (State::Cancelled { why }, None) = (&feature.state, feature.pull)
        && why.reach() != Reach::Nothing
    {
        feature.pull = Some(pull);
        return people::close_pull(unchanged(feature), pull);
    }
    if feature.phase() != Some(&Phase::OpeningPull { run }) {
        return unchanged(feature);
    }
    feature.pull = Some(pull);
    if let Some(opened) = opened {
        opened_on(&mut feature, opened);
    }
    feature.state = State::InReview;
    let step = gate::publish(unchanged(feature));
    if has_later_wave(&step.feature) {
        return next_wave(step);
    }
    let tested = match (&step.feature.integration, step.feature.gates.last()) {
        (Some(integration), Some(gate)) => gate.holds_for(&integration.head),
        (Some(_) | None, _) => false,
    };
    let step = if tested { step } else { gate::check_again(step) };
    waves::settle(step, at)
}

/// Remembers the head that the pull request shows, and that the last gate holds for it. What a person pushed meanwhile
/// stays the head: the gate runs on that.
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
}

/// An effect was given up. Only the one that is waited for stops the Feature.
pub(super) fn stuck(feature: Feature, run: u64, reason: BlockReason, at: Millis) -> Step {
    if feature.checking == Some(run) {
        let then = Then::Pull;
        return blocked(gate::check_ends(feature), reason, Phase::Gate { run, then });
    }
    let phase = match &feature.state {
        State::Planning { run } => Phase::Planning { run: *run },
        State::Building { phase } | State::Paused { phase, .. } => phase.clone(),
        State::AwaitingApproval
        | State::Blocked { .. }
        | State::InReview
        | State::Completed
        | State::Cancelled { .. }
        | State::Failed { .. } => return unchanged(feature),
    };
    if phase.waits_for() != Some(run) {
        return unchanged(feature);
    }
    let step = unchanged(feature);
    match phase {
        // A task that someone started again meanwhile comes first; what failed is done again after it.
        Phase::Gate { .. } | Phase::OpeningPull { .. } if step.feature.has_open_tasks() => waves::run(step, at),
        Phase::Planning { .. }
        | Phase::PreFlight { .. }
        | Phase::OpeningBranch { .. }
        | Phase::MergingDefault { .. }
        | Phase::Syncing { .. }
        | Phase::Tasks
        | Phase::Gate { .. }
        | Phase::OpeningPull { .. } => blocked(step, reason, phase),
    }
}

/// Does the step again at which the Feature stopped.
pub(super) fn again(mut step: Step, phase: Phase, at: Millis) -> Step {
    step.feature.state = State::Building { phase: phase.clone() };
    match phase {
        Phase::Planning { .. } => planning::plan_again(step),
        Phase::PreFlight {
            then: Ahead::OpenBranch,
            ..
        } => preflight::pre_flight(step, None, Ahead::OpenBranch),
        Phase::OpeningBranch { .. } => open_branch(step),
        // What stood against a commit may be mended in a newer one.
        Phase::PreFlight {
            then: Ahead::GoOn(then),
            ..
        }
        | Phase::MergingDefault { then, .. } => merge_default(step, then),
        Phase::Syncing { task, then } => syncing::settle(step, task, then, at),
        Phase::Tasks => waves::settle(step, at),
        Phase::Gate { then, .. } => gate::gate(step, then),
        Phase::OpeningPull { .. } => open_pull(step),
    }
}
