//! The values that repository settings hold, with their defaults.

use crate::config::role::Role;
use domain::network::HostRule;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use text::shell_command::ShellCommand;

/// When a Task is designed before its first turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PreLoop {
    /// If the kind of its Feature requires it.
    Auto,
    Always,
    Never,
}

/// Who answers questions that an agent cannot decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Inquiring {
    /// People do.
    Ask,
    /// The agent's own default applies.
    Default,
}

/// The people whose remarks on pull requests the Coach reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Remarks {
    /// People with write access.
    #[default]
    Write,
    /// Everybody who may comment.
    Anyone,
}

/// The rule for a Feature if no command is found that runs the repository's tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TestDemand {
    /// The Feature waits for a person.
    #[default]
    Required,
    /// The Feature starts.
    Optional,
}

/// Who creates the commits that are pushed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommitsBy {
    /// Git on AutoBuild's machine: the commits have no signature.
    #[default]
    Git,
    /// GitHub, which signs the commits.
    Github,
}

/// How much work the Gates do to prove the tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Checks {
    /// The time limit for all experiments together.
    pub depth: Depth,
}

/// The time limit for all experiments with changed code together, as a share of the time of the plain test run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Depth {
    /// A fifth of the test run's time.
    Quick,
    #[default]
    Standard,
    /// Ten times as long as the test run.
    Thorough,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Coverage {
    pub command: Option<ShellCommand>,
    pub file: Option<String>,
    /// The least share of changed lines that must be covered, in percent.
    pub threshold: f64,
}

impl Default for Coverage {
    fn default() -> Self {
        Self { command: None, file: None, threshold: 80.0 }
    }
}

/// The time limit of an agent's run by role, in seconds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RoleTimeouts {
    pub planner: u64,
    pub designer: u64,
    pub player: u64,
    pub coach: u64,
}

impl Default for RoleTimeouts {
    fn default() -> Self {
        Self { planner: 20 * 60, designer: 20 * 60, player: 60 * 60, coach: 30 * 60 }
    }
}

impl RoleTimeouts {
    /// Returns the limit for `role`.
    pub fn of(&self, role: Role) -> Duration {
        Duration::from_secs(match role {
            Role::Planner => self.planner,
            Role::Designer => self.designer,
            Role::Player => self.player,
            Role::Coach => self.coach,
        })
    }
}

/// The people whose commands AutoBuild follows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Commands {
    /// The least permission on the repository that a command needs.
    pub permission: Permission,
}

/// A permission on a repository, lowest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Permission {
    #[default]
    Write,
    /// May push and manage.
    Maintain,
    /// May do everything.
    Admin,
}

text::words!(Permission {
    Write = "write",
    Maintain = "maintain",
    Admin = "admin",
});

/// The network that the repository's commands may reach.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Network {
    /// The allowed hosts; those beyond the server's ceiling stay closed.
    pub allow: Vec<HostRule>,
}
