//! A Feature's plan: its tasks, their criteria and dependencies.
//!
//! [`parse`] is the way in, [`yaml`] the way out; [`read`] and [`check`] hold the rules between.

pub mod check;
pub mod criterion;
pub mod note;
pub mod parse;
pub mod path;
pub mod read;
pub mod schema;
pub mod value;
pub mod yaml;

use crate::ids::TaskId;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The tasks that make a Feature, as checked: every rule of the product holds for a value of this type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Name of the Feature.
    pub name: String,
    /// What it is for, in a paragraph.
    pub description: String,
    /// The tasks, in the order of their ids.
    pub tasks: Vec<PlannedTask>,
    /// A command that shows the merged result of each wave alive.
    pub smoke: Option<String>,
}

/// One task of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedTask {
    /// `TASK-001`…
    pub id: TaskId,
    /// A short imperative name.
    pub name: String,
    /// What kind of work it is.
    #[serde(rename = "type")]
    pub kind: TaskType,
    /// What is to be done.
    pub description: String,
    /// What must hold in the end; at least one is not for a person.
    pub acceptance_criteria: Vec<Criterion>,
    /// Paths that will probably change; they may be new.
    pub files: Vec<String>,
    /// Names of tests and paths that are meant to go.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removes: Vec<String>,
    /// What the complexity is computed from.
    pub factors: Factors,
    /// Tasks that must be merged before.
    pub dependencies: Vec<TaskId>,
}

/// The kind of a task decides which Gates it must pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskType {
    /// Structure without behaviour.
    Scaffolding,
    /// Behaviour.
    Feature,
    /// The same behaviour in another form.
    Refactoring,
    /// Tests.
    Testing,
    /// Words.
    Documentation,
}

/// Something that must hold when a task is done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Criterion {
    /// What must hold, in a sentence.
    pub text: String,
    /// How it is shown to hold.
    pub check: Check,
}

/// What a criterion is bound to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Check {
    /// The test of this name passes.
    Test(String),
    /// This command exits with 0.
    Command(String),
    /// This file exists.
    File(String),
    /// Only a person can tell.
    Human,
}

/// What the complexity of a task is computed from, besides its files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Factors {
    /// Other systems or modules to be joined, 0 to 3.
    pub integration_points: u8,
    /// The tests that it needs.
    pub tests: TestEffort,
    /// What could go wrong.
    pub risks: Vec<Risk>,
}

/// The heaviest kind of test that a task needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TestEffort {
    /// No tests.
    None,
    /// Unit tests.
    Unit,
    /// Integration tests.
    Integration,
    /// End-to-end tests.
    EndToEnd,
}

/// A reason to look twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    /// Secrets, permissions, trust.
    Security,
    /// Stored data changes shape.
    DataMigration,
    /// Things happen at the same time.
    Concurrency,
    /// Others depend on it.
    PublicApi,
    /// Someone else's service.
    ExternalService,
}

/// Hash of what a plan says, in hexadecimal: equal for equal plans, whatever their status.
pub fn plan_hash(plan: &Plan) -> String {
    let canonical = yaml::plan_yaml(plan, &yaml::PlanHeader::planned("", ""));
    Sha256::digest(canonical)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

#[cfg(test)]
mod tests;
