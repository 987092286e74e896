//! What is to be done in the world. An effect is stored before it is done, and done once as far as anyone can see.

mod answer;
mod effect;
mod say;
mod task_work;

pub use crate::effect::{
    answer::answer,
    effect::Effect,
    say::{ReactOn, Reaction, Reply, ReplyTo, Thread},
    task_work::{ClosedWhy, DismissedWhy, TaskWork},
};
