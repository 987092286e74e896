//! One Feature: a labelled issue being built. `step` is the only way in.

mod added;
pub mod command;
pub mod discussion;
mod ending;
pub mod event;
mod feature;
pub mod flow;
mod gate;
mod merged;
mod moves;
pub mod over_task;
mod people;
mod phases;
mod planning;
mod preflight;
mod records;
pub(crate) mod refusal;
mod rerun;
pub(crate) mod saying;
mod state;
pub mod step;
mod syncing;
#[cfg(test)]
#[expect(clippy::wildcard_enum_match_arm, reason = "a test names what it is about")]
mod tests;
pub mod unsaid;
pub(crate) mod wait;
mod waits;
mod waves;

pub use crate::feature::{
    discussion::{Discussion, Older, SaidBefore},
    feature::Feature,
    moves::{Step, StopScope},
    preflight::{Before, Doubt, PreFlight, PreFlown, nameless, nothing_passes, obstacle, unknown_tests},
    records::{
        ApprovalWhy, Commands, Integration, Living, Mode, PlanApproval, PlanRequest, PlanVersion, Records, Rules,
        Snapshot, Trust, Wanted, WaveGate,
    },
    state::{Ahead, CancelledWhy, Phase, State, Suspension, Then},
    wait::Wait,
};
