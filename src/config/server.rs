//! What the server is given: addresses, credentials, agents.

use crate::config::{
    agent::AgentCommand,
    budgets::MonthlyBudget,
    github_address::GithubAddress,
    models::ModelSettings,
    network::NetworkCeiling,
    repository::RepositorySettings,
    role::Role,
    server_parse::Parser,
    server_sandbox::SandboxSettings,
    variables::{Found, Given, ServerMistake},
};
use domain::ids::AppId;
use secrecy::SecretString;
use std::{collections::BTreeMap, net::SocketAddr, path::PathBuf, time::Duration};
use url::Url;

/// Settings of the server, complete and checked.
#[derive(Clone, Debug)]
pub struct ServerSettings {
    /// Address of the HTTP server.
    pub listen: SocketAddr,
    /// `sqlite:…` or `postgres://…`; it may hold a password.
    pub database_url: SecretString,
    /// Folder of database, mirrors and checkouts.
    pub data_dir: PathBuf,
    /// Where GitHub is.
    pub github: GithubAddress,
    /// The AutoBuild App; `None` before it exists.
    pub app: Option<App>,
    /// The Coach App.
    pub coach_app: Option<CoachApp>,
    /// Where the Apps are from.
    pub apps_from: AppsFrom,
    /// By what people sign in with the AutoBuild App.
    pub oauth: Option<OAuthClient>,
    /// Where GitHub and browsers reach the service, where somebody said so.
    pub public_url: Option<Url>,
    /// Least time between writes to GitHub per installation.
    pub write_spacing: Duration,
    /// What may be spent in a calendar month.
    pub budget: MonthlyBudget,
    /// The most that foreign programs may reach.
    pub network: NetworkCeiling,
    /// Opens the pages and `/metrics`; `None` to make one at start.
    pub admin_token: Option<SecretString>,
    /// Filter of the log, as `tracing` reads it.
    pub log: String,
    /// How log lines look.
    pub log_format: LogFormat,
    /// How far agents and Gates are kept apart from the machine, and what they may use up.
    pub sandbox: SandboxSettings,
    /// Names of further variables that agents get from the server's environment.
    pub agent_environment: Vec<String>,
    /// Models: addresses, keys, names.
    pub models: ModelSettings,
    /// The agent of each role.
    pub(crate) agents: BTreeMap<Role, AgentCommand>,
    /// The agents that repositories may name.
    pub(crate) named_agents: BTreeMap<String, AgentCommand>,
}

/// Where credentials of Apps come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AppsFrom {
    /// Flags, the environment or the settings file.
    Settings,
    /// The set-up, which keeps them in the data folder, or will.
    SetUp,
}

/// By what people sign in with an App.
#[derive(Clone, Debug)]
pub struct OAuthClient {
    /// Its client id.
    pub id: String,
    /// Its client secret.
    pub secret: SecretString,
}

/// Credentials of the AutoBuild App.
#[derive(Clone, Debug)]
pub struct App {
    /// Its id.
    pub id: AppId,
    /// Its key, as PEM.
    pub private_key: SecretString,
    /// What its webhooks are signed with.
    pub webhook_secret: SecretString,
    /// What they were signed with before, during a change.
    pub previous_webhook_secret: Option<SecretString>,
}

/// Credentials of the Coach App.
#[derive(Clone, Debug)]
pub struct CoachApp {
    /// Its id.
    pub id: AppId,
    /// Its key, as PEM.
    pub private_key: SecretString,
}

/// How log lines look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One object per line.
    Json,
}

impl ServerSettings {
    /// Reads the settings from what was given.
    pub(crate) fn load(given: &Given<'_>) -> Result<Self, Vec<ServerMistake>> {
        Parser::new(Found::gather(given)).settings(given.environment)
    }

    /// The agent of `role` for a repository: the one it names, else the server's for the role, else the server's.
    ///
    /// A name that the server no longer offers falls back to the server's choice.
    pub fn agent(&self, role: Role, repository: &RepositorySettings) -> &AgentCommand {
        let named = repository
            .agent
            .of(role)
            .as_ref()
            .and_then(|name| self.named_agents.get(name));
        named
            .or_else(|| self.agents.get(&role))
            .unwrap_or(&AgentCommand::Claude)
    }
}
