//! The tasks of the open wave: which start, which block, and when the wave is over.

use crate::domain::blocked::BlockReason;
use crate::domain::effect::Effect;
use crate::domain::feature::Phase;
use crate::domain::feature::State;
use crate::domain::feature::Step;
use crate::domain::feature::Then;
use crate::domain::feature::flow::after_gate;
use crate::domain::feature::flow::enter;
use crate::domain::feature::flow::gate;
use crate::domain::feature::flow::phase;
use crate::domain::ids::Millis;
use crate::domain::ids::TaskId;
use crate::domain::task;

/// Starts every task whose wave is open and that waits.
pub(super) fn open_wave(mut step: Step, at: Millis) -> Step {
    enter(&mut step.feature, Phase::Tasks);
    let rules = step.feature.task_rules();
    let wave = step.feature.wave;
    for slot in step
        .feature
        .tasks
        .iter_mut()
        .filter(|task| task.wave <= wave && task.state == task::State::Pending)
    {
        let id = slot.id;
        let begun = task::step::step(slot.clone(), task::Event::Begin, at, &rules);
        *slot = begun.task;
        step.effects.extend(begun.effects.into_iter().map(|asked| Effect::Task {
            task: id,
            run: asked.run,
            work: asked.work,
        }));
    }
    settle(step, at)
}

/// After a change of a task: blocks those that need a task that was given up, starts those that may start, and goes on
/// when nothing of the open wave is in motion any more.
pub(super) fn settle(mut step: Step, at: Millis) -> Step {
    step = block_dependants(step, at);
    if phase(&step.feature) != Some(&Phase::Tasks) {
        return reopened(step, at);
    }
    let wave = step.feature.wave;
    if step
        .feature
        .tasks
        .iter()
        .any(|task| task.wave <= wave && task.state == task::State::Pending)
    {
        return open_wave(step, at);
    }
    let open = || step.feature.tasks.iter().filter(|task| task.wave <= wave);
    if open().any(|task| !task.is_over() && !task.is_blocked()) {
        return step;
    }
    let blocked_tasks: Vec<TaskId> = open().filter(|task| task.is_blocked()).map(|task| task.id).collect();
    if blocked_tasks.is_empty() {
        return wave_over(step);
    }
    let reason = BlockReason::TasksBlocked { tasks: blocked_tasks };
    step.feature.state = State::Blocked {
        reason,
        phase: Phase::Tasks,
    };
    step
}

/// A Feature that was blocked by its tasks goes on as soon as one of them does.
pub(super) fn reopened(mut step: Step, at: Millis) -> Step {
    let State::Blocked {
        phase: Phase::Tasks, ..
    } = &step.feature.state
    else {
        return step;
    };
    let wave = step.feature.wave;
    let still = step
        .feature
        .tasks
        .iter()
        .filter(|task| task.wave <= wave)
        .all(|task| task.is_over() || task.is_blocked());
    let any_blocked = step
        .feature
        .tasks
        .iter()
        .any(|task| task.wave <= wave && task.is_blocked());
    if still && any_blocked {
        return step;
    }
    step.feature.state = State::Building { phase: Phase::Tasks };
    settle(step, at)
}

pub(super) fn block_dependants(mut step: Step, at: Millis) -> Step {
    let rules = step.feature.task_rules();
    let gone: Vec<TaskId> = step
        .feature
        .tasks
        .iter()
        .filter(|task| matches!(task.state, task::State::Skipped { .. } | task::State::Cancelled))
        .map(|task| task.id)
        .collect();
    for slot in &mut step.feature.tasks {
        for need in &gone {
            let id = slot.id;
            let event = task::Event::NeedGone { task: *need };
            let blocked = task::step::step(slot.clone(), event, at, &rules);
            *slot = blocked.task;
            let asked = blocked.effects.into_iter();
            step.effects.extend(asked.map(|asked| Effect::Task {
                task: id,
                run: asked.run,
                work: asked.work,
            }));
        }
    }
    step
}

pub(super) fn wave_over(step: Step) -> Step {
    let wave = step.feature.wave;
    let merged = step
        .feature
        .tasks
        .iter()
        .any(|task| task.wave == wave && task.is_completed());
    if merged {
        gate(step, Then::Wave)
    } else {
        after_gate(step, Then::Wave)
    }
}
