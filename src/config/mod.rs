//! The settings of repositories and of the server.
//!
//! Both are parsed once, at the edge, into types that can only hold valid values. Every mistake is reported with its
//! place and the valid values; an unknown name is a mistake, never ignored. Nothing here talks to GitHub or starts a
//! process.

#![warn(clippy::wildcard_enum_match_arm)]

mod agent;
mod ages;
mod allowance;
mod budgets;
mod clamp;
mod concurrency;
mod credentials;
mod github_address;
mod kept_apps;
mod models;
mod network;
mod process_role;
mod repository;
mod repository_keys;
mod repository_values;
mod role;
mod server;
mod server_edge;
mod server_file;
mod server_parse;
mod server_sandbox;
mod shapes;
mod variables;

pub use agent::{AgentCommand, KNOWN as KNOWN_AGENTS, NotAnAgent, Strength};
pub use ages::RetentionAges;
pub use allowance::{Allowance, Allowances, LargestValues};
pub use budgets::Budget;
pub use concurrency::{Concurrency, ProcessLimits};
pub use credentials::{App, AppKey, OAuthClient};
pub use domain::feature::{Mode, Records};
pub(crate) use github_address::web_address;
pub use github_address::{GithubAddress, NotAnAddress, safe_address};
pub use kept_apps::{KEPT_APPS_FILE, KeptApp, KeptApps, NotKept, github_named, read_private, write_private};
pub use models::{ModelApi, ModelNames, ModelSettings, ModelWords, NotModels};
pub use network::NetworkSettings;
pub use process_role::ProcessRole;
pub use repository::{INSTRUCTION_PATHS, RECORDS_FOLDER, RepositorySettings, SETTINGS_FILE};
pub use repository_keys::json_schema;
pub use repository_values::{
    Checks, Commands, CommitsBy, Coverage, Depth, Inquiring, Network, Permission, PreLoop, Remarks, RoleTimeouts,
    TestDemand,
};
pub use role::{ByRole, Role};
pub use server::{AppsFrom, LogFormat, ServerSettings};
pub use server_edge::{Flags, process_environment, read_settings_file, secret_files_of_process};
pub use server_sandbox::SandboxSettings;
pub use shapes::Offer;
pub use variables::{
    DefaultValue, PREFIX, ServerMistake, SettingSource, VARIABLES, ValueKind, Variable, join_mistakes,
};
