//! The models for commands: settings from the environment, or else the log-in of the person.

use crate::{
    agents::{Access, Login, PersonLogin},
    cli::assemble::clock,
    config::{ModelApi, ModelSettings, join_mistakes},
};
use secrecy::SecretString;
use std::sync::Arc;

/// Returns how agents of a command reach their models. `AUTOBUILD_…` variables come first; the providers' own variables
/// fill in a missing address or key. None of these variables enters an agent's run.
pub(super) fn access(use_my_login: bool) -> anyhow::Result<Access> {
    let mut models = ModelSettings::of_process().map_err(|mistakes| anyhow::anyhow!(join_mistakes(&mistakes, "\n")))?;
    adopt(&mut models.anthropic, "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY");
    adopt(&mut models.openai, "OPENAI_BASE_URL", "OPENAI_API_KEY");
    let login = if use_my_login {
        eprintln!(
            "autobuild: the agents call their models with your own log-in of Claude Code or Codex (--use-my-login). AutoBuild \
             adds it to their calls: they see neither it nor your settings and history"
        );
        Login::Person(PersonLogin::of_process(clock))
    } else {
        Login::Service
    };
    Ok(Access { models: Arc::new(models), login })
}

fn adopt(api: &mut ModelApi, address: &str, key: &str) {
    let own = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    if api.url.is_some() || api.key.is_some() {
        return;
    }
    api.url = own(address).and_then(|address| crate::config::safe_address(&address).ok());
    api.key = own(key).map(SecretString::from);
}
