//! What an event makes of a Task: the task after it, and what it asks for.

use crate::{
    effect::{Effect, TaskWork},
    ids::{Emission, TaskId},
    task::task::Task,
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
