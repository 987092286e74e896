//! The tasks of the open waves: which of them start, which are blocked, and when a wave is over.

use crate::{
    blocked::BlockReason,
    ci::CiTreatment,
    feature::{
        feature::Feature,
        gate, moves,
        moves::{Step, StopScope, apply_to_task, enter, unchanged},
        people,
        state::{CancelledWhy, Continuation, Phase, Reach, State},
        syncing,
    },
    ids::{Millis, TaskId},
    task,
    task::Task,
};

/// Enters the step `Tasks`, and starts every task that may start.
pub(super) fn run(mut step: Step, at: Millis) -> Step {
    enter(&mut step.feature, Phase::Tasks);
    settle(step, at)
}

/// Continues after a task changed: blocks tasks whose needs were given up, starts tasks that may start, and proceeds to
/// the next step when no task of the open waves is in motion.
pub(super) fn settle(mut step: Step, at: Millis) -> Step {
    update_needs(&mut step, at);
    if let Some((task, then)) = syncing::waits_for(&step.feature) {
        return syncing::settle(step, task, then, at);
    }
    if is_released(&step.feature) {
        return moves::merge_default(step, Continuation::Pull);
    }
    if !is_about_tasks(&step.feature) {
        return step;
    }
    if step.feature.checking.is_some() {
        step.feature.checking = None;
        step.stop.push(StopScope::Feature);
    }
    let ready = ready(&step.feature);
    // The default branch is merged first, since it may contain a person's fix for the task that continues.
    if matches!(step.feature.state, State::Blocked { .. }) && !ready.is_empty() {
        return moves::merge_default(step, Continuation::Wave);
    }
    enter(&mut step.feature, Phase::Tasks);
    for id in ready {
        apply_to_task(&mut step, id, task::Event::Begin, at);
    }
    if step.feature.opened_tasks().any(Task::is_in_motion) {
        return step;
    }
    let waiting = step.feature.opened_tasks().filter(|task| task.is_blocked());
    let tasks: Vec<TaskId> = waiting.map(|task| task.id).collect();
    match (tasks.is_empty(), &step.feature.state) {
        // In a valid plan, tasks never wait for each other. If they did, the Feature would stay here.
        (true, _) if step.feature.has_open_tasks() => step,
        (true, _) if gate::is_due(&step.feature) => moves::gate(step, Continuation::Wave),
        (true, _) => after_gate(step, Continuation::Wave, at),
        (false, State::Paused { .. }) => step,
        (false, _) => {
            let reason = BlockReason::TasksBlocked { tasks };
            let phase = Phase::Tasks;
            step.feature.state = State::Blocked { reason, phase };
            step
        }
    }
}

/// `true` if the Feature waited for CI alone, and need not wait any more.
fn is_released(feature: &Feature) -> bool {
    let waits = State::Building { phase: Phase::HeldCi };
    feature.state == waits && !feature.has_open_tasks() && feature.ci_treatment() != CiTreatment::Hold
}

/// `true` if the tasks decide the next step. A Feature past its tasks returns to them if one is started again. While a
/// merge of the default branch is due, tasks wait for it.
fn is_about_tasks(feature: &Feature) -> bool {
    match &feature.state {
        State::Building { phase } | State::Paused { phase, .. } => {
            *phase == Phase::Tasks || *phase == Phase::HeldCi && feature.has_open_tasks()
        }
        State::Blocked { phase, .. } => *phase == Phase::Tasks || phase.follows_tasks() && feature.has_open_tasks(),
        State::InReview => feature.has_open_tasks(),
        State::Planning { .. }
        | State::AwaitingApproval
        | State::Completed
        | State::Cancelled { .. }
        | State::Failed { .. } => false,
    }
}

/// Tells every task that is not in motion which of its needs were given up, and which are available again.
fn update_needs(step: &mut Step, at: Millis) {
    let tasks = step.feature.tasks.iter();
    let still = tasks.filter(|task| !task.is_over() && !task.is_in_motion());
    let needs = still.flat_map(|task| task.plan.dependencies.iter().map(|need| (task.id, *need)));
    for (id, task) in needs.collect::<Vec<_>>() {
        let event = match step.feature.task(task).map(Task::is_gone) {
            Some(true) => task::Event::NeedGone { task },
            Some(false) | None => task::Event::NeedBack { task },
        };
        apply_to_task(step, id, event, at);
    }
}

fn ready(feature: &Feature) -> Vec<TaskId> {
    let ready = feature.tasks.iter().filter(|task| is_ready(feature, task));
    ready.map(|task| task.id).collect()
}

/// `true` if the task starts as soon as its Feature lets tasks start: it is pending, its wave is open, and its needs are
/// fulfilled. Before the integration branch exists, the first wave counts as open.
pub(super) fn is_ready(feature: &Feature, task: &Task) -> bool {
    task.state == task::State::Pending && task.wave <= feature.wave.max(1) && has_needs(feature, task)
}

/// `true` if each task that this one needs is merged, or was given up and a person decided to continue without it.
fn has_needs(feature: &Feature, task: &Task) -> bool {
    task.plan.dependencies.iter().all(|need| {
        feature
            .task(*need)
            .is_none_or(|needed| needed.is_completed() || needed.is_gone() && task.without.contains(need))
    })
}

/// Continues after a gate that passed, or after a wave without a merge: with the next wave, the pull request, or the
/// end. A task that someone started again in the meantime comes first.
pub(super) fn after_gate(step: Step, then: Continuation, at: Millis) -> Step {
    if step.feature.has_open_tasks() {
        return run(step, at);
    }
    match then {
        Continuation::Wave | Continuation::Pull if moves::has_later_wave(&step.feature) => moves::next_wave(step),
        Continuation::Pull => moves::open_pull(step),
        Continuation::Wave if step.feature.completed().is_empty() => {
            people::cancelled(step, CancelledWhy::NothingCompleted, at)
        }
        Continuation::Wave => moves::merge_default(step, Continuation::Pull),
    }
}

/// Applies an event to one task, and then starts the tasks that waited for it.
pub(super) fn on_task(feature: Feature, id: TaskId, event: task::Event, at: Millis) -> Step {
    // The pull request was opened too late to be closed with the others when the Feature was cancelled.
    let closes_late_pull = matches!(event, task::Event::PullOpened { .. })
        && matches!(&feature.state, State::Cancelled { why } if why.reach() != Reach::Nothing);
    if !feature.is_unfinished() && !closes_late_pull {
        return unchanged(feature);
    }
    let before = feature.clone();
    let mut step = unchanged(feature);
    apply_to_task(&mut step, id, event, at);
    if step.feature.task(id) == before.task(id) {
        return step;
    }
    let step = settle(step, at);
    let is_late = step.feature.state == before.state && step.feature.completed() != before.completed();
    if is_late { people::merged_late(step) } else { step }
}
