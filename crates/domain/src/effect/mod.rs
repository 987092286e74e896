//! What is to be done in the world. An effect is stored before it is done, and done once as far as anyone can see.

mod answer;
mod effect;
mod lane;
mod say;
mod spec;
mod task_work;

pub use crate::effect::{
    answer::answer,
    effect::Effect,
    lane::{CRASHES, Failures, Lane, Outages},
    say::{ReactOn, Reaction, Reply, ReplyTo, Thread},
    spec::{GivenUp, Order, Priority, Spec, Subject, WaitsFor},
    task_work::{ClosedWhy, DismissedWhy, TaskWork},
};
