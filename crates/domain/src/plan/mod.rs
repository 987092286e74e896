//! A Feature's plan: its tasks, their criteria and dependencies.
//!
//! [`parse`] reads a plan and [`yaml`] writes it; [`read`] and `relations` hold the rules.

pub mod criterion;
pub mod intent;
pub mod note;
pub mod parse;
pub mod path;
pub mod read;
mod relations;
pub mod schema;
pub mod value;
pub mod yaml;

pub use intent::Intent;

use crate::{design, ids::TaskId};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use text::{hex, words};

/// The tasks of a Feature. As [`parse`] returns it, a plan keeps every rule of the product.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    pub name: String,
    /// The Feature's purpose, in a paragraph.
    pub description: String,
    /// The tasks, in the order of their ids.
    pub tasks: Vec<PlannedTask>,
    /// A command that shows that the merged result of each wave works.
    pub smoke: Option<String>,
}

impl Plan {
    /// Gives a plan without a name the title of its issue.
    pub fn or_named(mut self, title: &str) -> Self {
        if self.name.trim().is_empty() {
            self.name = design::name(title);
        }
        self
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedTask {
    /// The task's id, such as `TASK-001`.
    pub id: TaskId,
    /// A short imperative name.
    pub name: String,
    #[serde(rename = "type")]
    pub kind: TaskType,
    pub description: String,
    /// The conditions that must hold in the end; at least one is not for a person.
    pub acceptance_criteria: Vec<Criterion>,
    /// Paths that will probably change; they may be new.
    pub files: Vec<String>,
    /// Tests whose behaviour the task is meant to change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Intent>,
    /// Tests and paths that the task is meant to remove.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removes: Vec<Intent>,
    /// The factors from which the complexity is computed.
    pub factors: Factors,
    /// The tasks that must be merged before.
    pub dependencies: Vec<TaskId>,
}

words! {
    /// The kind of work of a task. It decides which Gates the task must pass.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum TaskType {
        /// Structure without behaviour.
        Scaffolding = "scaffolding",
        /// New or changed behaviour.
        Feature = "feature",
        /// The same behaviour in another form.
        Refactoring = "refactoring",
        Testing = "testing",
        Documentation = "documentation",
    }
}

impl TaskType {
    /// `true` if tests must run and pass. Otherwise they must pass only if there are any.
    pub(crate) fn requires_tests(self) -> bool {
        match self {
            Self::Feature | Self::Refactoring | Self::Testing => true,
            Self::Scaffolding | Self::Documentation => false,
        }
    }
}

/// A condition that must hold when a task is done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Criterion {
    /// The condition, as a sentence.
    pub text: String,
    pub check: Check,
}

/// The check that a criterion is bound to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Check {
    /// The test of this name passes.
    Test(String),
    /// This command exits with 0.
    Command(String),
    File(String),
    /// Only a person can judge it.
    Human,
}

/// The factors from which the complexity of a task is computed, besides its files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Factors {
    /// The number of other systems or modules to connect, 0 to 3.
    pub integration_points: u8,
    pub tests: TestEffort,
    pub risks: Vec<Risk>,
}

words! {
    /// The heaviest kind of test that a task needs.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum TestEffort {
        None = "none",
        Unit = "unit",
        Integration = "integration",
        EndToEnd = "end-to-end",
    }
}

words! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Risk {
        /// Secrets, permissions or trust are involved.
        Security = "security",
        /// Stored data changes its shape.
        DataMigration = "data_migration",
        /// Several things happen at the same time.
        Concurrency = "concurrency",
        /// Others depend on the changed interface.
        PublicApi = "public_api",
        /// A third-party service is involved.
        ExternalService = "external_service",
    }
}

/// Returns the hash of a plan's content, in hexadecimal. Equal plans have equal hashes, even with a different status.
pub fn plan_hash(plan: &Plan) -> String {
    let canonical = yaml::plan_yaml(plan, &yaml::PlanHeader::planned("", ""));
    hex::encode(&Sha256::digest(canonical))
}

#[cfg(test)]
mod tests;
