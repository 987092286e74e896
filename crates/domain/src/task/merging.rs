//! Opening and merging a task's pull request.

use crate::{
    effect::{ClosedWhy, Effect, TaskWork},
    ids::{Emission, Millis, PullNumber, Sha, TurnNumber},
    task::{
        moves::{Step, adds, ask, is_reported_by_review, start_turn, stops, take_back_turn, unchanged, verify},
        task::{Conflict, MergeState, MergedBy, Stage, State, Task, TurnKind},
    },
};

/// Asks for the pull request of a pushed branch, unless it exists or is being opened.
pub(super) fn open_missing_pull(task: &mut Task) -> Option<Effect> {
    if task.pull.is_some() || task.opening.is_some() || task.head.is_none() {
        return None;
    }
    let effect = ask(task, TaskWork::OpenPull);
    task.opening = Some(task.emitted);
    Some(effect)
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
        State::Blocked { .. } if is_reported_by_review(&task) => None,
        State::Blocked { .. } => Some(TaskWork::PostBlocked),
        State::Skipped { by } => Some(TaskWork::ClosePull { pull, why: ClosedWhy::Skipped { by: by.clone() } }),
        State::Cancelled => Some(TaskWork::ClosePull { pull, why: ClosedWhy::Cancelled }),
        State::Pending
        | State::PreLoop { .. }
        | State::PlayerTurn { .. }
        | State::CoachTurn { .. }
        | State::Approved { .. }
        | State::Completed { .. } => None,
    };
    let effects = work.map(|work| ask(&mut task, work));
    adds(task, effects)
}

/// `true` if the task waits for the merge with this emission.
fn is_due(task: &Task, emission: Emission) -> bool {
    matches!(&task.state, State::Approved { merge, .. } if *merge == (MergeState::Due { emission }))
}

fn gated_turn(task: &Task, emission: Emission) -> Option<TurnNumber> {
    let stage = Stage::Gates;
    let turn = task.last_turn()?.number;
    (task.state == State::CoachTurn { turn, stage, emission }).then_some(turn)
}

/// Completes a task that GitHub merged for AutoBuild, in any state: the work is in.
pub(super) fn merged(mut task: Task, commit: Sha) -> Step {
    if task.is_completed() {
        return unchanged(task);
    }
    task.pause = None;
    task.state = State::Completed { commit: Some(commit), by: MergedBy::AutoBuild };
    stops(task, None)
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
    if !is_due(&task, emission) && gated_turn(&task, emission).is_none() {
        return unchanged(task);
    }
    take_back_turn(&mut task);
    task.next.conflict = Some(Conflict { files });
    start_turn(task, TurnKind::Conflict, at, Vec::new())
}

/// Handles a merge of the integration branch into the task's branch: Gates and Coach examine the new head. An approved
/// task gets a turn for this; a task at its Gates runs them again.
pub(super) fn caught_up(mut task: Task, emission: Emission, head: Sha, at: Millis) -> Step {
    if is_due(&task, emission) {
        task.head = Some(head);
        return start_turn(task, TurnKind::VerifyOnly, at, Vec::new());
    }
    let Some(turn) = gated_turn(&task, emission) else {
        return unchanged(task);
    };
    task.head = Some(head.clone());
    if let Some(open) = task.turns.last_mut() {
        open.head = Some(head);
    }
    let gates = verify(&mut task, turn, at);
    stops(task, [gates])
}
