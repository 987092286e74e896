//! Converts the server's settings to agents, sandbox options and known secrets.

use crate::{
    agents::Access,
    cli::{assemble, assemble::Agents},
    config::{Allowance, Allowances, ServerSettings, join_mistakes},
};
use domain::isolation::Limits;
use sandbox::SandboxOptions;
use secrecy::SecretString;
use std::{collections::BTreeMap, path::PathBuf};

pub(super) fn known_secrets(settings: &ServerSettings) -> Vec<SecretString> {
    let apps = settings.app.iter();
    let app = apps.flat_map(|app| std::iter::once(&app.key.private_key).chain(&app.webhook_secrets));
    let coach = settings.coach_app.iter().map(|coach| &coach.private_key);
    let oauth = settings.oauth.iter().map(|client| &client.secret);
    let others = settings.admin_token.iter().chain([&settings.database_url]).chain(oauth);
    let mut all: Vec<SecretString> = app.chain(coach).chain(others).cloned().collect();
    all.extend(assemble::agents_secrets(&settings.agent_environment));
    all.extend(Access::service(settings.models.clone()).keys());
    all.extend(settings.uplink().proxy().iter().flat_map(|proxy| proxy.secrets()));
    all
}

pub(super) fn agents(settings: &ServerSettings) -> Agents {
    Agents {
        by_role: settings.agents.clone(),
        named: settings.named_agents.clone(),
        environment: settings.agent_environment.clone(),
        access: Access::service(settings.models.clone()),
        chosen_by: "AUTOBUILD_AGENT",
    }
}

/// Returns the options for running foreign programs, which see none of these files.
pub(super) fn sandbox(limits: Limits, secret_files: &[PathBuf]) -> SandboxOptions {
    SandboxOptions { limits, hidden: with_targets(secret_files), ..SandboxOptions::own_binary() }
}

/// Returns the paths, absolute, together with the targets of links among them.
fn with_targets(files: &[PathBuf]) -> Vec<PathBuf> {
    let both = files.iter().flat_map(|file| [std::path::absolute(file).ok(), file.canonicalize().ok()]);
    both.flatten().collect()
}

/// Returns the allowances of the `AUTOBUILD_…` variables, for a command without its own settings.
pub(super) fn own_allowances() -> anyhow::Result<Allowances> {
    let usual = Allowance::of_process().map_err(|mistakes| anyhow::anyhow!(join_mistakes(&mistakes, "\n")))?;
    let own = BTreeMap::new();
    Ok(Allowances { usual, own })
}
