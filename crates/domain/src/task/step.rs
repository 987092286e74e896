//! Applies events to a Task, with one function per event.

use crate::{
    blocked::{BlockReason, WorkStep},
    design::PreLoop,
    ids::Millis,
    task::{
        coach,
        event::Event,
        merging, moves,
        moves::{Step, stops, unchanged},
        people, player,
        task::{Rules, State, Task},
    },
};

/// Applies `event`; a late or repeated event leaves the task as it was.
pub fn step(task: Task, event: Event, at: Millis, rules: &Rules) -> Step {
    let before = task.state.clone();
    moves::paused(&before, apply_event(task, event, at, rules))
}

fn apply_event(task: Task, event: Event, at: Millis, rules: &Rules) -> Step {
    match event {
        Event::Begin => begin(task, at, rules),
        Event::Designed { emission, design } => player::designed(task, emission, design, at),
        Event::Inquired { emission, inquiries, partial } => {
            player::inquired(task, emission, inquiries, partial, at, rules)
        }
        Event::Played { emission, outcome } => player::played(task, emission, *outcome, at),
        Event::PullOpened { pull, branch } => merging::pull_opened(task, pull, &branch),
        Event::Gated { emission, head, report, discrepancies } => {
            coach::gated(task, emission, &head, *report, discrepancies, at, rules)
        }
        Event::CiRead { emission, head, result } => coach::ci_read(task, emission, &head, *result),
        Event::Judged { emission, head, judgement, probes } => {
            coach::judged(task, emission, &head, *judgement, probes, at, rules)
        }
        Event::CoachFailed { emission, failure, printed } => {
            let reason = BlockReason::Failed { step: WorkStep::Coach, failure, printed };
            coach::coach_failed(task, emission, reason)
        }
        Event::Merged { commit, .. } => merging::merged(task, commit),
        Event::MergeRefused { emission, rule } => merging::merge_refused(task, emission, rule),
        Event::CaughtUp { emission, head } => merging::caught_up(task, emission, head, at),
        Event::MergeConflict { emission, files } => merging::merge_conflict(task, emission, files, at),
        Event::Stuck { emission, reason } => moves::stuck(task, emission, reason),
        Event::NeedGone { task: need } => moves::need_gone(task, need),
        Event::NeedBack { task: need } => moves::need_back(task, need),
        Event::Person { by, did } => people::act_for_person(task, by, did, at, rules),
        Event::FeatureCancelled { by } => people::cancel(task, by.as_ref()),
    }
}

fn begin(mut task: Task, at: Millis, rules: &Rules) -> Step {
    if task.state != State::Pending {
        return unchanged(task);
    }
    if task.pre_loop == PreLoop::Due {
        let effect = moves::design(&mut task);
        return stops(task, [effect]);
    }
    people::start(task, at, rules)
}
