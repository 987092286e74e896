//! A conflict with the default branch. One task resolves it, alone; then the interrupted step continues.

use crate::{
    blocked::BlockReason,
    effect::Effect,
    feature::{
        added,
        feature::Feature,
        moves,
        moves::{Step, apply_to_task, blocked, check_ends, enter, unchanged},
        state::{Continuation, Phase, State},
    },
    ids::{Millis, Sha, TaskId},
    task,
    task::{Origin, Task},
};

/// Adds the task that merges `other` in. No other task starts until it is merged.
pub(super) fn start(mut step: Step, files: Vec<String>, other: Sha, then: Continuation, at: Millis) -> Step {
    let task = added::sync(&step.feature, files, other);
    // If someone started an earlier task of this kind again in the meantime, that one does it.
    let id = open_sync(&step.feature).unwrap_or(task.id);
    if id == task.id {
        step.feature.tasks.push(task);
    }
    enter(&mut step.feature, Phase::Syncing { task: id, then });
    settle(step, id, then, at)
}

fn open_sync(feature: &Feature) -> Option<TaskId> {
    let is_sync = |task: &&Task| matches!(task.origin, Origin::Sync { .. }) && !task.is_over();
    feature.tasks.iter().find(is_sync).map(|task| task.id)
}

/// Cancels the open tasks that should have resolved a conflict, since the default branch is merged in.
pub(super) fn not_needed(mut step: Step, at: Millis) -> Step {
    while let Some(id) = open_sync(&step.feature) {
        apply_to_task(&mut step, id, task::Event::FeatureCancelled { by: None }, at);
    }
    step
}

/// Returns the task that resolves a conflict, and the step that it interrupted, if the Feature waits for one.
pub(super) fn waits_for(feature: &Feature) -> Option<(TaskId, Continuation)> {
    let phase = feature.state.phase()?;
    if let Phase::Syncing { task, then } = phase {
        return Some((*task, *then));
    }
    // The task was given up, which blocked the Feature, and someone started it again.
    if let (Phase::MergingDefault { then, .. }, State::Blocked { .. }) = (phase, &feature.state) {
        return open_sync(feature).map(|task| (task, *then));
    }
    None
}

/// Continues after a task changed while a conflict is being resolved.
pub(super) fn settle(mut step: Step, id: TaskId, then: Continuation, at: Millis) -> Step {
    apply_to_task(&mut step, id, task::Event::Begin, at);
    let phase = Phase::Syncing { task: id, then };
    match step.feature.task(id) {
        Some(task) if task.is_completed() => moves::merge_default(step, then),
        Some(task) if task.is_blocked() => {
            if !matches!(step.feature.state, State::Paused { .. }) {
                let reason = BlockReason::TasksBlocked { tasks: vec![id] };
                step.feature.state = State::Blocked { reason, phase };
            }
            step
        }
        Some(task) if task.is_over() => given_up(step, id, then),
        Some(_) => {
            enter(&mut step.feature, phase);
            step
        }
        None => moves::merge_default(step, then),
    }
}

/// Blocks the Feature: the conflict is still there, and only a person can resolve it now.
fn given_up(step: Step, id: TaskId, then: Continuation) -> Step {
    let files = step.feature.task(id).map(|task| task.plan.files.clone());
    let reason = BlockReason::DefaultConflict { files: files.unwrap_or_default(), given_up: Some(id) };
    let emission = step.feature.emitted;
    blocked(step, reason, Phase::MergingDefault { emission, then })
}

/// Handles a new head of the default branch while the feature pull request is in review: asks if it still merges.
pub(super) fn default_pushed(feature: Feature) -> Step {
    if feature.state != State::InReview {
        return unchanged(feature);
    }
    let mut step = unchanged(feature);
    step.ask(|emission| Effect::CompareDefault { emission });
    step
}

/// Handles a conflict that was found in review: goes back to building, with a task that resolves it. The finding is
/// ignored if the Feature has left review since then, or has a task for this commit already.
pub(super) fn default_conflicts(feature: Feature, files: Vec<String>, other: Sha, at: Millis) -> Step {
    let in_hand = |task: &Task| task.origin == Origin::Sync { other: other.clone() };
    if feature.state != State::InReview || feature.tasks.iter().any(in_hand) {
        return unchanged(feature);
    }
    start(check_ends(feature), files, other, Continuation::Pull, at)
}
