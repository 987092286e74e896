//! The end of the designer and of the Player.

use crate::{
    blocked::{BlockReason, Failure, WorkStep},
    contract,
    decision::Verdict,
    design::{Design, PreLoop},
    ids::{Emission, Millis, Sha, TurnNumber},
    inquiry::{Answer, Inquirer, Inquiries, Respondent, Round},
    problem::ReviewItem,
    report::{Discrepancy, PlayerReport},
    task::{
        coach::{announce, next_or_blocked},
        event::PlayerOutcome,
        merging::open_missing_pull,
        moves::{Step, adds, block, design, play, start_turn, stops, take_back_turn, unchanged, verify},
        people::next_kind,
        task::{Rules, State, Task, TurnKind, Work},
    },
};

pub(super) fn designed(mut task: Task, emission: Emission, design: Option<Box<Design>>, at: Millis) -> Step {
    if task.state != (State::PreLoop { emission }) {
        return unchanged(task);
    }
    task.pre_loop = design.map_or(PreLoop::Off, PreLoop::Done);
    start_turn(task, TurnKind::Full, at, Vec::new())
}

/// Handles inquiries: the turn does not count, and its work stays. The task waits for a person, or, if nobody answers,
/// the agent runs again with its defaults.
pub(super) fn inquired(
    mut task: Task,
    emission: Emission,
    inquiries: Inquiries,
    partial: Option<Sha>,
    at: Millis,
    rules: &Rules,
) -> Step {
    let by = match task.state {
        State::PreLoop { emission: own } if own == emission => Inquirer::Designer,
        State::PlayerTurn { emission: own, .. } if own == emission => Inquirer::Player,
        State::PreLoop { .. }
        | State::PlayerTurn { .. }
        | State::Pending
        | State::CoachTurn { .. }
        | State::Approved { .. }
        | State::Blocked { .. }
        | State::Completed { .. }
        | State::Skipped { .. }
        | State::Cancelled => return unchanged(task),
    };
    take_back_turn(&mut task);
    if partial.is_some() {
        task.head = partial;
    }
    let mut effects: Vec<_> = open_missing_pull(&mut task).into_iter().collect();
    if rules.inquiries == Respondent::Person {
        return block(task, BlockReason::Inquiry { by, inquiries }, effects);
    }
    let answer = Answer::Unattended;
    task.next.answers.push(Round { by, inquiries, answer });
    if by == Inquirer::Designer {
        effects.push(design(&mut task));
        return stops(task, effects);
    }
    let kind = next_kind(&task);
    start_turn(task, kind, at, effects)
}

pub(super) fn played(task: Task, emission: Emission, outcome: PlayerOutcome, at: Millis) -> Step {
    let State::PlayerTurn { turn, .. } = task.state else {
        return unchanged(task);
    };
    if task.state.waits_for() != Some(emission) {
        return unchanged(task);
    }
    let mut task = task;
    if let (Some(open), Some(left_out)) = (task.turns.last_mut(), outcome.left_out()) {
        open.left_out = left_out.to_vec();
        open.discrepancies = left_out.iter().cloned().map(Discrepancy::LeftOut).collect();
    }
    task.cut_runs = match outcome {
        PlayerOutcome::Failed { .. } | PlayerOutcome::Stopped { .. } => task.cut_runs.saturating_add(1),
        PlayerOutcome::Pushed { .. }
        | PlayerOutcome::NoChange { .. }
        | PlayerOutcome::Held { .. }
        | PlayerOutcome::Overtaken { .. } => 0,
    };
    match outcome {
        PlayerOutcome::Pushed { base, head, report, .. } => pushed(task, turn, base, head, report, at),
        PlayerOutcome::NoChange { base, head, report, .. } => {
            match head.filter(|head| task.judged_head() != Some(head)) {
                Some(head) => pushed(task, turn, base, head, report, at),
                None => no_change(task, base, report, at),
            }
        }
        PlayerOutcome::Held { base, report, items, .. } => keep_unpushed(task, base, report, items, at),
        PlayerOutcome::Overtaken { head } => overtaken(task, turn, head),
        PlayerOutcome::Failed { failure, printed, partial } => {
            let reason = BlockReason::Failed { step: WorkStep::Play, failure, printed };
            player_failed(task, turn, reason, partial, at)
        }
        PlayerOutcome::Stopped { reason, partial } => player_failed(task, turn, reason, partial, at),
    }
}

