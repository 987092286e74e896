//! What becomes of a task's pull request when AutoBuild opens or merges it.

use crate::{
    effect::{ClosedWhy, TaskWork},
    ids::{Emission, Millis, PullNumber, Sha},
    task::{
        moves::{Asked, Step, Stop, ask, is_told_by_review, start_turn, unchanged},
        task::{Conflict, MergeState, MergedBy, State, Task, TurnKind},
    },
};

/// Asks for the pull request of a pushed branch, unless it is there or being opened.
pub(super) fn open_missing_pull(task: &mut Task) -> Option<Asked> {
    if task.pull.is_some() || task.opening.is_some() || task.head.is_none() {
        return None;
    }
    let asked = ask(task, TaskWork::OpenPull);
    task.opening = Some(asked.emission);
    Some(asked)
}

/// The pull request is there: what waited for it is said now, and one that came too late is closed.
pub(super) fn pull_opened(mut task: Task, pull: PullNumber, branch: &str) -> Step {
    if task.pull.is_some() || task.branch != branch {
        return unchanged(task);
    }
    task.pull = Some(pull);
    task.opening = None;
    let work = match &task.state {
        State::Blocked { .. } if is_told_by_review(&task) => None,
        State::Blocked { .. } => Some(TaskWork::PostBlocked),
        State::Skipped { by } => Some(TaskWork::ClosePull {
            pull,
            why: ClosedWhy::Skipped { by: by.clone() },
        }),
        State::Cancelled => Some(TaskWork::ClosePull {
            pull,
            why: ClosedWhy::Cancelled,
        }),
        State::Pending
        | State::PreLoop { .. }
        | State::PlayerTurn { .. }
        | State::CoachTurn { .. }
        | State::Approved { .. }
        | State::Completed { .. } => None,
    };
    let effects = work.map(|work| ask(&mut task, work)).into_iter().collect();
    Step {
        task,
        effects,
        stop: Stop::Nothing,
    }
}

/// Whether the merge of this emission is the one that is waited for.
fn is_due(task: &Task, emission: Emission) -> bool {
    matches!(&task.state, State::Approved { merge, .. } if *merge == (MergeState::Due { emission }))
}

pub(super) fn merged(mut task: Task, emission: Emission, commit: Sha) -> Step {
    if is_due(&task, emission) {
        task.state = State::Completed {
            commit: Some(commit),
            by: MergedBy::AutoBuild,
        };
    }
    unchanged(task)
}

/// A rule refused the merge: it waits for a person.
pub(super) fn merge_refused(mut task: Task, emission: Emission, rule: String) -> Step {
    if let State::Approved { merge, .. } = &mut task.state
        && *merge == (MergeState::Due { emission })
    {
        *merge = MergeState::Refused { rule };
    }
    unchanged(task)
}

/// A conflict with a task merged meanwhile is a turn, beyond the limit if need be.
pub(super) fn merge_conflict(mut task: Task, emission: Emission, files: Vec<String>, at: Millis) -> Step {
    if !is_due(&task, emission) {
        return unchanged(task);
    }
    task.next.conflict = Some(Conflict { files });
    start_turn(task, TurnKind::Conflict, at, Vec::new())
}

/// What was approved took up the integration branch as it is now: Gates and Coach look at it again.
pub(super) fn caught_up(mut task: Task, emission: Emission, head: Sha, at: Millis) -> Step {
    if !is_due(&task, emission) {
        return unchanged(task);
    }
    task.head = Some(head);
    start_turn(task, TurnKind::VerifyOnly, at, Vec::new())
}
