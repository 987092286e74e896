//! One run of an agent: its request, its output, and the reasons for having no answer.

use crate::{
    agents::{
        access::Access,
        answer::AgentAnswer,
        journal::{Activity, Journal},
        outcome::or_not_started,
        prompt::Prompt,
        record::Record,
        session,
        session::{InputMode, Listener, SessionEnd, SilenceLimits},
    },
    config::Role,
};
use domain::{
    blocked::Failure,
    ids::{TaskId, TurnNumber},
};
use sandbox::{OutputCap, Sandbox, Spec, egress::Rules};
use serde_json::Value;
use std::{io, path::PathBuf, time::Duration};
use text::secret::Secrets;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

#[derive(Clone, Debug)]
pub struct RunSpec {
    pub role: Role,
    /// The task that it works on; `None` for a planner.
    pub task: Option<TaskId>,
    /// The turn; the first one for an agent without turns.
    pub turn: TurnNumber,
    pub checkout: PathBuf,
    /// The folder from which the checkout borrows its objects.
    pub objects: Option<PathBuf>,
    pub prompt: Prompt,
    pub schema: Value,
    /// The time after which it is stopped.
    pub deadline: Duration,
    /// The time without output after which it is stopped; `None` for the usual limit.
    pub idle: Option<Duration>,
    /// The model to use, as its provider names it; `None` lets the program choose.
    pub model: Option<String>,
    /// The model to try once if that one is not available.
    pub fallback_model: Option<String>,
    /// The most calls of its model in one run.
    pub agent_turns: u32,
    /// The money that the program should not exceed, in millionths of a US dollar; `None` for no limit.
    pub usd_micros: Option<u64>,
    /// The money after which the proxy refuses further calls, in millionths of a US dollar; `None` for no limit.
    pub most_usd_micros: Option<u64>,
    /// The most tokens of every kind for one run; `None` for no limit. The program does not know it. It is checked
    /// before the agent is asked once more.
    pub tokens: Option<u64>,
    /// The most time for all runs of the request together; `None` for no limit.
    pub time: Option<Duration>,
    /// The hosts that it may reach besides its model.
    pub network: Rules,
    /// Receives the agent's activity.
    pub activity: Option<watch::Sender<Activity>>,
    pub secrets: Secrets,
    /// The part of `run_key` that all attempts at the same work share: `run_key` begins with it and a slash.
    pub request: String,
    /// The key that stays the same if this run is repeated after a crash.
    pub run_key: String,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The agent failed. This uses up no turn.
    #[error("{failure}")]
    Agent { failure: Failure, record: Box<Record> },
    /// The caller cancelled.
    #[error("the run was cancelled")]
    Cancelled { record: Box<Record> },
    /// The service itself could not run it.
    #[error("running an agent: {doing}")]
    Host { doing: &'static str, source: io::Error },
}

/// The result of a run, before it is checked for a valid answer.
#[derive(Debug)]
pub(super) struct UncheckedRun {
    pub(super) answer: AgentAnswer,
    /// The agent's last words, which may contain its answer.
    pub(super) words: String,
    pub(super) record: Record,
}

/// The number of bytes of output after which an agent is stopped.
const MOST_OUTPUT: u64 = 256 << 20;
const KEPT_OUTPUT: usize = 16 << 10;
/// The time between asking a program to end and killing it.
const GRACE: Duration = Duration::from_secs(5);
/// The longest silence while the model works. Programs themselves notice a stalled model only after five minutes.
const MODEL: Duration = Duration::from_secs(330);
/// The longest time that one command of an agent may take.
pub(crate) const COMMAND: Duration = Duration::from_secs(10 * 60);

/// Environment variables for the agents' programs, the same for every run.
pub(crate) const FIXED: [(&str, &str); 8] = [
    // A prompt contains texts of other people. `@/etc/passwd` in it must not become that file's content.
    ("CLAUDE_CODE_DISABLE_ATTACHMENTS", "1"),
    ("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS", "1"),
    // These instructions are about commits and pull requests, which no agent makes here. They cost 1,800 tokens per
    // request.
    ("CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS", "1"),
    ("CLAUDE_CODE_MAX_RETRIES", "3"),
    ("DISABLE_AUTOUPDATER", "1"),
    ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
    ("DISABLE_TELEMETRY", "1"),
    ("DISABLE_ERROR_REPORTING", "1"),
];

/// The settings that every back-end gets.
#[derive(Clone, Debug)]
pub(crate) struct RunContext {
    /// Starts the foreign programs.
    pub(crate) sandbox: Sandbox,
    /// The service's variables that agents get.
    pub(crate) environment: Vec<String>,
    /// The folder for the private folders of running agents.
    pub(crate) runs: PathBuf,
    /// How programs reach their models.
    pub(crate) access: Access,
}

/// A program that prints lines, and the way in which it is heard.
pub(crate) struct Conversation<'a> {
    pub(crate) program: &'a str,
    pub(crate) order: &'a Spec,
    pub(crate) spec: &'a RunSpec,
    pub(crate) input_mode: InputMode,
    /// The time that it may take from its last line to its end.
    pub(crate) last: Duration,
}

impl RunContext {
    /// Runs a program that prints lines, and passes every line to `listener`.
    pub(crate) async fn run_program(
        &self,
        conversation: &Conversation<'_>,
        listener: &mut dyn Listener,
        journal: &mut Journal,
        cancel: &CancellationToken,
    ) -> Result<SessionEnd, RunError> {
        let Conversation { program, order, spec, input_mode, last } = *conversation;
        let model = spec.idle.map_or(MODEL, |idle| idle.min(MODEL));
        let patience = SilenceLimits { model, tool: model.max(COMMAND.saturating_add(Duration::from_secs(60))), last };
        let ended = session::run(&self.sandbox, order, input_mode, patience, listener, journal, cancel).await;
        or_not_started(ended, program)
    }
}

/// Sets the limits on time and output of `order`.
pub(crate) fn limit(order: &mut Spec, spec: &RunSpec) {
    order.deadline = spec.deadline;
    order.grace = GRACE;
    order.stdout = OutputCap { head: KEPT_OUTPUT, tail: KEPT_OUTPUT, stop_after: Some(MOST_OUTPUT) };
    order.stderr = order.stdout;
    order.env.extend(FIXED.map(|(name, value)| (name.into(), value.into())));
}
