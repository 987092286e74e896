//! What follows from people's hands on a task's branch and pull request: pushes, reviews, closing, merging.

use crate::{
    blocked::BlockReason,
    ids::{Millis, PullNumber, Sha, User},
    task::{
        blocking::{block, moved, take_back_turn},
        coach::dismiss,
        moves::{Step, Stop, unchanged},
        player::overtaken,
        resuming::{Left, go_on, left},
        rules::Rules,
        starting::start_turn,
        state::{MergedBy, State},
        task::Task,
        turn::TurnKind,
    },
};

pub(super) fn pull_closed(mut task: Task, by: &User, pull: PullNumber) -> Step {
    if task.is_over() || task.pull != Some(pull) {
        return unchanged(task);
    }
    let effects = dismiss(&mut task, by).into_iter().collect();
    task.pause = None;
    task.state = State::Cancelled;
    Step {
        task,
        effects,
        stop: Stop::Work,
    }
}

pub(super) fn reopened(task: Task, pull: PullNumber, turns: u32, at: Millis, rules: &Rules) -> Step {
    if task.state != State::Cancelled || task.pull != Some(pull) {
        return unchanged(task);
    }
    go_on(task, turns, at, rules)
}

/// A person merged: that is completed, whatever the Coach said. The merge of a cancelled task's pull request tells that
/// it was reopened before.
pub(super) fn merged_by_hand(mut task: Task, by: User, commit: Option<Sha>) -> Step {
    let by = match task.state {
        State::Approved { .. } => MergedBy::Person(by),
        State::Blocked { .. } => match left(&task) {
            Left::Merge(_) => MergedBy::Person(by),
            Left::Verify(_) | Left::NextTurn => MergedBy::PersonWithoutApproval(by),
        },
        State::Pending
        | State::PreLoop { .. }
        | State::PlayerTurn { .. }
        | State::CoachTurn { .. }
        | State::Cancelled => MergedBy::PersonWithoutApproval(by),
        State::Completed { .. } | State::Skipped { .. } => return unchanged(task),
    };
    task.state = State::Completed { commit, by };
    Step {
        task,
        effects: Vec::new(),
        stop: Stop::Work,
    }
}

/// The next turn starts from a person's commit; what is approved is verified again; a running Player starts over.
pub(super) fn pushed(mut task: Task, head: Sha, at: Millis) -> Step {
    if task.head.as_ref() == Some(&head) {
        return unchanged(task);
    }
    match task.state {
        State::PlayerTurn { turn, .. } => overtaken(task, turn, head),
        State::Approved { .. } => {
            task.head = Some(head);
            start_turn(task, TurnKind::VerifyOnly, at, Vec::new())
        }
        State::Blocked { .. } => moved(task, head),
        State::CoachTurn { .. } | State::Cancelled => {
            task.head = Some(head);
            unchanged(task)
        }
        State::Pending | State::PreLoop { .. } | State::Completed { .. } | State::Skipped { .. } => unchanged(task),
    }
}

/// Nothing of the branch can be trusted to stand on the integration branch: a person says how to go on.
pub(super) fn force_pushed(mut task: Task, by: User, head: Sha) -> Step {
    let reason = BlockReason::ForcePushed { by };
    match &task.state {
        State::PreLoop { .. } | State::PlayerTurn { .. } | State::CoachTurn { .. } | State::Approved { .. } => {}
        State::Blocked { reason: known } if *known != reason || task.head.as_ref() != Some(&head) => {}
        State::Pending | State::Blocked { .. } | State::Completed { .. } | State::Skipped { .. } | State::Cancelled => {
            return unchanged(task);
        }
    }
    take_back_turn(&mut task);
    task.head = Some(head);
    block(task, reason, Vec::new())
}
