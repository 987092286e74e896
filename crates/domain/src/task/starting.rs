//! How a turn starts: with the Player, or with Gates and Coach alone.

use crate::{
    effect::TaskWork,
    ids::{Millis, TurnNumber},
    task::{
        moves::{Asked, Step, Stop, ask},
        state::{Stage, State},
        task::Task,
        turn::{Turn, TurnKind, Work},
    },
};

/// Opens the next turn. What the turn is told moves from the task into it; open reviews stay with the task as well, for
/// no approval is given over them. Only a turn that people or conflicts ask for goes beyond the limit.
pub(super) fn start_turn(mut task: Task, kind: TurnKind, at: Millis, mut effects: Vec<Asked>) -> Step {
    let number = TurnNumber(task.last_number().saturating_add(1));
    let told = std::mem::take(&mut task.next);
    task.next.reviews.clone_from(&told.reviews);
    task.limit = match kind {
        TurnKind::Full => task.limit,
        TurnKind::Conflict | TurnKind::VerifyOnly => task.limit.max(number.0),
    };
    let head = match kind {
        TurnKind::Full | TurnKind::Conflict => None,
        TurnKind::VerifyOnly => task.head.clone(),
    };
    task.turns.push(Turn {
        number,
        attempt: task.attempt,
        kind,
        told,
        started_at: at,
        ended_at: None,
        ci_since: None,
        base: task.head.clone(),
        head,
        work: Work::Open,
        report: None,
        discrepancies: Vec::new(),
        gates: None,
        verdict: None,
    });
    effects.push(match kind {
        TurnKind::Full | TurnKind::Conflict => play(&mut task, number),
        TurnKind::VerifyOnly => verify(&mut task, number, at),
    });
    Step {
        task,
        effects,
        stop: Stop::Work,
    }
}

/// Lets the Player work on the turn.
pub(super) fn play(task: &mut Task, turn: TurnNumber) -> Asked {
    let asked = ask(task, TaskWork::Play);
    task.state = State::PlayerTurn {
        turn,
        emission: asked.emission,
    };
    asked
}

/// Sends the turn's commit, which was pushed or is to be looked at once more `at` this time, to the Gates.
pub(super) fn verify(task: &mut Task, turn: TurnNumber, at: Millis) -> Asked {
    let asked = ask(task, TaskWork::Gates);
    if let Some(open) = task.turns.last_mut().filter(|open| open.number == turn) {
        open.ci_since = Some(at);
    }
    task.state = State::CoachTurn {
        turn,
        stage: Stage::Gates,
        emission: asked.emission,
    };
    asked
}
