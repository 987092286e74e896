//! The server's settings: addresses, credentials, agents.

use crate::config::{
    agent::AgentCommand,
    ages::RetentionAges,
    allowance::Allowances,
    concurrency::{Concurrency, ProcessLimits},
    credentials::{App, AppKey, OAuthClient},
    github_address::GithubAddress,
    models::ModelSettings,
    role::ByRole,
    server_parse::Parser,
    server_sandbox::SandboxSettings,
    shapes::Offer,
    variables::{MergedVariables, ServerMistake, SettingsLayers},
};
use domain::{budget::Limits, ids::InstallationId};
use secrecy::SecretString;
use std::{collections::BTreeMap, net::SocketAddr, path::PathBuf, time::Duration};
use uplink::Uplink;
use url::Url;

/// The server's settings, complete and checked.
#[derive(Clone, Debug)]
pub struct ServerSettings {
    pub listen: SocketAddr,
    /// The database's address, `sqlite:…` or `postgres://…`; it may hold a password.
    pub database_url: SecretString,
    /// The folder of the database, mirrors and checkouts.
    pub data_dir: PathBuf,
    /// GitHub's addresses.
    pub github: GithubAddress,
    /// The AutoBuild App; `None` if it does not exist yet.
    pub app: Option<App>,
    pub coach_app: Option<AppKey>,
    pub apps_from: AppsFrom,
    /// The AutoBuild App's OAuth client, with which people sign in.
    pub oauth: Option<OAuthClient>,
    /// The address at which GitHub and browsers reach the service, if it is set.
    pub public_url: Option<Url>,
    /// The time between two replays of GitHub's log of deliveries; `None` if it is not replayed.
    pub replay: Option<Duration>,
    /// The time between two sweeps of unfinished Features; `None` if there are none.
    pub sweep: Option<Duration>,
    /// The least time between writes to GitHub per installation.
    pub write_spacing: Duration,
    pub concurrency: Concurrency,
    pub process_limits: ProcessLimits,
    pub ages: RetentionAges,
    /// The spending limits of all installations together for a calendar month.
    pub month: Limits,
    /// The limits of the repositories of each installation.
    pub allowances: Allowances,
    /// The token for access to the pages and `/metrics`; `None` to generate one at start.
    pub admin_token: Option<SecretString>,
    /// The filter of the log, in the syntax of `tracing`.
    pub log: String,
    pub log_format: LogFormat,
    /// The isolation of agents and Gates, and their resource limits.
    pub sandbox: SandboxSettings,
    /// The names of further variables that agents get from the server's environment.
    pub agent_environment: Vec<String>,
    /// The settings file, and every file that holds a secret: no foreign program sees them.
    pub secret_files: Vec<PathBuf>,
    /// The models' APIs and keys.
    pub models: ModelSettings,
    pub(crate) agents: ByRole<AgentCommand>,
    /// The agents that repositories may name.
    pub(crate) named_agents: BTreeMap<String, AgentCommand>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AppsFrom {
    /// Flags, the environment or the settings file.
    Settings,
    /// The set-up, which keeps or will keep them in the data folder.
    SetUp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// Text for people.
    Text,
    /// One JSON object per line.
    Json,
}

impl ServerSettings {
    pub(crate) fn load(given: &SettingsLayers<'_>) -> Result<Self, Vec<ServerMistake>> {
        Parser::new(MergedVariables::merge(given)).settings(given.environment)
    }

    /// Returns the agents and models that a repository of this installation may name.
    pub fn offer(&self, installation: InstallationId) -> Offer {
        self.allowances.of(installation).offer(self.named_agents.keys().cloned())
    }

    /// Returns how the service itself reaches other machines.
    pub fn uplink(&self) -> &Uplink {
        &self.allowances.usual.network.uplink
    }
}
