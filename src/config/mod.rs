//! Settings: what a repository asks for, and what the server is given.
//!
//! Both are parsed once, at the edge, into types that can only hold valid values. Every mistake is answered with its
//! place and the valid values; a name that nobody knows is a mistake, never ignored. Nothing here talks to GitHub or
//! starts a process.

#![warn(clippy::wildcard_enum_match_arm)]

mod agent;
mod budgets;
mod github_address;
mod models;
mod network;
mod repository;
mod repository_keys;
mod repository_values;
mod server;
mod server_edge;
mod server_file;
mod server_parse;
mod server_sandbox;
mod shapes;
mod variables;

pub use agent::{AgentCommand, NotAnAgent};
pub use budgets::{Budget, MonthlyBudget};
pub use domain::feature::{Mode, Records};
pub use github_address::{GithubAddress, safe_address};
pub use models::{ModelApi, ModelNames, ModelSettings, NotModels, Strength};
pub use network::NetworkCeiling;
pub use repository::{INSTRUCTION_PATHS, Offer, RepositorySettings, SETTINGS_FILE};
pub use repository_keys::json_schema;
pub use repository_values::{
    Approval, Checks, CiEvidence, Commands, Coverage, Depth, Merge, Network, Permission, PreLoop, RoleTimeouts,
};
pub use server::{App, CoachApp, LogFormat, ServerSettings};
pub use server_edge::{process_environment, read_settings_file};
pub use server_sandbox::SandboxSettings;
pub use variables::{ServerMistake, Source};

use serde::{Deserialize, Serialize};
use std::fmt;

/// Who an agent is in the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Makes the plan.
    Planner,
    /// Designs a task before its first turn.
    Designer,
    /// Writes the change.
    Player,
    /// Verifies it.
    Coach,
}

impl Role {
    /// Every role, in the order of their work.
    pub const ALL: [Self; 4] = [Self::Planner, Self::Designer, Self::Player, Self::Coach];

    /// The word for it in settings, scripts and an agent's environment.
    pub fn word(self) -> &'static str {
        match self {
            Self::Planner => "planner",
            Self::Designer => "designer",
            Self::Player => "player",
            Self::Coach => "coach",
        }
    }

    /// The role that `word` names.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.word() == word)
    }
}

/// One of something for each role.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ByRole<T> {
    /// The planner's.
    pub planner: T,
    /// The designer's.
    pub designer: T,
    /// The Player's.
    pub player: T,
    /// The Coach's.
    pub coach: T,
}

impl<T> ByRole<T> {
    /// The one of `role`.
    pub fn of(&self, role: Role) -> &T {
        match role {
            Role::Planner => &self.planner,
            Role::Designer => &self.designer,
            Role::Player => &self.player,
            Role::Coach => &self.coach,
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
