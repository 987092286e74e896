//! One Task: its states, its turns, and the events that move it. `step` is the only way in.

mod blocking;
mod branch;
mod coach;
mod event;
mod hands;
mod merging;
mod moves;
mod origin;
mod overriding;
mod people;
mod player;
mod rerun;
mod resuming;
mod reviews;
mod rules;
mod starting;
mod state;
pub mod step;
mod task;
mod turn;

pub use crate::task::{
    event::{Event, PersonDid, Played},
    moves::{Asked, Step, Stop},
    origin::Origin,
    rules::{MergePolicy, Rules},
    state::{Approval, MergeState, MergedBy, Stage, State},
    task::Task,
    turn::{Conflict, Guidance, HumanReview, NextTurn, Turn, TurnKind, Waiver, Work},
};
