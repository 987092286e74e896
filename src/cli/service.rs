//! Converts the server's settings to agents, sandbox options and known secrets.

use crate::{
    agents::Access,
    cli::{
        assemble,
        assemble::{Agents, ChosenBy},
    },
    config::{RepositorySettings, Role, ServerSettings},
};
use sandbox::SandboxOptions;
use secrecy::SecretString;

/// Returns every secret in the settings.
pub(super) fn known_secrets(settings: &ServerSettings) -> Vec<SecretString> {
    let app = settings.app.iter().flat_map(|app| {
        [&app.private_key, &app.webhook_secret]
            .into_iter()
            .chain(&app.previous_webhook_secret)
    });
    let coach = settings.coach_app.iter().map(|coach| &coach.private_key);
    let oauth = settings.oauth.iter().map(|client| &client.secret);
    let others = settings.admin_token.iter().chain([&settings.database_url]).chain(oauth);
    let mut all: Vec<SecretString> = app.chain(coach).chain(others).cloned().collect();
    all.extend(assemble::agents_secrets(&settings.agent_environment));
    all.extend(Access::service(settings.models.clone()).keys());
    all
}

/// Returns the agents of all roles.
pub(super) fn agents(settings: &ServerSettings) -> Agents {
    let any = RepositorySettings::default();
    let agent = |role| settings.agent(role, &any).clone();
    Agents {
        planner: agent(Role::Planner),
        designer: agent(Role::Designer),
        player: agent(Role::Player),
        coach: agent(Role::Coach),
        named: settings.named_agents.clone(),
        environment: settings.agent_environment.clone(),
        access: Access::service(settings.models.clone()),
        chosen_by: ChosenBy::Setting,
    }
}

/// Returns the options for running foreign programs.
pub(super) fn sandbox(settings: &ServerSettings) -> SandboxOptions {
    SandboxOptions {
        limits: settings.sandbox.limits,
        ..SandboxOptions::own_binary()
    }
}
