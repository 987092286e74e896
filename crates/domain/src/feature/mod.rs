//! One Feature: a labelled issue that is being built. Only `step` changes it.

mod added;
pub mod base_failures;
pub mod changed_behaviour;
pub mod command;
pub mod discussion;
pub mod event;
pub mod failed_acts;
mod feature;
pub mod flow;
mod gate;
mod moves;
mod people;
mod planning;
mod preflight;
pub(crate) mod refusal;
mod state;
pub mod step;
pub mod sweep;
mod syncing;
#[cfg(test)]
#[expect(clippy::wildcard_enum_match_arm, reason = "a test names what it is about")]
mod tests;
mod waits;
mod waves;

pub use crate::{
    effect::Wait,
    feature::{
        base_failures::{BaseFailures, CiOfBase, FailingBase, too_many_failures},
        discussion::{Discussion, EarlierComment, OlderComments},
        feature::{
            ApprovalWhy, Commands, Feature, Integration, Living, Mode, PlanApproval, PlanKind, PlanRequest,
            PlanVersion, Records, Rules, Snapshot, Trust, WaivedConclusion, WaveGate,
        },
        moves::{Step, StopScope},
        planning::is_planning,
        preflight::{
            Doubt, PreFlight, PreFlightOutcome, TestsBefore, UncalledTests, nameless, nothing_passes, obstacle,
            unknown_tests, untestable,
        },
        state::{AfterPreFlight, CancelledWhy, Continuation, Phase, State, Suspension},
    },
};
