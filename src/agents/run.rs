//! One run of an agent: what is asked, what it printed, why there is no answer.

use crate::{
    agents::{answer::NoAnswer, journal::Activity, prompt::Prompt, record::Record},
    config::Role,
};
use domain::{
    blocked::AgentFailure,
    ids::{TaskId, TurnNumber},
    secret::Secrets,
};
use sandbox::egress::Rules;
use serde_json::Value;
use std::{io, path::PathBuf, time::Duration};
use tokio::sync::watch;

/// One run of an agent.
#[derive(Clone, Debug)]
pub struct RunSpec {
    /// Who it is in the loop.
    pub role: Role,
    /// The task it works on; a planner has none.
    pub task: Option<TaskId>,
    /// Which turn; the first for who has none.
    pub turn: TurnNumber,
    /// Where it works.
    pub checkout: PathBuf,
    /// Where the checkout borrows its objects.
    pub objects: Option<PathBuf>,
    /// What it is told.
    pub prompt: Prompt,
    /// JSON Schema of its answer.
    pub schema: Value,
    /// When it is stopped.
    pub deadline: Duration,
    /// When it is stopped because it says nothing.
    pub idle: Option<Duration>,
    /// The model to use, as its provider names it; the program's own choice where there is none.
    pub model: Option<String>,
    /// The model to try once where that one is not to be had.
    pub fallback_model: Option<String>,
    /// The most calls of its model in one run.
    pub agent_turns: u32,
    /// The most money for one run, in millionths of a US dollar; `None` for no limit.
    pub usd_micros: Option<u64>,
    /// The most tokens of every kind for one run; `None` for no limit. No program is told: it is looked at before it is
    /// asked once more.
    pub tokens: Option<u64>,
    /// The most time of all runs of the request together; `None` for no limit.
    pub time: Option<Duration>,
    /// What it may reach besides its model.
    pub network: Rules,
    /// Who is told what it is doing.
    pub activity: Option<watch::Sender<Activity>>,
    /// What no text of it may show.
    pub secrets: Secrets,
    /// What makes this the same run when it is done again after a crash.
    pub run_key: String,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The agent's failure; it uses up no turn.
    #[error("{failure}")]
    Agent {
        /// How it failed.
        failure: AgentFailure,
        /// What is known of the run all the same.
        record: Box<Record>,
    },
    /// The caller cancelled.
    #[error("the run was cancelled")]
    Cancelled {
        /// What is known of the run all the same.
        record: Box<Record>,
    },
    /// The service itself could not run it.
    #[error("running an agent: {doing}")]
    Host {
        /// What was being done.
        doing: &'static str,
        /// What the system said.
        source: io::Error,
    },
}

/// What a run printed, before anyone looked whether it is a valid answer.
#[derive(Debug)]
pub(super) struct Printed {
    /// Its answer, or why there is none.
    pub(super) answer: Result<Value, NoAnswer>,
    /// What is known of the run.
    pub(super) record: Record,
}
