//! The back-ends: the kinds of agents, and the run of one of them.

use crate::{
    agents::{
        access::Access,
        acp::AcpAgent,
        claude::ClaudeAgent,
        codex::CodexAgent,
        command::CommandAgent,
        run::{RunContext, RunError, RunSpec, UncheckedRun},
        scripted::ScriptedAgent,
    },
    config::{AgentCommand, ModelWords, Strength},
    messages,
};
use domain::{blocked::Failure, budget::CostReporting};
use sandbox::Sandbox;
use std::path::Path;
use tokio_util::sync::CancellationToken;

/// A way to run agents.
#[derive(Clone, Debug)]
pub struct Backend {
    pub(super) kind: BackendKind,
    pub(super) agent: AgentCommand,
}

#[derive(Clone, Debug)]
pub(super) enum BackendKind {
    Acp(AcpAgent),
    Claude(ClaudeAgent),
    Codex(CodexAgent),
    Command(CommandAgent),
    Scripted(ScriptedAgent),
}

impl Backend {
    /// Makes the back-end for a configured agent. `folder` is the service's own. Below it are the private homes of
    /// running agents (`runs`, which may be emptied when none runs) and the memory of scripts (`scripts`, which must be
    /// kept). `environment` lists the service's variables that agents get. `access` says how their programs reach a
    /// model.
    pub fn new(
        agent: &AgentCommand,
        sandbox: &Sandbox,
        environment: &[String],
        folder: &Path,
        access: &Access,
    ) -> Self {
        let context = RunContext {
            sandbox: sandbox.clone(),
            environment: environment.to_vec(),
            runs: folder.join("runs"),
            access: access.clone(),
        };
        let kind = match agent {
            AgentCommand::Claude => BackendKind::Claude(ClaudeAgent::new(context)),
            AgentCommand::Codex => BackendKind::Codex(CodexAgent::new(context)),
            AgentCommand::Acp(command) => BackendKind::Acp(AcpAgent::new(command.clone(), context)),
            AgentCommand::Command(command) => BackendKind::Command(CommandAgent::new(command.clone(), context)),
            AgentCommand::Scripted(file) => BackendKind::Scripted(ScriptedAgent::new(file, folder.join("scripts"))),
        };
        Self { kind, agent: agent.clone() }
    }

    /// Checks, before any work is done, that nothing keeps this agent from working: a missing or outdated program, a
    /// missing key, or a script with mistakes.
    pub async fn check(&self) -> Result<(), String> {
        let found = match &self.kind {
            BackendKind::Acp(agent) => agent.check().await,
            BackendKind::Claude(agent) => agent.check().await,
            BackendKind::Codex(agent) => agent.check().await,
            BackendKind::Command(agent) => agent.check(),
            BackendKind::Scripted(agent) => return agent.check(),
        };
        found.map_err(|failure| {
            if let Failure::NoAgentProgram { program } | Failure::TooOld { program, .. } = &failure {
                format!("{failure}; {}", messages::how_to_install(program))
            } else {
                failure.to_string()
            }
        })
    }

    /// Returns the model for this agent, as its program names it: the one that a repository asks for, or else the usual
    /// one.
    pub fn model(&self, words: &ModelWords, asked: Option<&str>, usual: Strength) -> Option<String> {
        words.name(&self.agent, asked, usual)
    }

    /// Returns the model that this agent tries once if its own is not available.
    pub fn fallback_model(&self, words: &ModelWords) -> Option<String> {
        words.fallback(&self.agent)
    }

    /// Returns the usage that its runs report.
    pub fn cost_reporting(&self) -> CostReporting {
        match &self.kind {
            BackendKind::Acp(_) | BackendKind::Claude(_) | BackendKind::Codex(_) => CostReporting::Cost,
            BackendKind::Command(_) => CostReporting::Nothing,
            BackendKind::Scripted(agent) => agent.cost_reporting(),
        }
    }

    pub fn kind(&self) -> &'static str {
        self.agent.kind()
    }

    /// Runs the agent once. `earlier` is the number of earlier runs of the same request.
    pub(super) async fn run(
        &self,
        spec: &RunSpec,
        earlier: u32,
        cancel: &CancellationToken,
    ) -> Result<UncheckedRun, RunError> {
        match &self.kind {
            BackendKind::Acp(agent) => agent.run(spec, cancel).await,
            BackendKind::Claude(agent) => agent.run(spec, cancel).await,
            BackendKind::Codex(agent) => agent.run(spec, cancel).await,
            BackendKind::Command(agent) => agent.run(spec, cancel).await,
            BackendKind::Scripted(agent) => agent.run(spec, earlier).await,
        }
    }
}
