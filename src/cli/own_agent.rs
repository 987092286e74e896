//! The agent of the commands on one's own repository.

use crate::config::AgentCommand;
use anyhow::Context;

/// Programs that are looked for where no agent is named, in this order.
const AGENTS: [&str; 2] = ["claude", "codex"];

/// The agent that is named, else set, else installed.
pub(super) fn agent(named: Option<&str>) -> anyhow::Result<AgentCommand> {
    const VARIABLE: &str = "AUTOBUILD_AGENT";
    let set = std::env::var(VARIABLE).ok().filter(|agent| !agent.trim().is_empty());
    let agent: AgentCommand = match (named, &set) {
        (Some(named), _) => named.parse().context("--agent")?,
        (None, Some(set)) => set.parse().context(VARIABLE)?,
        (None, None) => {
            let folders = std::env::var_os("PATH").unwrap_or_default();
            let is_there = |name: &&str| std::env::split_paths(&folders).any(|folder| folder.join(name).is_file());
            let found = AGENTS.into_iter().find(|name| is_there(name));
            let none = format!(
                "no agent is installed: {} were looked for. Name one with --agent claude, codex, acp:<command>, \
                 command:<command> or scripted:<file>",
                AGENTS.join(" and ")
            );
            found.context(none)?.parse()?
        }
    };
    Ok(match agent {
        AgentCommand::Scripted(file) => {
            let whole = file.canonicalize();
            AgentCommand::Scripted(whole.with_context(|| format!("--agent scripted:{}", file.display()))?)
        }
        AgentCommand::Claude | AgentCommand::Codex | AgentCommand::Acp(_) | AgentCommand::Command(_) => agent,
    })
}
