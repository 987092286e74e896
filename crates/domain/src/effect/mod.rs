//! What is to be done in the world. An effect is stored before it is done, and done once as far as anyone can see.

mod effect;
mod say;
mod spec;

pub use crate::effect::{
    effect::{ClosedWhy, DismissedWhy, Effect, TaskWork},
    say::{Instead, ReactOn, Reaction, Reply, ReplyTo, Saying, Thread, Unsaid, Wait, answer},
    spec::{CRASHES, Failures, GivenUp, Lane, Order, Outages, Priority, Spec, Subject, WaitsFor},
};
