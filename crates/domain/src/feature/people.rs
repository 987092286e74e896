//! What people do to a Feature outside of commands: labels, closing, merging, reopening, pushing.

use crate::{
    effect::{Effect, Reply, ReplyTo, Thread},
    feature::{
        added, ending,
        event::NewerRun,
        feature::Feature,
        moves::{Step, StopScope, emit, head_is, unchanged},
        phases,
        refusal::Refusal,
        state::{Phase, State},
        waves,
    },
    ids::{Millis, PullNumber, Sha},
    task::{HumanReview, Origin, Task},
};

/// Merged by its human: done, whatever the Feature was doing. The merge of a cancelled Feature's pull request tells that
/// it was reopened before; one of which AutoBuild does not know the number yet is the one being opened.
pub(super) fn pull_merged(mut feature: Feature, pull: PullNumber, at: Millis) -> Step {
    let is_opening = match &feature.state {
        State::Building { phase } | State::Paused { phase, .. } | State::Blocked { phase, .. } => {
            matches!(phase, Phase::OpeningPull { .. })
        }
        State::Planning { .. }
        | State::AwaitingApproval
        | State::InReview
        | State::Completed
        | State::Cancelled { .. }
        | State::Failed { .. } => false,
    };
    let is_ours = feature.pull.map_or(is_opening, |known| known == pull);
    if !is_ours || feature.state == State::Completed {
        return unchanged(feature);
    }
    feature.pull = Some(pull);
    let mut step = ending::end_tasks(unchanged(feature), None, at);
    step.feature.state = State::Completed;
    let emission = emit(&mut step.feature);
    step.effects.push(Effect::CleanUp { emission });
    step
}

/// Only the pull request's reopening leaves `cancelled`, and only while the issue has no newer run. What was pushed
/// meanwhile was never tested.
pub(super) fn pull_reopened(mut feature: Feature, pull: PullNumber, newer: NewerRun) -> Step {
    let is_cancelled = matches!(feature.state, State::Cancelled { .. });
    if !is_cancelled || feature.pull != Some(pull) {
        return unchanged(feature);
    }
    match newer {
        NewerRun::None => {
            feature.state = State::InReview;
            phases::check_again(unchanged(feature))
        }
        NewerRun::Exists(run) => {
            let fact = emit(&mut feature);
            let mut step = unchanged(feature);
            step.effects.push(Effect::Reply {
                thread: Thread::Pull(pull),
                to: ReplyTo::Fact(format!("reopened/{pull}/{fact}")),
                reply: Reply::Refused(Refusal::NewerRun { run }),
            });
            step
        }
    }
}

/// Each request for changes becomes one task in a wave of its own. In review the Feature goes back to building; where it
/// is built already, the wave comes after those that are left.
pub(super) fn review_requested(mut feature: Feature, review: &HumanReview, at: Millis) -> Step {
    let known = |task: &Task| matches!(&task.origin, Origin::Review { id, .. } if *id == review.id);
    if !feature.is_unfinished() || feature.pull.is_none() || feature.tasks.iter().any(known) {
        return unchanged(feature);
    }
    feature.tasks.push(added::review(&feature, review));
    if feature.state != State::InReview {
        return waves::settle(unchanged(feature), at);
    }
    feature.checking = None;
    let mut step = unchanged(feature);
    step.stop.push(StopScope::Feature);
    phases::next_wave(step)
}

/// What a person pushed was never verified together with the rest. While tasks are built, the gate of their wave does
/// that; in review, and where a gate is what the Feature waits for, it runs again.
pub(super) fn integration_pushed(mut feature: Feature, head: Sha) -> Step {
    let known = feature
        .integration
        .as_ref()
        .is_none_or(|integration| integration.head == head);
    if known {
        return unchanged(feature);
    }
    match feature.state.clone() {
        State::InReview => {
            head_is(&mut feature, head);
            phases::check_again(unchanged(feature))
        }
        State::Blocked {
            phase: Phase::Gate { then, .. },
            ..
        } => {
            head_is(&mut feature, head);
            phases::gate(unchanged(feature), then)
        }
        State::Building {
            phase: Phase::OpeningPull { .. },
        }
        | State::Paused {
            phase: Phase::OpeningPull { .. },
            ..
        } => {
            head_is(&mut feature, head);
            unchanged(feature)
        }
        State::Planning { .. }
        | State::AwaitingApproval
        | State::Building { .. }
        | State::Paused { .. }
        | State::Blocked { .. }
        | State::Completed
        | State::Cancelled { .. }
        | State::Failed { .. } => unchanged(feature),
    }
}
