//! What an event makes of a Task: the Task after it, the turn that it starts or the block that stops it, and what it asks for.

use crate::{
    blocked::BlockReason,
    decision::Outcome,
    effect::{Effect, TaskWork},
    ids::{Emission, Millis, Sha, TaskId, TurnNumber},
    task::task::{Stage, State, Task, Turn, TurnKind, Work},
};

/// A task and what it asks for.
#[must_use]
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The task after the event.
    pub task: Task,
    /// What is to be done, in this order.
    pub effects: Vec<Asked>,
    /// Whether work of this task that runs or waits is to be stopped first.
    pub stop: Stop,
}

/// Something asked for, with its emission number.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// Emission of the task.
    pub emission: Emission,
    /// What.
    pub work: TaskWork,
}

impl Asked {
    /// It as an effect of its task.
    pub fn effect(self, task: TaskId) -> Effect {
        Effect::Task {
            task,
            emission: self.emission,
            work: self.work,
        }
    }
}

/// What happens to a task's stored effects before new ones are added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// They stay.
    Nothing,
    /// Agents and Gates stop; what waits to be started or merged is cancelled.
    Work,
}

pub(super) fn unchanged(task: Task) -> Step {
    Step {
        task,
        effects: Vec::new(),
        stop: Stop::Nothing,
    }
}

pub(super) fn ask(task: &mut Task, work: TaskWork) -> Asked {
    task.emitted = task.emitted.next();
    Asked {
        emission: task.emitted,
        work,
    }
}

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

/// A task that someone paused stops where the next agent, Gate or merge would start.
pub(super) fn paused(before: &State, mut after: Step) -> Step {
    if after.task.state == *before {
        return after;
    }
    let Some(by) = after.task.pause.take() else {
        return after;
    };
    match after.task.state {
        State::PlayerTurn { .. } => take_back_turn(&mut after.task),
        State::PreLoop { .. } | State::CoachTurn { .. } | State::Approved { .. } => {}
        State::Pending | State::Blocked { .. } | State::Completed { .. } | State::Skipped { .. } | State::Cancelled => {
            return after;
        }
    }
    let id = after.task.id;
    after
        .effects
        .retain(|asked| !asked.clone().effect(id).waits_when_held());
    block(after.task, BlockReason::Paused { by }, after.effects)
}

/// Stops the task until a person decides: its check run says so and has the buttons. The review of a turn that blocks it
/// is the report as well. While its pull request is being opened, a report of its own waits for it.
pub(super) fn block(mut task: Task, reason: BlockReason, mut effects: Vec<Asked>) -> Step {
    task.state = State::Blocked { reason };
    let is_shown = |asked: &Asked| matches!(asked.work, TaskWork::PublishCheck { .. });
    match shown_by(&task) {
        Some(TaskWork::PublishCheck { .. }) if effects.iter().any(is_shown) => {}
        Some(check) => effects.push(ask(&mut task, check)),
        None => {}
    }
    let is_told = reports(&mut effects);
    if task.opening.is_none() && !is_told {
        effects.push(ask(&mut task, TaskWork::PostBlocked));
    }
    Step {
        task,
        effects,
        stop: Stop::Work,
    }
}

/// Makes the review of the turn that blocks the task its blocked report too, if one is posted.
fn reports(effects: &mut [Asked]) -> bool {
    let mut is_told = false;
    for asked in effects {
        if let TaskWork::PostReview { turn } = asked.work {
            asked.work = TaskWork::PostBlockedReview { turn };
            is_told = true;
        }
    }
    is_told
}

/// Whether the review of the newest turn, which waits for the pull request as well, is the blocked report: it was asked for
/// in the step that blocked the task.
pub(super) fn is_told_by_review(task: &Task) -> bool {
    let State::Blocked { reason } = &task.state else {
        return false;
    };
    let by_turn = reason.is_stuck() || matches!(reason, BlockReason::Paused { .. });
    let feedback = |turn: &Turn| {
        let outcome = turn.verdict.as_ref().map(|verdict| verdict.outcome);
        turn.head.is_some() && outcome == Some(Outcome::Feedback)
    };
    by_turn && task.last_turn().is_some_and(feedback)
}

/// The check run that says on the head of a task's branch that a person has to decide: with the verdict of the newest turn
/// where that is about this commit, else without one, since nobody judged it.
fn shown_by(task: &Task) -> Option<TaskWork> {
    let head = task.head.clone()?;
    let newest = task.last_turn().filter(|turn| turn.head.as_ref() == Some(&head));
    Some(match newest {
        Some(turn) => TaskWork::PublishCheck { turn: turn.number },
        None => TaskWork::PublishBlocked { head },
    })
}

/// A person pushed to the branch of a blocked task: it waits on the new head as well.
pub(super) fn moved(mut task: Task, head: Sha) -> Step {
    task.head = Some(head);
    let effects = shown_by(&task).map(|check| ask(&mut task, check));
    Step {
        effects: effects.into_iter().collect(),
        ..unchanged(task)
    }
}

/// Removes the open turn and gives what it was told back to the next one: a turn that did not end was none.
pub(super) fn take_back_turn(task: &mut Task) {
    let Some(open) = task.turns.pop_if(|turn| turn.ended_at.is_none()) else {
        return;
    };
    let mut guidance = open.told.guidance;
    guidance.append(&mut task.next.guidance);
    task.next.guidance = guidance;
    let mut remarks = open.told.remarks;
    remarks.append(&mut task.next.remarks);
    task.next.remarks = remarks;
    if open.work != Work::Pushed {
        task.next.conflict = task.next.conflict.take().or(open.told.conflict);
    }
}

/// An effect was given up. Only the one that is waited for, or the pull request's opening, stops the task.
pub(super) fn stuck(mut task: Task, emission: Emission, reason: BlockReason) -> Step {
    let is_opening = task.opening.take_if(|opening| *opening == emission).is_some();
    if !is_opening && task.state.waits_for() != Some(emission) {
        return unchanged(task);
    }
    match task.state {
        State::PlayerTurn { .. } => {
            take_back_turn(&mut task);
            block(task, reason, Vec::new())
        }
        State::PreLoop { .. } | State::CoachTurn { .. } | State::Approved { .. } => block(task, reason, Vec::new()),
        // The pull request that its report waited for will not come.
        State::Blocked { .. } => {
            let effects = vec![ask(&mut task, TaskWork::PostBlocked)];
            Step {
                task,
                effects,
                stop: Stop::Nothing,
            }
        }
        State::Pending | State::Completed { .. } | State::Skipped { .. } | State::Cancelled => unchanged(task),
    }
}

pub(super) fn need_gone(task: Task, need: TaskId) -> Step {
    let needs = task.plan.dependencies.contains(&need) && !task.without.contains(&need);
    if task.state != State::Pending || !needs {
        return unchanged(task);
    }
    block(task, BlockReason::NeedGone { task: need }, Vec::new())
}

/// What was missing is being built again: a task that did not start yet waits for it.
pub(super) fn need_back(mut task: Task, need: TaskId) -> Step {
    let missed = task.state
        == State::Blocked {
            reason: BlockReason::NeedGone { task: need },
        };
    if missed {
        task.state = State::Pending;
    }
    if task.state == State::Pending {
        task.without.retain(|gone| *gone != need);
    }
    unchanged(task)
}
