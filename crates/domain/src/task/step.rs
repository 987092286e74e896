//! What happens to a Task. One function per event.

use crate::{
    blocked::BlockReason,
    design::PreLoop,
    effect::TaskWork,
    ids::Millis,
    task::{
        blocking, coach,
        event::Event,
        merging,
        moves::{Step, Stop, ask, unchanged},
        people, player,
        resuming::next_kind,
        rules::Rules,
        starting::start_turn,
        state::State,
        task::Task,
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
