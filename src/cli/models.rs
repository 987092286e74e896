//! The models for commands: settings from the environment, or else the log-in of the person.

use crate::{
    agents::{Access, Login, PersonLogin, Provider},
    cli::assemble::clock,
    config::{AgentCommand, ModelApi, ModelSettings, join_mistakes},
};
use domain::blocked::LoginProblem;
use secrecy::SecretString;
use std::sync::Arc;

/// Returns how `agent` of a command reaches its models; `None` is the sample's. `AUTOBUILD_…` variables come first; the
/// providers' own variables fill in a missing address or key. None of these variables enters an agent's run.
pub(super) fn access(use_my_login: bool, agent: Option<&AgentCommand>) -> anyhow::Result<Access> {
    let mut models = ModelSettings::of_process().map_err(|mistakes| anyhow::anyhow!(join_mistakes(&mistakes, "\n")))?;
    let login = if !use_my_login {
        Login::Service
    } else if agent.is_some_and(borrows) {
        eprintln!(
            "autobuild: the agents call their models with your own log-in of Claude Code or Codex (--use-my-login). AutoBuild \
             adds it to their calls: they see neither it nor your settings and history"
        );
        Login::Person(PersonLogin::of_process(clock))
    } else {
        eprintln!(
            "autobuild: --use-my-login lends your log-in to Claude Code, Codex and their adapters alone. This agent gets nothing"
        );
        Login::Service
    };
    let own = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    let [anthropic, openai] = [Provider::Anthropic, Provider::OpenAi].map(|provider| lends(&login, provider));
    adopt(&mut models.anthropic, own("ANTHROPIC_BASE_URL"), own("ANTHROPIC_API_KEY"), anthropic);
    adopt(&mut models.openai, own("OPENAI_BASE_URL"), own("OPENAI_API_KEY"), openai);
    Ok(Access { models: Arc::new(models), login })
}

/// The adapters of Claude Code and Codex for the Agent Client Protocol.
const ADAPTERS: [&str; 3] = ["claude-agent-acp", "claude-code-acp", "codex-acp"];

/// `true` for an agent to which a log-in is lent: Claude Code, Codex, and their adapters, also behind `npx`.
fn borrows(agent: &AgentCommand) -> bool {
    let is_adapter = |word: &str| word.split(['/', '@']).any(|part| ADAPTERS.contains(&part));
    match agent {
        AgentCommand::Claude | AgentCommand::Codex => true,
        AgentCommand::Acp(command) => is_adapter(command.program()) || command.args().iter().any(|arg| is_adapter(arg)),
        AgentCommand::Command(_) | AgentCommand::Scripted(_) => false,
    }
}

/// `true` if the person has an account with the provider. It knows its own address.
fn lends(login: &Login, provider: Provider) -> bool {
    match login {
        Login::Person(login) => login.account(provider).err() != Some(LoginProblem::Missing),
        Login::Service => false,
    }
}

/// Fills in the address and the key of the shell, unless the settings name one or a log-in `is_lent` in place of a key.
fn adopt(api: &mut ModelApi, address: Option<String>, key: Option<String>, is_lent: bool) {
    if api.url.is_some() || api.key.is_some() || is_lent && key.is_none() {
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
    fn the_address_of_a_gateway_takes_no_log_in_away_and_needs_none() {
        let nobody = Login::Person(PersonLogin::new([("HOME".to_owned(), "/nowhere".to_owned())], || Millis(0)));
        let token = ("ANTHROPIC_AUTH_TOKEN".to_owned(), "t".to_owned());
        let home = ("HOME".to_owned(), "/nowhere".to_owned());
        let person = Login::Person(PersonLogin::new([home, token], || Millis(0)));
        for (login, key, adopted) in [
            (&Login::Service, None, true),
            (&nobody, None, true),
            (&person, None, false),
            (&person, Some("k".to_owned()), true),
        ] {
            let mut api = ModelApi::default();
            adopt(&mut api, Some("https://gate.test/".to_owned()), key, lends(login, Provider::Anthropic));
            assert_eq!(api.url.is_some(), adopted, "{login:?}");
        }
    }

    #[test]
    fn a_log_in_is_lent_to_the_programs_that_have_one() {
        for (agent, expected) in [
            ("claude", true),
            ("codex", true),
            ("acp:claude-agent-acp", true),
            ("acp:npx -y @zed-industries/claude-code-acp@0.5", true),
            ("acp:/opt/codex-acp --x", true),
            ("acp:gemini --experimental-acp", false),
            ("command:claude", false),
        ] {
            assert_eq!(borrows(&agent.parse().unwrap()), expected, "{agent}");
        }
    }
}
