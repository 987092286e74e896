//! The tasks of the open waves: which start, which block, and when a wave is over.

use crate::{
    blocked::BlockReason,
    feature::{
        feature::Feature,
        gate, moves,
        moves::{Step, StopScope, enter, tell, unchanged},
        people,
        state::{CancelledWhy, Phase, Reach, State, Then},
        syncing,
    },
    ids::{Millis, TaskId},
    task,
    task::Task,
};

/// Opens the present wave: starts every task that may start.
pub(super) fn run(mut step: Step, at: Millis) -> Step {
    enter(&mut step.feature, Phase::Tasks);
    settle(step, at)
}

/// After a change of a task: blocks those that need a task that was given up, starts those that may start, and goes on
/// when nothing of the open waves is in motion any more.
pub(super) fn settle(mut step: Step, at: Millis) -> Step {
    tell_needs(&mut step, at);
    if let Some((task, then)) = syncing::waits_for(&step.feature) {
        return syncing::settle(step, task, then, at);
    }
    if !is_about_tasks(&step.feature) {
        return step;
    }
    if step.feature.checking.is_some() {
        step.feature.checking = None;
        step.stop.push(StopScope::Feature);
    }
    let ready = ready(&step.feature);
    // What a person mended before they let a task go on comes first.
    if matches!(step.feature.state, State::Blocked { .. }) && !ready.is_empty() {
        return moves::merge_default(step, Then::Wave);
    }
    enter(&mut step.feature, Phase::Tasks);
    for id in ready {
        tell(&mut step, id, task::Event::Begin, at);
    }
    if step.feature.opened_tasks().any(Task::is_in_motion) {
        return step;
    }
    let waiting = step.feature.opened_tasks().filter(|task| task.is_blocked());
    let tasks: Vec<TaskId> = waiting.map(|task| task.id).collect();
    match (tasks.is_empty(), &step.feature.state) {
        // No checked plan has tasks that wait for each other; if one had, it would rest here.
        (true, _) if step.feature.has_open_tasks() => step,
        (true, _) if gate::is_due(&step.feature) => moves::gate(step, Then::Wave),
        (true, _) => after_gate(step, Then::Wave, at),
        (false, State::Paused { .. }) => step,
        (false, _) => {
            let reason = BlockReason::TasksBlocked { tasks };
            let phase = Phase::Tasks;
            step.feature.state = State::Blocked { reason, phase };
            step
        }
    }
}

/// Whether the tasks decide what comes next. A Feature past its tasks goes back to them when one is started again; while
/// a merge of the default branch is due, tasks wait for it.
fn is_about_tasks(feature: &Feature) -> bool {
    match &feature.state {
        State::Building { phase } | State::Paused { phase, .. } => *phase == Phase::Tasks,
        State::Blocked { phase, .. } => match phase {
            Phase::Tasks => true,
            Phase::Gate { .. } | Phase::OpeningPull { .. } => feature.has_open_tasks(),
            Phase::Planning { .. }
            | Phase::PreFlight { .. }
            | Phase::OpeningBranch { .. }
            | Phase::MergingDefault { .. }
            | Phase::Syncing { .. } => false,
        },
        State::InReview => feature.has_open_tasks(),
        State::Planning { .. }
        | State::AwaitingApproval
        | State::Completed
        | State::Cancelled { .. }
        | State::Failed { .. } => false,
    }
}

/// Tells every task that did not start which of its needs were given up, and which came back.
fn tell_needs(step: &mut Step, at: Millis) {
    let needs: Vec<(TaskId, TaskId)> = step
        .feature
        .tasks
        .iter()
        .filter(|task| !task.is_over() && !task.is_in_motion())
        .flat_map(|task| task.plan.dependencies.iter().map(|need| (task.id, *need)))
        .collect();
    for (id, need) in needs {
        let event = match step.feature.task(need).map(Task::is_gone) {
            Some(true) => task::Event::NeedGone { task: need },
            Some(false) | None => task::Event::NeedBack { task: need },
        };
        tell(step, id, event, at);
    }
}

/// Every waiting task of the open waves that has what it needs.
fn ready(feature: &Feature) -> Vec<TaskId> {
    feature
        .opened_tasks()
        .filter(|task| task.state == task::State::Pending && has_needs(feature, task))
        .map(|task| task.id)
        .collect()
}

/// Whether everything that the task needs is merged, or was given up and someone decided to go on without.
fn has_needs(feature: &Feature, task: &Task) -> bool {
    task.plan.dependencies.iter().all(|need| {
        feature
            .task(*need)
            .is_none_or(|needed| needed.is_completed() || needed.is_gone() && task.without.contains(need))
    })
}

/// After a green gate, or a wave in which nothing was merged: the next wave, the pull request, or the end. A task that
/// someone started again meanwhile comes first.
pub(super) fn after_gate(step: Step, then: Then, at: Millis) -> Step {
    if step.feature.has_open_tasks() {
        return run(step, at);
    }
    match then {
        Then::Wave | Then::Pull if moves::has_later_wave(&step.feature) => moves::next_wave(step),
        Then::Pull => moves::open_pull(step),
        Then::Wave if step.feature.completed().is_empty() => {
            people::cancelled(step, CancelledWhy::NothingCompleted, at)
        }
        Then::Wave => moves::merge_default(step, Then::Pull),
    }
}

/// Applies an event to one task, and then opens whatever the task was the last to keep closed.
pub(super) fn on_task(feature: Feature, id: TaskId, event: task::Event, at: Millis) -> Step {
    // A pull request that came too late to be cancelled with the rest is closed all the same.
    let closes_late_pull = match (&feature.state, &event) {
        (State::Cancelled { why }, task::Event::PullOpened { .. }) => why.reach() != Reach::Nothing,
        _ => false,
    };
    if !feature.is_unfinished() && !closes_late_pull {
        return unchanged(feature);
    }
    let before = feature.task(id).cloned();
    let mut step = unchanged(feature);
    tell(&mut step, id, event, at);
    if step.feature.task(id) == before.as_ref() {
        return step;
    }
    settle(step, at)
}
