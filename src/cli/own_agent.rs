//! The agent of the commands on a person's own repository.

use crate::{
    config::{AgentCommand, KNOWN_AGENTS},
    gates::is_installed,
};
use anyhow::Context;
use std::path::Path;
use text::command_line::CommandLine;

/// The programs that are looked for if no agent is named, in this order.
const AGENTS: [&str; 2] = ["claude", "codex"];

/// The variables that may hold a key, which the log never shows.
pub(super) const KEYS: [&str; 4] =
    ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "AUTOBUILD_ANTHROPIC_API_KEY", "AUTOBUILD_OPENAI_API_KEY"];

const VARIABLE: &str = "AUTOBUILD_AGENT";

/// Returns the agent that is named, else set in the environment, else installed.
pub(super) fn agent(named: Option<&str>) -> anyhow::Result<AgentCommand> {
    match choose_agent(named)? {
        Some(agent) => Ok(agent),
        None => installed(),
    }
}

pub(super) fn choose_agent(named: Option<&str>) -> anyhow::Result<Option<AgentCommand>> {
    let set = std::env::var(VARIABLE).ok().filter(|agent| !agent.trim().is_empty());
    let agent: AgentCommand = match (named, &set) {
        (Some(named), _) => named.parse().context("--agent")?,
        (None, Some(set)) => set.parse().context(VARIABLE)?,
        (None, None) => return Ok(None),
    };
    Ok(Some(match agent {
        AgentCommand::Scripted(file) => {
            let whole = file.canonicalize();
            AgentCommand::Scripted(whole.with_context(|| format!("the agent scripted:{}", file.display()))?)
        }
        AgentCommand::Acp(command) => AgentCommand::Acp(from_anywhere(command)?),
        AgentCommand::Command(command) => AgentCommand::Command(from_anywhere(command)?),
        AgentCommand::Claude | AgentCommand::Codex => agent,
    }))
}

fn installed() -> anyhow::Result<AgentCommand> {
    let found = AGENTS.into_iter().find(|name| is_installed(name));
    let none = format!(
        "no agent is installed: {} were looked for. Install one, or name another with {VARIABLE} or the option --agent of \
         `run`: {KNOWN_AGENTS}",
        AGENTS.join(" and ")
    );
    Ok(found.context(none)?.parse()?)
}

/// Makes the program's path absolute, so that the order can be resumed from another folder.
fn from_anywhere(command: CommandLine) -> anyhow::Result<CommandLine> {
    let program = Path::new(command.program());
    if program.is_absolute() || program.components().count() < 2 {
        return Ok(command);
    }
    let whole = program.canonicalize().with_context(|| format!("the agent {}", command.program()))?;
    let words = std::iter::once(whole.to_string_lossy().into_owned()).chain(command.args().iter().cloned());
    Ok(shell_words::join(words).parse()?)
}
