//! What a Task needs to know of its Feature.

use crate::ci::CiPolicy;
use serde::{Deserialize, Serialize};

/// What a task needs to know of its Feature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Turns of a fresh task.
    pub max_turns: u32,
    /// Who merges an approved task.
    pub merge: MergePolicy,
    /// Whether the repository's own CI is evidence.
    pub ci: CiPolicy,
    /// The folder of the Feature's branches.
    pub branch_prefix: String,
}

/// Who merges an approved task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MergePolicy {
    /// AutoBuild.
    Auto,
    /// A person.
    Human,
}
