//! What happens to a Task when an effect of its turn ends. One function per event.

use crate::domain::blocked::BlockReason;
use crate::domain::effect::TaskWork;
use crate::domain::ids::Millis;
use crate::domain::ids::TaskId;
use crate::domain::ids::TurnNumber;
use crate::domain::task::Asked;
use crate::domain::task::Event;
use crate::domain::task::MergeState;
use crate::domain::task::NextTurn;
use crate::domain::task::Rules;
use crate::domain::task::Stage;
use crate::domain::task::State;
use crate::domain::task::Step;
use crate::domain::task::Stop;
use crate::domain::task::Task;
use crate::domain::task::Turn;
use crate::domain::task::TurnKind;
use crate::domain::task::Work;
use crate::domain::task::coach::coach_failed;
use crate::domain::task::coach::gated;
use crate::domain::task::coach::judged;
use crate::domain::task::merging::merge_conflict;
use crate::domain::task::merging::merge_refused;
use crate::domain::task::merging::merged;
use crate::domain::task::merging::pull_opened;
use crate::domain::task::people;
use crate::domain::task::player::designed;
use crate::domain::task::player::played;

/// Applies `event`; a late or repeated event leaves the task as it was.
#[must_use]
pub fn step(task: Task, event: Event, at: Millis, rules: &Rules) -> Step {
    let before = task.state.clone();
    paused(before, moved(task, event, at, rules))
}

/// A task that someone paused stops where the next agent or Gate would start.
fn paused(before: State, mut after: Step) -> Step {
    let starts = matches!(
        after.task.state,
        State::PlayerTurn { .. } | State::CoachTurn { .. } | State::PreLoop { .. }
    );
    let Some(by) = after.task.pause.take_if(|_| after.task.state != before) else {
        return after;
    };
    if !starts {
        return after;
    }
    if matches!(after.task.state, State::PlayerTurn { .. }) {
        take_back_turn(&mut after.task);
    }
    after
        .effects
        .retain(|asked| !matches!(asked.work, TaskWork::Play | TaskWork::Gates | TaskWork::Coach));
    block(after.task, BlockReason::Paused { by }, after.effects)
}

fn moved(task: Task, event: Event, at: Millis, rules: &Rules) -> Step {
    match event {
        Event::Begin => begin(task, at),
        Event::Designed { run } => designed(task, run, at),
        Event::Played { run, outcome } => played(task, run, *outcome, at),
        Event::PullOpened { pull, branch } => pull_opened(task, pull, &branch),
        Event::Gated { run, head, report } => gated(task, run, &head, *report),
        Event::Judged { run, head, judgement } => judged(task, run, &head, *judgement, at, rules),
        Event::CoachFailed { run, failure } => coach_failed(task, run, failure),
        Event::Merged { run, commit } => merged(task, run, commit),
        Event::MergeRefused { run, rule } => merge_refused(task, run, rule),
        Event::MergeConflict { run, files } => merge_conflict(task, run, files, at),
        Event::Stuck { run, reason } => stuck(task, run, reason),
        Event::NeedGone { task: need } => need_gone(task, need),
        Event::Person { by, did } => people::did(task, by, did, at, rules),
        Event::FeatureCancelled => people::cancelled_with_feature(task),
    }
}

pub(super) fn unchanged(task: Task) -> Step {
    Step {
        task,
        effects: Vec::new(),
        stop: Stop::Nothing,
    }
}

pub(super) fn ask(task: &mut Task, work: TaskWork) -> Asked {
    task.emitted = task.emitted.saturating_add(1);
    Asked {
        run: task.emitted,
        work,
    }
}

fn begin(task: Task, at: Millis) -> Step {
    match task.state {
        State::Pending => start_turn(task, TurnKind::Full, at, Vec::new()),
        State::PreLoop { .. }
        | State::PlayerTurn { .. }
        | State::CoachTurn { .. }
        | State::Approved { .. }
        | State::Blocked { .. }
        | State::Completed { .. }
        | State::Skipped { .. }
        | State::Cancelled => unchanged(task),
    }
}

