//! The values that repository settings hold, with their defaults.

use crate::config::role::Role;
use domain::{network::HostRule, shell_command::ShellCommand};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// When a plan waits for a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Approval {
    /// It does not.
    Never,
    /// It does.
    Always,
    /// From this complexity on.
    From(u8),
}

/// Who merges an approved Task into the integration branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Merge {
    /// AutoBuild.
    Auto,
    /// A person.
    Human,
}

/// Whether a Task is designed before its first turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PreLoop {
    /// Where the kind of Feature asks for it.
    Auto,
    /// Every Task.
    Always,
    /// None.
    Never,
}

/// Whether the repository's own CI is evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CiEvidence {
    /// It is waited for.
    Wait,
    /// It is not looked at.
    Ignore,
}

/// Who makes the commits that are pushed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommitsBy {
    /// Git, on AutoBuild's machine: without a signature.
    #[default]
    Git,
    /// GitHub, which signs them.
    Github,
}

/// How much the Gates run to prove the tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Checks {
    /// How much time experiments may take together.
    pub depth: Depth,
}

/// How much time experiments with changed code may take together, as a share of the plain test run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Depth {
    /// A fifth of it.
    Quick,
    /// As much as it.
    #[default]
    Standard,
    /// Ten times as much.
    Thorough,
}

/// How coverage is measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Coverage {
    /// Measures it.
    pub command: Option<ShellCommand>,
    /// The file that the command writes.
    pub file: Option<String>,
    /// The least share of changed lines, in percent.
    pub threshold: f64,
}

impl Default for Coverage {
    fn default() -> Self {
        Self {
            command: None,
            file: None,
            threshold: 80.0,
        }
    }
}

/// The longest run of an agent by role, in seconds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RoleTimeouts {
    /// The planner's.
    pub planner: u64,
    /// The designer's.
    pub designer: u64,
    /// The Player's.
    pub player: u64,
    /// The Coach's.
    pub coach: u64,
}

impl Default for RoleTimeouts {
    fn default() -> Self {
        Self {
            planner: 20 * 60,
            designer: 20 * 60,
            player: 60 * 60,
            coach: 30 * 60,
        }
    }
}

impl RoleTimeouts {
    /// The limit for `role`.
    pub fn of(&self, role: Role) -> Duration {
        Duration::from_secs(match role {
            Role::Planner => self.planner,
            Role::Designer => self.designer,
            Role::Player => self.player,
            Role::Coach => self.coach,
        })
    }
}

/// Who is obeyed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Commands {
    /// The least permission on the repository.
    pub permission: Permission,
}

impl Default for Commands {
    fn default() -> Self {
        Self {
            permission: Permission::Write,
        }
    }
}

/// A permission on a repository, lowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Permission {
    /// May push.
    Write,
    /// May push and manage.
    Maintain,
    /// May do everything.
    Admin,
}

domain::words!(Permission {
    Write = "write",
    Maintain = "maintain",
    Admin = "admin",
});

/// What commands may reach.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Network {
    /// The hosts; what the server's ceiling does not include is cut when a door is opened.
    pub allow: Vec<HostRule>,
}
