//! One run of an agent: what is asked, what it printed, why there is no answer.

use crate::{
    agents::{
        access::Access,
        answer::NoAnswer,
        journal::{Activity, Journal},
        outcome::started,
        prompt::Prompt,
        record::Record,
        session,
        session::{Ended, Listener, Patience, Speech},
    },
    config::Role,
};
use domain::{
    blocked::AgentFailure,
    ids::{TaskId, TurnNumber},
    secret::Secrets,
};
use sandbox::{OutputCap, Sandbox, Spec, egress::Rules};
use serde_json::Value;
use std::{io, path::PathBuf, time::Duration};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

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
    /// The money within which the program is told to stay, in millionths of a US dollar; `None` for no limit.
    pub usd_micros: Option<u64>,
    /// The money at which the proxy passes no more calls, in millionths of a US dollar; `None` for no limit.
    pub most_usd_micros: Option<u64>,
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
    /// What every try of the same work has in common: `run_key` begins with it and a slash.
    pub request: String,
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

/// An agent that prints more than this is stopped.
const MOST_OUTPUT: u64 = 256 << 20;
const KEPT_OUTPUT: usize = 16 << 10;
/// From being asked to end to being killed.
const GRACE: Duration = Duration::from_secs(5);
/// How long a program may be silent while its model works: programs notice a stalled one only after five minutes.
const MODEL: Duration = Duration::from_secs(330);
/// The longest that one command of an agent may take.
pub(crate) const COMMAND: Duration = Duration::from_secs(10 * 60);

/// Variables that agents' programs know, the same for every run.
pub(crate) const FIXED: [(&str, &str); 8] = [
    // A prompt holds words of others and is words alone: `@/etc/passwd` in it must not become that file's content.
    ("CLAUDE_CODE_DISABLE_ATTACHMENTS", "1"),
    ("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS", "1"),
    // How to commit and to open pull requests, which no agent does here: 1,800 tokens of every request.
    ("CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS", "1"),
    ("CLAUDE_CODE_MAX_RETRIES", "3"),
    ("DISABLE_AUTOUPDATER", "1"),
    ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
    ("DISABLE_TELEMETRY", "1"),
    ("DISABLE_ERROR_REPORTING", "1"),
];

/// What a back-end is given.
#[derive(Clone, Debug)]
pub(crate) struct RunContext {
    /// The one door for foreign programs.
    pub(crate) sandbox: Sandbox,
    /// Variables of the service that agents get.
    pub(crate) environment: Vec<String>,
    /// Where private folders of running agents are.
    pub(crate) runs: PathBuf,
    /// How programs reach their models.
    pub(crate) access: Access,
}

impl RunContext {
    /// Runs a program that speaks in lines and lets `listener` hear every line. `last` is what it may take from its last
    /// word to its end.
    pub(crate) async fn hear(
        &self,
        (program, order, spec): (&str, &Spec, &RunSpec),
        (speech, last): (Speech, Duration),
        (listener, journal): (&mut dyn Listener, &mut Journal),
        cancel: &CancellationToken,
    ) -> Result<Ended, RunError> {
        let model = spec.idle.map_or(MODEL, |idle| idle.min(MODEL));
        let patience = Patience {
            model,
            tool: model.max(COMMAND.saturating_add(Duration::from_secs(60))),
            last,
        };
        let ended = session::run(&self.sandbox, order, speech, patience, (listener, journal), cancel).await;
        started(ended, program)
    }
}

/// Sets what `order` may take and print.
pub(crate) fn limit(order: &mut Spec, spec: &RunSpec) {
    order.deadline = spec.deadline;
    order.grace = GRACE;
    order.stdout = OutputCap {
        head: KEPT_OUTPUT,
        tail: KEPT_OUTPUT,
        stop_after: Some(MOST_OUTPUT),
    };
    order.stderr = order.stdout;
    order.env.extend(FIXED.map(|(name, value)| (name.into(), value.into())));
}
