//! The models for commands: settings from the environment, or else the log-in of the person.

use crate::{
    agents::{Access, Login, PersonLogin},
    cli::assemble::clock,
    config::{AgentCommand, ModelApi, ModelSettings, join_mistakes},
};
use secrecy::SecretString;
use std::sync::Arc;

/// Returns how `agent` of a command reaches its models; `None` is the sample's. `AUTOBUILD_…` variables come first; the
/// providers' own variables fill in a missing address or key. None of these variables enters an agent's run.
pub(super) fn access(use_my_login: bool, agent: Option<&AgentCommand>) -> anyhow::Result<Access> {
    let mut models = ModelSettings::of_process().map_err(|mistakes| anyhow::anyhow!(join_mistakes(&mistakes, "\n")))?;
    let calls_by_door = match agent {
        Some(AgentCommand::Claude | AgentCommand::Codex | AgentCommand::Acp(_)) => true,
        Some(AgentCommand::Command(_) | AgentCommand::Scripted(_)) | None => false,
    };
    let login = match (use_my_login, calls_by_door) {
        (false, _) => Login::Service,
        (true, false) => {
            eprintln!(
                "autobuild: --use-my-login lends your log-in to Claude Code, Codex and their adapters alone. This agent gets \
                 nothing"
            );
            Login::Service
        }
        (true, true) => {
            eprintln!(
                "autobuild: the agents call their models with your own log-in of Claude Code or Codex (--use-my-login). \
                 AutoBuild adds it to their calls: they see neither it nor your settings and history"
            );
            Login::Person(PersonLogin::of_process(clock))
        }
    };
    let own = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    adopt(&mut models.anthropic, own("ANTHROPIC_BASE_URL"), own("ANTHROPIC_API_KEY"), &login);
    adopt(&mut models.openai, own("OPENAI_BASE_URL"), own("OPENAI_API_KEY"), &login);
    Ok(Access { models: Arc::new(models), login })
}

/// Fills in the address and the key of the shell, unless the settings name one. A lent log-in knows its own address.
fn adopt(api: &mut ModelApi, address: Option<String>, key: Option<String>, login: &Login) {
    let is_lent = matches!(login, Login::Person(_)) && key.is_none();
    if api.url.is_some() || api.key.is_some() || is_lent {
        return;
    }
    api.url = address.and_then(|address| crate::config::safe_address(&address).ok());
    api.key = key.map(SecretString::from);
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::ids::Millis;

    #[test]
    fn the_address_of_a_gateway_takes_no_log_in_away() {
        let person = Login::Person(PersonLogin::new([], || Millis(0)));
        for (login, key, adopted) in
            [(&Login::Service, None, true), (&person, None, false), (&person, Some("k".to_owned()), true)]
        {
            let mut api = ModelApi::default();
            adopt(&mut api, Some("https://gate.test/".to_owned()), key, login);
            assert_eq!(api.url.is_some(), adopted, "{login:?}");
        }
    }
}