/// Opens the next turn. What the turn is told moves from the task into it; open reviews stay with the task as well, for
/// no approval is given over them.
pub(super) fn start_turn(mut task: Task, kind: TurnKind, at: Millis, mut effects: Vec<Asked>) -> Step {
    let number = TurnNumber(task.last_number().saturating_add(1));
    let told = NextTurn {
        reviews: task.next.reviews.clone(),
        ..std::mem::take(&mut task.next)
    };
    task.next.reviews.clone_from(&told.reviews);
    task.limit = task.limit.max(if kind == TurnKind::Full { 0 } else { number.0 });
    task.turns.push(Turn {
        number,
        attempt: task.attempt,
        kind,
        told,
        started_at: at,
        ended_at: None,
        base: task.head.clone(),
        head: if kind == TurnKind::VerifyOnly {
            task.head.clone()
        } else {
            None
        },
        work: Work::Open,
        report: None,
        discrepancies: Vec::new(),
        gates: None,
        verdict: None,
    });
    match kind {
        TurnKind::Full | TurnKind::Conflict => {
            let asked = ask(&mut task, TaskWork::Play);
            task.state = State::PlayerTurn {
                turn: number,
                run: asked.run,
            };
            effects.push(asked);
        }
        TurnKind::VerifyOnly => effects.push(verify(&mut task, number)),
    }
    Step {
        task,
        effects,
        stop: Stop::Work,
    }
}

/// Sends the turn's commit to the Gates.
pub(super) fn verify(task: &mut Task, turn: TurnNumber) -> Asked {
    let asked = ask(task, TaskWork::Gates);
    task.state = State::CoachTurn {
        turn,
        stage: Stage::Gates,
        run: asked.run,
    };
    asked
}

/// Removes the open turn and gives what it was told back to the next one.
pub(super) fn take_back_turn(task: &mut Task) {
    if task.turns.last().is_some_and(|turn| turn.verdict.is_none())
        && let Some(open) = task.turns.pop()
    {
        let mut guidance = open.told.guidance;
        guidance.append(&mut task.next.guidance);
        task.next.guidance = guidance;
        task.next.conflict = task.next.conflict.take().or(open.told.conflict);
    }
}

/// Stops the task until a person decides.
pub(super) fn block(mut task: Task, reason: BlockReason, mut effects: Vec<Asked>) -> Step {
    task.state = State::Blocked { reason };
    // Before there is a pull request the report stands on the issue; while it is being opened, the report waits for it.
    if task.pull.is_some() || task.head.is_none() {
        effects.push(ask(&mut task, TaskWork::PostBlocked));
    }
    Step {
        task,
        effects,
        stop: Stop::Work,
    }
}

fn stuck(mut task: Task, run: u64, reason: BlockReason) -> Step {
    let waits = match &task.state {
        State::PreLoop { run: waits_for }
        | State::PlayerTurn { run: waits_for, .. }
        | State::CoachTurn { run: waits_for, .. } => *waits_for == run || task.pull.is_none(),
        State::Approved {
            merge: MergeState::Due { run: waits_for },
            ..
        } => *waits_for == run,
        State::Blocked { .. } => {
            // The pull request that the report waited for will not come: the report stands on the issue.
            let effects = if task.pull.is_none() {
                vec![ask(&mut task, TaskWork::PostBlocked)]
            } else {
                Vec::new()
            };
            return Step {
                task,
                effects,
                stop: Stop::Nothing,
            };
        }
        State::Pending
        | State::Approved { .. }
        | State::Completed { .. }
        | State::Skipped { .. }
        | State::Cancelled => false,
    };
    if !waits {
        return unchanged(task);
    }
    if matches!(task.state, State::PlayerTurn { .. }) {
        take_back_turn(&mut task);
    }
    block_saying_now(task, reason)
}

fn block_saying_now(mut task: Task, reason: BlockReason) -> Step {
    task.state = State::Blocked { reason };
    let effects = vec![ask(&mut task, TaskWork::PostBlocked)];
    Step {
        task,
        effects,
        stop: Stop::Work,
    }
}

fn need_gone(task: Task, need: TaskId) -> Step {
    match task.state {
        State::Pending if task.plan.dependencies.contains(&need) && !task.without.contains(&need) => {
            block(task, BlockReason::NeedGone { task: need }, Vec::new())
        }
        _ => unchanged(task),
    }
}
