//! Failures of agents that are no verdict on the work.

use serde::{Deserialize, Serialize};

/// A failure that is not an agent's verdict. It uses up no turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum AgentFailure {
    /// The program is not there.
    #[error("the agent program {program:?} was not found")]
    NotFound {
        /// The program as configured.
        program: String,
    },
    /// It ended with an error.
    #[error("the agent failed: {how}")]
    Failed {
        /// Exit code or signal, and the end of its error output.
        how: String,
    },
    /// Its time was up.
    #[error("the agent was stopped after {seconds} seconds")]
    TimedOut {
        /// The limit.
        seconds: u64,
    },
    /// It printed nothing for too long.
    #[error("the agent went silent for {seconds} seconds")]
    WentSilent {
        /// The limit.
        seconds: u64,
    },
    /// It printed more than is read.
    #[error("the agent printed more than {bytes} bytes")]
    TooMuchOutput {
        /// The limit.
        bytes: u64,
    },
    /// It is older than what we can work with.
    #[error("the agent program {program:?} is version {found}; at least {least} is needed")]
    TooOld {
        /// The program as configured.
        program: String,
        /// What it says it is.
        found: String,
        /// The oldest that works.
        least: String,
    },
    /// It did not start as it was asked to: other tools, other permissions, servers that nobody asked for.
    #[error("the agent did not start as it was asked to: {what}")]
    NotAsAsked {
        /// What differs.
        what: String,
    },
    /// The model's API limits us. The work waits for it.
    #[error("the model's API limits the rate: {said}")]
    RateLimited {
        /// Its words.
        said: String,
        /// How long it asked us to wait, where it did.
        retry_after_seconds: Option<u64>,
    },
    /// The model's API is overloaded, failing or out of reach. The work waits for it.
    #[error("the model's API is not available: {said}")]
    Unavailable {
        /// Its words.
        said: String,
        /// How long it asked us to wait, where it did.
        retry_after_seconds: Option<u64>,
    },
    /// The model's API refuses the credentials, or there is no credit. Trying again helps nobody.
    #[error("the model's API refuses the credentials or the account: {said}")]
    NotAuthorised {
        /// Its words, for operators.
        said: String,
    },
    /// The model's API knows no such model, or does not offer it to us.
    #[error("the model {model:?} is not available: {said}")]
    NoSuchModel {
        /// The model.
        model: String,
        /// The API's words.
        said: String,
    },
    /// The model refused to do it.
    #[error("the model refused the work: {said}")]
    ModelRefused {
        /// Its words.
        said: String,
    },
    /// The model's API does not take what the program asks: a mistake of the program, or a setting that does not fit.
    #[error("the model's API refuses the request (HTTP {status}): {said}")]
    RequestRefused {
        /// The status of its answer.
        status: u64,
        /// Its words.
        said: String,
    },
    /// What it was told, or what it had read, is longer than the model can take.
    #[error("the work is too long for the model")]
    PromptTooLong,
    /// The model stopped at its limit of output.
    #[error("the model stopped at its limit of output")]
    OutputLimit,
    /// It made as many calls as it may in one run.
    #[error("the agent made {turns} calls of its model, as many as it may")]
    OutOfAgentTurns {
        /// The limit.
        turns: u32,
    },
    /// Its share of the budget was used up.
    #[error("the agent used up its share of the budget")]
    OutOfMoney,
    /// A Player or planner without an answer.
    #[error("the agent's output does not end with a JSON object")]
    ReportMissing,
    /// A Player's or planner's answer of the wrong shape.
    #[error("the agent's report is not valid: {problem}")]
    ReportInvalid {
        /// Which key, what was expected.
        problem: String,
    },
    /// A Coach without an answer.
    #[error("the Coach's output does not end with a JSON object")]
    DecisionMissing,
    /// A Coach's answer of the wrong shape.
    #[error("the Coach's decision is not valid: {problem}")]
    DecisionInvalid {
        /// Which key, what was expected.
        problem: String,
    },
}