fn pushed(mut task: Task, turn: TurnNumber, base: Sha, head: Sha, report: PlayerReport, at: Millis) -> Step {
    task.head = Some(head.clone());
    if let Some(open) = task.turns.last_mut() {
        open.base = Some(base);
        open.head = Some(head);
        open.work = Work::Pushed;
        open.report = Some(report);
    }
    let pull = open_missing_pull(&mut task);
    let gates = verify(&mut task, turn, at);
    adds(task, pull.into_iter().chain([gates]))
}

/// Handles an empty change: the turn counts, without Gates and Coach. A second one in a row blocks the task.
fn no_change(mut task: Task, base: Sha, report: PlayerReport, at: Millis) -> Step {
    let before = task.turns_of_attempt().rev().nth(1);
    let twice = before.is_some_and(|before| before.work == Work::NoChange);
    close_turn(&mut task, Work::NoChange, base, report, contract::verdict_on_no_change(), at);
    let effects = announce(&mut task);
    if twice { block(task, BlockReason::NoChangeTwice, effects) } else { next_or_blocked(task, at, effects) }
}

/// Handles a commit that must not be pushed: the turn counts, and its feedback says why.
fn keep_unpushed(mut task: Task, base: Sha, report: PlayerReport, items: Vec<ReviewItem>, at: Millis) -> Step {
    let verdict = contract::verdict_on_forbidden(items);
    close_turn(&mut task, Work::Held, base, report, verdict, at);
    let effects = announce(&mut task);
    next_or_blocked(task, at, effects)
}

fn close_turn(task: &mut Task, work: Work, base: Sha, report: PlayerReport, verdict: Verdict, at: Millis) {
    if let Some(open) = task.turns.last_mut() {
        open.work = work;
        open.base = Some(base);
        open.report = Some(report);
        open.verdict = Some(verdict);
        open.ended_at = Some(at);
    }
}

/// Handles a person's push while the Player ran: drops the Player's work and restarts the turn from the person's
/// commit.
pub(super) fn overtaken(mut task: Task, turn: TurnNumber, head: Sha) -> Step {
    if let Some(open) = task.turns.last_mut() {
        open.base = Some(head.clone());
    }
    task.head = Some(head);
    let again = play(&mut task, turn);
    stops(task, [again])
}

/// Lets a Player whose run failed continue from its unfinished work, in the same turn, unless this happened too often
/// in a row.
pub(super) fn go_on_or_blocked(mut task: Task, reason: BlockReason, at: Millis) -> Step {
    let may_go_on = |failure: &Failure| task.cut_runs < failure.rule().runs;
    if !reason.agent_failure().is_some_and(may_go_on) {
        return block(task, reason, Vec::new());
    }
    take_back_turn(&mut task);
    let kind = next_kind(&task);
    start_turn(task, kind, at, Vec::new())
}

/// Handles a failure that is no verdict on the work. What the Player left is judged, because it may be finished: the
/// Gates cost no money, and the Coach is asked only if they pass. If nothing is left to judge, the failure uses up no
/// turn: the next turn gets the same input.
fn player_failed(mut task: Task, turn: TurnNumber, reason: BlockReason, partial: Option<Sha>, at: Millis) -> Step {
    if partial.is_some() {
        task.head.clone_from(&partial);
    }
    let pull = open_missing_pull(&mut task);
    let open = task.turns.last_mut().filter(|open| open.input.conflict.is_none());
    if let (Some(head), Some(open)) = (partial, open) {
        open.head = Some(head);
        open.work = Work::Pushed;
        task.cut = Some(reason);
        let gates = verify(&mut task, turn, at);
        return adds(task, pull.into_iter().chain([gates]));
    }
    take_back_turn(&mut task);
    block(task, reason, pull.into_iter().collect())
}
