//! Why work stops until a person decides, and the report that this person gets. When to block is the machines' part.

mod class;
mod cut;
mod doing;
mod failure;
mod fault;
mod reason;
pub mod report;
mod severity;
mod word;

pub use crate::{
    blocked::{
        class::FailureClass,
        cut::Cut,
        doing::Doing,
        failure::AgentFailure,
        fault::{Defect, Fault, Passes, RepositoryFault},
        reason::{BlockReason, PreFlightCause, PreFlightFault},
        severity::Severity,
    },
    cost::Cost,
    recurring::same_issues_three_turns,
};
