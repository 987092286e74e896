//! How bad a block is.

use serde::{Deserialize, Serialize};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// A person's decision is all that is missing.
    Minor,
    /// The work does not get there by itself.
    Major,
    /// Nothing of this kind can go on until someone mends the surroundings.
    Critical,
}

impl Severity {
    /// The word that people read.
    pub fn word(self) -> &'static str {
        match self {
            Self::Minor => "minor",
            Self::Major => "major",
            Self::Critical => "critical",
        }
    }
}
