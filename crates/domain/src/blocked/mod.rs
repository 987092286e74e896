//! The reasons why work stops until a person decides, and the report that this person gets. The state machines decide
//! when to block.

mod failure;
mod fault;
mod reason;
pub mod report;

pub use crate::{
    blocked::{
        failure::{AgentFailure, Cut, FailureClass, SpentScript},
        fault::{Defect, Fault, RepositoryFault},
        reason::{BlockReason, PreFlightCause, PreFlightFault, Severity, WorkStep},
    },
    cost::Cost,
    recurring::same_issues_three_turns,
};
