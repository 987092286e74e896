//! What a Player says of its turn. A claim, never a fact.

use serde::Deserialize;
use serde::Serialize;

/// The Player's own account of its turn. Every field is a claim that code checks against the tree and the Gates.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PlayerReport {
    /// How the work was approached.
    pub approach: String,
    /// What was done, in a paragraph.
    pub summary: String,
    /// Paths said to be modified.
    pub files_modified: Vec<String>,
    /// Paths said to be new.
    pub files_created: Vec<String>,
    /// Tests said to be written.
    pub tests_written: Vec<String>,
    /// Whether tests are said to have been run.
    pub tests_run: bool,
    /// Whether they are said to have passed.
    pub tests_passed: bool,
    /// What the tests are said to have printed.
    pub test_output_summary: String,
    /// Remarks for the next reader.
    pub implementation_notes: String,
    /// Doubts.
    pub concerns: Vec<String>,
    /// Criteria said to be met.
    pub requirements_addressed: Vec<String>,
    /// Criteria said to be open.
    pub requirements_remaining: Vec<String>,
    /// Whether the Player thinks a Coach should look.
    pub ready_for_validation: bool,
}

/// A claim that the tree or the Gates contradict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Discrepancy {
    /// What was claimed.
    pub claim: String,
    /// What is so.
    pub fact: String,
}
