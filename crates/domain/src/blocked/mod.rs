//! The reasons why work stops until a person decides, and the report that this person gets. The state machines decide
//! when to block.

mod failure;
mod reason;
pub mod report;

pub use crate::{
    blocked::{
        failure::{
            Actor, AgentFault, Defect, Failure, FailureClass, FailureRule, Fallback, LoginProblem, NextStep, Owner,
            RepositoryFault, SpentScript, StartDifference, StopReason, UndoneWork,
        },
        reason::{BlockReason, PreFlightCause, PreFlightFault, Severity, WorkStep},
    },
    cost::Cost,
    recurring::same_issues_three_turns,
};
