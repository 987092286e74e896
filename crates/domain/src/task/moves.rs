//! The result of an event: the Task after it, the turn that it starts or the block that stops it, and its effects.

use crate::{
    blocked::BlockReason,
    decision::Outcome,
    effect::{Effect, TaskWork},
    ids::{Emission, Millis, Sha, TaskId, TurnNumber},
    task::task::{Stage, State, Task, Turn, TurnKind, Work},
};

/// A task after an event, and the effects that it asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The task after the event.
    pub task: Task,
    /// The effects that it asks for, in this order.
    pub effects: Vec<Effect>,
    /// The fate of the task's stored effects.
    pub stop: Stop,
}

/// The fate of a task's stored effects before new ones are added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// They stay as they are.
    Nothing,
    /// Agents and Gates stop; effects that would start work or merge are cancelled.
    Work,
}

pub(super) fn unchanged(task: Task) -> Step {
    adds(task, None)
}

/// Returns a step whose stored effects stay as they are.
pub(super) fn adds(task: Task, effects: impl IntoIterator<Item = Effect>) -> Step {
    Step { task, effects: effects.into_iter().collect(), stop: Stop::Nothing }
}

/// Returns a step that stops the task's work before it adds its effects.
pub(super) fn stops(task: Task, effects: impl IntoIterator<Item = Effect>) -> Step {
    Step { stop: Stop::Work, ..adds(task, effects) }
}

/// Returns the effect that does this work. Its emission is then the newest of the task, [`Task::emitted`].
pub(super) fn ask(task: &mut Task, work: TaskWork) -> Effect {
    task.emitted = task.emitted.next();
    Effect::Task { task: task.id, emission: task.emitted, work }
}

/// Opens the next turn. The input for the turn moves from the task into the turn. Open reviews stay with the task as
/// well, because no approval counts while a review is open. A turn for people or a conflict may exceed the limit.
pub(super) fn start_turn(mut task: Task, kind: TurnKind, at: Millis, mut effects: Vec<Effect>) -> Step {
    let number = add_turn(&mut task, kind, at);
    effects.push(match kind {
        TurnKind::Full | TurnKind::Conflict => play(&mut task, number),
        TurnKind::VerifyOnly => verify(&mut task, number, at),
    });
    stops(task, effects)
}

pub(super) fn add_turn(task: &mut Task, kind: TurnKind, at: Millis) -> TurnNumber {
    let number = TurnNumber(task.last_number().saturating_add(1));
    let input = std::mem::take(&mut task.next);
    task.cut = None;
    task.next.reviews.clone_from(&input.reviews);
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
        input,
        started_at: at,
        ended_at: None,
        ci_since: None,
        base: task.head.clone(),
        head,
        work: Work::Open,
        report: None,
        left_out: Vec::new(),
        discrepancies: Vec::new(),
        gates: None,
        verdict: None,
    });
    number
}

pub(super) fn design(task: &mut Task) -> Effect {
    let effect = ask(task, TaskWork::Design);
    let emission = task.emitted;
    task.state = State::PreLoop { emission };
    effect
}

pub(super) fn play(task: &mut Task, turn: TurnNumber) -> Effect {
    let effect = ask(task, TaskWork::Play);
    let emission = task.emitted;
    task.state = State::PlayerTurn { turn, emission };
    effect
}

/// Sends the turn's commit to the Gates, after a push or to check it again. CI's time limits count from `at`.
pub(super) fn verify(task: &mut Task, turn: TurnNumber, at: Millis) -> Effect {
    let effect = ask(task, TaskWork::Gates);
    if let Some(open) = task.turns.last_mut().filter(|open| open.number == turn) {
        open.ci_since = Some(at);
    }
    let (stage, emission) = (Stage::Gates, task.emitted);
    task.state = State::CoachTurn { turn, stage, emission };
    effect
}

/// Blocks a paused task at the point where its next agent, Gate or merge would start.
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
    after.effects.retain(|effect| !effect.waits_when_held());
    block(after.task, BlockReason::Paused { by }, after.effects)
}

/// Stops the task until a person decides. Its check run says so and has the buttons. If the step also posts the turn's
/// review, this review becomes the blocked report; otherwise a separate report follows, after the pull request is
/// opened.
pub(super) fn block(mut task: Task, reason: BlockReason, mut effects: Vec<Effect>) -> Step {
    task.state = State::Blocked { reason };
    match shown_by(&task) {
        Some(check) if effects.iter().any(|effect| effect.work() == Some(&check)) => {}
        Some(check) => effects.push(ask(&mut task, check)),
        None => {}
    }
    let is_told = reports(&mut effects);
    if task.opening.is_none() && !is_told {
        effects.push(ask(&mut task, TaskWork::PostBlocked));
    }
    stops(task, effects)
}

/// Makes the review that is about to be posted the blocked report as well. Returns `false` if there is none.
fn reports(effects: &mut [Effect]) -> bool {
    let mut is_told = false;
    for effect in effects {
        if let Effect::Task { work, .. } = effect
            && let TaskWork::PostReview { turn } = *work
        {
            *work = TaskWork::PostBlockedReview { turn };
            is_told = true;
        }
    }
    is_told
}

/// `true` if the review of the newest turn is the blocked report. The step that blocked the task asked for this review,
/// and the review waits for the pull request too.
pub(super) fn is_reported_by_review(task: &Task) -> bool {
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

/// Returns the check run on the branch's head that says that a person has to decide. It shows the verdict of the newest
/// turn about this commit. If there is none, it shows no verdict, since nobody judged the commit.
fn shown_by(task: &Task) -> Option<TaskWork> {
    let head = task.head.clone()?;
    Some(match task.turn_of_head() {
        Some(turn) => TaskWork::PublishCheck { turn: turn.number },
        None => TaskWork::PublishBlocked { head },
    })
}

/// Remembers a person's push to the branch of a blocked task: the new head gets the check run with the buttons too.
pub(super) fn remember_push(mut task: Task, head: Sha) -> Step {
    task.head = Some(head);
    let check = shown_by(&task).map(|check| ask(&mut task, check));
    adds(task, check)
}

/// Removes the open turn, which does not count, and keeps its input for the next turn.
pub(super) fn take_back_turn(task: &mut Task) {
    let Some(open) = task.turns.pop_if(|turn| turn.ended_at.is_none()) else {
        return;
    };
    let mut guidance = open.input.guidance;
    guidance.append(&mut task.next.guidance);
    task.next.guidance = guidance;
    let mut answers = open.input.answers;
    answers.append(&mut task.next.answers);
    task.next.answers = answers;
    let mut remarks = open.input.remarks;
    remarks.append(&mut task.next.remarks);
    task.next.remarks = remarks;
    if open.work != Work::Pushed {
        task.next.conflict = task.next.conflict.take().or(open.input.conflict);
    }
}

/// Handles an effect that was given up. Only one that the task waits for, or that opens the pull request, stops it.
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
        // The report waited for the pull request, which will not come.
        State::Blocked { .. } => {
            let report = ask(&mut task, TaskWork::PostBlocked);
            adds(task, [report])
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

/// Handles a needed task that is being built again: a task that has not started waits for it.
pub(super) fn need_back(mut task: Task, need: TaskId) -> Step {
    let reason = BlockReason::NeedGone { task: need };
    if task.state == (State::Blocked { reason }) {
        task.state = State::Pending;
    }
    if task.state == State::Pending {
        task.without.retain(|gone| *gone != need);
    }
    unchanged(task)
}
