//! What happens to a Task. One function per event.

use crate::{
    blocked::BlockReason,
    design::PreLoop,
    effect::TaskWork,
    ids::{Millis, TurnNumber},
    task::{
        Asked, Event, Rules, Stage, State, Step, Stop, Task, Turn, TurnKind, Work, blocking, coach, merging, people,
        player, resuming::next_kind,
    },
};

/// Applies `event`; a late or repeated event leaves the task as it was.
#[must_use]
pub fn step(task: Task, event: Event, at: Millis, rules: &Rules) -> Step {
    let before = task.state.clone();
    blocking::paused(&before, moved(task, event, at, rules))
}

fn moved(task: Task, event: Event, at: Millis, rules: &Rules) -> Step {
    match event {
        Event::Begin => begin(task, at),
        Event::Designed { run, design } => player::designed(task, run, design, at),
        Event::Played { run, outcome } => player::played(task, run, *outcome, at),
        Event::PullOpened { pull, branch } => merging::pull_opened(task, pull, &branch),
        Event::Gated {
            run,
            head,
            report,
            discrepancies,
        } => coach::gated(task, run, &head, *report, discrepancies, rules),
        Event::CiRead { run, head, result } => coach::ci_read(task, run, &head, *result),
        Event::Judged {
            run,
            head,
            judgement,
            probes,
        } => coach::judged(task, run, &head, (*judgement, probes), at, rules),
        Event::CoachFailed { run, failure, printed } => {
            coach::coach_failed(task, run, BlockReason::AgentFailed { failure, printed })
        }
        Event::Merged { run, commit } => merging::merged(task, run, commit),
        Event::MergeRefused { run, rule } => merging::merge_refused(task, run, rule),
        Event::CaughtUp { run, head } => merging::caught_up(task, run, head, at),
        Event::MergeConflict { run, files } => merging::merge_conflict(task, run, files, at),
        Event::Stuck { run, reason } => blocking::stuck(task, run, reason),
        Event::NeedGone { task: need } => blocking::need_gone(task, need),
        Event::NeedBack { task: need } => blocking::need_back(task, need),
        Event::Person { by, did } => people::did(task, by, did, at, rules),
        Event::FeatureCancelled { by } => people::cancelled_with_feature(task, by.as_ref()),
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

fn begin(mut task: Task, at: Millis) -> Step {
    if task.state != State::Pending {
        return unchanged(task);
    }
    if task.pre_loop == PreLoop::Due {
        let asked = ask(&mut task, TaskWork::Design);
        task.state = State::PreLoop { run: asked.run };
        return Step {
            task,
            effects: vec![asked],
            stop: Stop::Work,
        };
    }
    let kind = next_kind(&task);
    start_turn(task, kind, at, Vec::new())
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
    task.state = State::PlayerTurn { turn, run: asked.run };
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
        run: asked.run,
    };
    asked
}
