//! Opening and merging a task's pull request.

use crate::{
    effect::{ClosedWhy, TaskWork},
    ids::{Emission, Millis, PullNumber, Sha},
    task::{
        moves::{Asked, Step, Stop, ask, is_told_by_review, start_turn, unchanged},
        task::{Conflict, MergeState, MergedBy, State, Task, TurnKind},
    },
};

/// Asks for the pull request of a pushed branch, unless it exists or is being opened.
pub(super) fn open_missing_pull(task: &mut Task) -> Option<Asked> {
    if task.pull.is_some() || task.opening.is_some() || task.head.is_none() {
        return None;
    }
    let asked = ask(task, TaskWork::OpenPull);
    task.opening = Some(asked.emission);
    Some(asked)
}

/// Remembers the new pull request. A blocked task now posts its report; a task that was given up closes the pull
/// request.
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

/// `true` if the task waits for the merge with this emission.
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

/// Handles a merge that a rule refused: the task stays approved and waits for a person.
pub(super) fn merge_refused(mut task: Task, emission: Emission, rule: String) -> Step {
    if let State::Approved { merge, .. } = &mut task.state
        && *merge == (MergeState::Due { emission })
    {
        *merge = MergeState::Refused { rule };
    }
    unchanged(task)
}

/// Starts a turn that resolves a conflict with work merged in the meantime, beyond the limit if necessary.
pub(super) fn merge_conflict(mut task: Task, emission: Emission, files: Vec<String>, at: Millis) -> Step {
    if !is_due(&task, emission) {
        return unchanged(task);
    }
    task.next.conflict = Some(Conflict { files });
    start_turn(task, TurnKind::Conflict, at, Vec::new())
}

/// Handles a merge of the integration branch into an approved branch: Gates and Coach examine the new head.
pub(super) fn caught_up(mut task: Task, emission: Emission, head: Sha, at: Millis) -> Step {
    if !is_due(&task, emission) {
        return unchanged(task);
    }
    task.head = Some(head);
    start_turn(task, TurnKind::VerifyOnly, at, Vec::new())
}
