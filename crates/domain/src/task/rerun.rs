//! GitHub's _Re-run_: a person wants the checks of a commit again.

use crate::{
    effect::TaskWork,
    ids::{Millis, Sha},
    task::{
        blocking::take_back_turn,
        merging::open_missing_pull,
        moves::{Step, Stop, ask, unchanged},
        resuming::{Left, left},
        starting::{start_turn, verify},
        state::{MergeState, State},
        task::Task,
        turn::TurnKind,
    },
};

/// Gates and Coach look again at a head that waits for a person. On every other commit the verdict that stands is said
/// again: GitHub shows a check that was asked for again as queued until its App says something.
pub(super) fn rerun(task: Task, head: &Sha, at: Millis) -> Step {
    let is_head = task.head.as_ref() == Some(head);
    match &task.state {
        State::Blocked { .. }
        | State::Approved {
            merge: MergeState::Person | MergeState::Refused { .. },
            ..
        } if is_head => verify_again(task, at),
        // Its check run is on its way.
        State::CoachTurn { .. } if is_head => unchanged(task),
        State::Pending
        | State::PreLoop { .. }
        | State::PlayerTurn { .. }
        | State::CoachTurn { .. }
        | State::Approved { .. }
        | State::Blocked { .. }
        | State::Completed { .. }
        | State::Skipped { .. }
        | State::Cancelled => say_again(task, head),
    }
}

/// A turn that has no verdict yet goes on; else a new one looks, without a Player. Words for the Player stay for its own
/// next turn.
fn verify_again(mut task: Task, at: Millis) -> Step {
    let mut effects: Vec<_> = open_missing_pull(&mut task).into_iter().collect();
    match left(&task) {
        Left::Verify(turn) => {
            effects.push(verify(&mut task, turn, at));
            Step {
                task,
                effects,
                stop: Stop::Work,
            }
        }
        Left::Merge(_) | Left::NextTurn => {
            take_back_turn(&mut task);
            let guidance = std::mem::take(&mut task.next.guidance);
            let conflict = task.next.conflict.take();
            let mut step = start_turn(task, TurnKind::VerifyOnly, at, effects);
            step.task.next.guidance = guidance;
            step.task.next.conflict = conflict;
            step
        }
    }
}

fn say_again(mut task: Task, head: &Sha) -> Step {
    let judged = task
        .turns
        .iter()
        .rev()
        .find(|turn| turn.head.as_ref() == Some(head) && turn.verdict.is_some());
    let said = judged.map(|turn| TaskWork::PublishCheck { turn: turn.number });
    let effects = said.map(|work| ask(&mut task, work)).into_iter().collect();
    Step {
        effects,
        ..unchanged(task)
    }
}
