//! Agents: a prompt goes in, an answer comes out.
//!
//! A [`Backend`] runs one agent on one checkout and reports facts; [`Backend::ask`] asks once more when an answer is
//! missing or has the wrong shape. Nothing here decides what an answer means, retries what failed otherwise, or looks at
//! what an agent changed.

mod access;
mod acp;
mod answer;
mod ask;
mod checkout_writer;
mod claude;
mod codex;
mod command;
mod definition;
mod ending;
mod fence;
mod journal;
mod json;
mod lines;
mod login;
mod means;
mod memory;
mod past;
mod private;
mod program;
pub mod prompt;
mod record;
mod schema;
mod script;
mod script_usage;
mod scripted;
mod session;
mod tells;

pub use access::{Access, Login};
pub use ask::Answered;
pub use definition::{Definition, DefinitionMistake, Definitions, Tool};
pub use journal::Activity;
pub use record::{Record, Replaced};
pub use script::ScriptMistake;

use crate::{
    agents::{
        acp::AcpAgent, answer::NoAnswer, claude::ClaudeAgent, codex::CodexAgent, command::CommandAgent, means::Means,
        program::how_to_install, prompt::Prompt, scripted::ScriptedAgent,
    },
    config::{AgentCommand, Role, Strength},
};
use domain::{
    blocked::AgentFailure,
    ids::{TaskId, TurnNumber},
    secret::Secrets,
};
use sandbox::{Sandbox, egress::Rules};
use serde_json::Value;
use std::{
    io,
    path::{Path, PathBuf},
    time::Duration,
};
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
struct Printed {
    /// Its answer, or why there is none.
    answer: Result<Value, NoAnswer>,
    /// What is known of the run.
    record: Record,
}

/// A way to run agents.
#[derive(Clone, Debug)]
pub struct Backend {
    kind: Kind,
    agent: AgentCommand,
    access: Access,
}

#[derive(Clone, Debug)]
enum Kind {
    Acp(AcpAgent),
    Claude(ClaudeAgent),
    Codex(CodexAgent),
    Command(CommandAgent),
    Scripted(ScriptedAgent),
}

impl Backend {
    /// Makes the back-end for a configured agent. `folder` is the service's own: below it are private homes of running
    /// agents (`runs`, may be emptied when none runs) and the memory of scripts (`scripts`, must be kept). `environment`
    /// names variables of the service that agents get, `access` says how their programs reach a model.
    #[must_use]
    pub fn new(
        agent: &AgentCommand,
        sandbox: &Sandbox,
        environment: &[String],
        folder: &Path,
        access: &Access,
    ) -> Self {
        let means = Means {
            sandbox: sandbox.clone(),
            environment: environment.to_vec(),
            runs: folder.join("runs"),
            access: access.clone(),
        };
        let kind = match agent {
            AgentCommand::Claude => Kind::Claude(ClaudeAgent::new(means)),
            AgentCommand::Codex => Kind::Codex(CodexAgent::new(means)),
            AgentCommand::Acp(command) => Kind::Acp(AcpAgent::new(command.clone(), means)),
            AgentCommand::Command(command) => Kind::Command(CommandAgent::new(command.clone(), means)),
            AgentCommand::Scripted(file) => Kind::Scripted(ScriptedAgent::new(file, folder.join("scripts"))),
        };
        Self {
            kind,
            agent: agent.clone(),
            access: access.clone(),
        }
    }

    /// Looks, before any work is done, for what would keep this agent from working: a program that is missing or too old,
    /// a key that is not set, a script with mistakes.
    ///
    /// # Errors
    ///
    /// What is wrong and how to mend it, for an operator.
    pub async fn check(&self) -> Result<(), String> {
        let found = match &self.kind {
            Kind::Acp(agent) => agent.check().await,
            Kind::Claude(agent) => agent.check().await,
            Kind::Codex(agent) => agent.check().await,
            Kind::Command(_) => Ok(()),
            Kind::Scripted(agent) => return agent.check(),
        };
        found.map_err(|failure| match &failure {
            AgentFailure::NotFound { program } | AgentFailure::TooOld { program, .. } => {
                format!("{failure}; {}", how_to_install(program))
            }
            _ => failure.to_string(),
        })
    }

    /// The model that this agent is to use, as its program names it: what a repository asks for, else the usual.
    #[must_use]
    pub fn model(&self, asked: Option<&str>, usual: Strength) -> Option<String> {
        self.access.models.name(&self.agent, asked, usual)
    }

    /// The model that this agent tries once where its own is not to be had.
    #[must_use]
    pub fn fallback_model(&self) -> Option<String> {
        self.access.models.fallback(&self.agent)
    }

    /// The word for what kind of agent this is.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        self.agent.kind()
    }

    /// Runs the agent once; `earlier` counts the runs of the same request before it.
    async fn run(&self, spec: &RunSpec, earlier: u32, cancel: &CancellationToken) -> Result<Printed, RunError> {
        match &self.kind {
            Kind::Acp(agent) => agent.run(spec, cancel).await,
            Kind::Claude(agent) => agent.run(spec, cancel).await,
            Kind::Codex(agent) => agent.run(spec, cancel).await,
            Kind::Command(agent) => agent.run(spec, cancel).await,
            Kind::Scripted(agent) => agent.run(spec, earlier).await,
        }
    }
}

/// The failure of a role without a usable answer.
fn no_answer(role: Role, why: NoAnswer) -> AgentFailure {
    match (role, why) {
        (Role::Coach, NoAnswer::Missing | NoAnswer::NotJson(_)) => AgentFailure::DecisionMissing,
        (Role::Coach, NoAnswer::Malformed(problem)) => AgentFailure::DecisionInvalid { problem },
        (Role::Planner | Role::Designer | Role::Player, NoAnswer::Missing | NoAnswer::NotJson(_)) => {
            AgentFailure::ReportMissing
        }
        (Role::Planner | Role::Designer | Role::Player, NoAnswer::Malformed(problem)) => {
            AgentFailure::ReportInvalid { problem }
        }
    }
}
