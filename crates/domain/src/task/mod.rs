//! One Task: its states, its turns, and the events that change it. Only `step` changes it.

mod coach;
mod event;
mod merging;
mod moves;
mod people;
mod player;
pub mod step;
mod task;
mod waiver;

pub use crate::task::{
    event::{Event, PersonDid, PlayerOutcome},
    moves::{Step, Stop},
    task::{
        Approval, Conflict, Draft, DraftSubject, Goal, Guidance, HumanReview, MergePolicy, MergeState, MergedBy,
        Origin, Rules, Stage, State, Task, Turn, TurnInput, TurnKind, Work,
    },
    waiver::{WaivedFact, Waiver},
};
