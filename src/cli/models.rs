//! The models of a command line: settings of the environment, else the log-in of whoever started it.

use crate::{
    agents::{Access, Login},
    config::{ModelApi, ModelSettings},
};
use secrecy::SecretString;
use std::sync::Arc;

/// How agents of a command line reach their models. What `AUTOBUILD_…` variables say counts; where they say nothing, the
/// providers' own variables name address and key, which enter no run either way.
pub(super) fn access(use_my_login: bool) -> anyhow::Result<Access> {
    let mut models = ModelSettings::of_process().map_err(|mistakes| {
        let lines: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
        anyhow::anyhow!(lines.join("\n"))
    })?;
    adopt(&mut models.anthropic, "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY");
    adopt(&mut models.openai, "OPENAI_BASE_URL", "OPENAI_API_KEY");
    let login = match use_my_login {
        true => {
            eprintln!(
                "autobuild: the agents use your own log-in and settings (--use-my-login): whatever they run can read both"
            );
            Login::Host
        }
        false => Login::Service,
    };
    Ok(Access {
        models: Arc::new(models),
        login,
    })
}

fn adopt(api: &mut ModelApi, address: &str, key: &str) {
    let own = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    if api.url.is_some() || api.key.is_some() {
        return;
    }
    api.url = own(address).and_then(|address| crate::config::safe_address(&address).ok());
    api.key = own(key).map(SecretString::from);
}
