//! How a Feature ends: its tasks with it, its pull request closed.

use crate::{
    effect::Effect,
    feature::{
        moves::{Step, StopScope, emit, tell},
        state::{CancelledWhy, Reach, State},
    },
    ids::{Millis, PullNumber, TaskId, User},
    task,
};

/// Ends an unfinished Feature with all its tasks. What someone did to the issue, the label or the branches says so;
/// an App that was removed says nothing more.
pub(super) fn cancelled(mut step: Step, why: CancelledWhy, at: Millis) -> Step {
    let spared = match &why {
        CancelledWhy::LabelRemoved(_) => step.feature.state == State::InReview,
        CancelledWhy::PullClosed(_) => step.feature.pull.is_none(),
        CancelledWhy::Command(_)
        | CancelledWhy::IssueClosed(_)
        | CancelledWhy::BranchDeleted
        | CancelledWhy::RepositoryGone
        | CancelledWhy::IssueGone
        | CancelledWhy::InstallationRemoved
        | CancelledWhy::NothingCompleted => false,
    };
    if !step.feature.is_unfinished() || spared {
        return step;
    }
    step = end_tasks(step, why.by().cloned(), at);
    match (&why, step.feature.pull) {
        (CancelledWhy::PullClosed(_), _) | (_, None) => {}
        (_, Some(pull)) => step = close_pull(step, pull),
    }
    if why.reach() == Reach::Nothing {
        step.effects.clear();
    }
    step.feature.state = State::Cancelled { why };
    step
}

/// Asks for the feature pull request to be closed.
pub(super) fn close_pull(mut step: Step, pull: PullNumber) -> Step {
    let emission = emit(&mut step.feature);
    step.effects.push(Effect::CloseFeaturePull { emission, pull });
    step
}

/// Stops all work and ends every task that is not over.
pub(super) fn end_tasks(mut step: Step, by: Option<User>, at: Millis) -> Step {
    step.feature.checking = None;
    step.stop = vec![StopScope::Feature];
    let tasks: Vec<TaskId> = step.feature.tasks.iter().map(|task| task.id).collect();
    for id in tasks {
        tell(&mut step, id, task::Event::FeatureCancelled { by: by.clone() }, at);
    }
    step.stop = vec![StopScope::Feature];
    step
}
