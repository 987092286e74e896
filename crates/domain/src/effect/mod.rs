//! The effects: AutoBuild's actions outside its own state. An effect is stored before it runs, and people see it once.

mod effect;
mod say;
mod spec;

pub use crate::effect::{
    effect::{ClosedWhy, DismissedWhy, Effect, TaskWork},
    say::{FailedAct, PublicAct, Reaction, ReactionTarget, Replacement, Reply, ReplyTo, Thread, Wait, answer},
    spec::{EffectSpec, GivenUp, Lane, MOST_AGENT_TRIES, Precedence, Priority, Subject, WaitsFor},
};
