//! How a Task that rested goes on. Resuming is the same path as starting.

use crate::{
    decision::Outcome,
    ids::{Millis, TurnNumber},
    task::{
        blocking::take_back_turn,
        coach::{announce, approve},
        merging::open_missing_pull,
        moves::{Asked, Step, Stop},
        rules::Rules,
        starting::{start_turn, verify},
        state::{Approval, State},
        task::Task,
        turn::TurnKind,
    },
};

/// What is left to do for the newest turn.
pub(super) enum Left {
    /// Its commit was never judged: Gates and Coach look at it again, and no turn is used up.
    Verify(TurnNumber),
    /// Its commit is approved: only the merge is left.
    Merge(TurnNumber),
    /// Nothing: the next turn is due.
    NextTurn,
}

/// What is left to do. Words of a person that no turn was told yet always make a new turn.
pub(super) fn left(task: &Task) -> Left {
    let words = !task.next.guidance.is_empty() || task.next.conflict.is_some();
    let Some(turn) = task
        .last_turn()
        .filter(|turn| !words && turn.head.is_some() && turn.head == task.head)
    else {
        return Left::NextTurn;
    };
    match turn.verdict.as_ref().map(|verdict| verdict.outcome) {
        None => Left::Verify(turn.number),
        Some(Outcome::Approve) if task.next.reviews.is_empty() => Left::Merge(turn.number),
        Some(Outcome::Approve | Outcome::Feedback) => Left::NextTurn,
    }
}

/// Goes on with `turns` more turns. A task without any turn waits for its wave, which may be open already.
pub(super) fn go_on(mut task: Task, turns: u32, at: Millis, rules: &Rules) -> Step {
    let mut effects: Vec<Asked> = open_missing_pull(&mut task).into_iter().collect();
    let left = left(&task);
    if let Left::NextTurn = left {
        take_back_turn(&mut task);
    }
    let used = match left {
        Left::Verify(turn) => turn.0.saturating_sub(1),
        Left::Merge(_) | Left::NextTurn => task.last_number(),
    };
    task.limit = used.saturating_add(turns.max(1));
    match left {
        Left::Verify(turn) => effects.push(verify(&mut task, turn, at)),
        Left::Merge(turn) => effects.append(&mut approve_again(&mut task, turn, rules)),
        Left::NextTurn if task.turns_now().next().is_none() && task.head.is_none() => task.state = State::Pending,
        Left::NextTurn => {
            let kind = next_kind(&task);
            return start_turn(task, kind, at, effects);
        }
    }
    Step {
        task,
        effects,
        stop: Stop::Work,
    }
}

/// A merge that needs hands makes the next turn one of a conflict.
pub(super) fn next_kind(task: &Task) -> TurnKind {
    match task.next.conflict {
        Some(_) => TurnKind::Conflict,
        None => TurnKind::Full,
    }
}

/// Approves a task whose blocked report was the last word on its pull request: the approval is said again.
pub(super) fn approve_again(task: &mut Task, turn: TurnNumber, rules: &Rules) -> Vec<Asked> {
    let mut effects = announce(task);
    effects.append(&mut approve(task, turn, Approval::Coach, rules));
    effects
}
