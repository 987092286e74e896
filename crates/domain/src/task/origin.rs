//! Where a task comes from: the plan, or AutoBuild itself.

use crate::ids::{ReviewId, Sha, User};
use serde::{Deserialize, Serialize};

/// Where a task comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The plan.
    #[default]
    Planned,
    /// A wave gate that was red: it mends what was merged, and brings no tests of its own.
    Fix {
        /// The merge on the integration branch that broke it, where one could be found.
        broke: Option<Sha>,
    },
    /// A conflict with the default branch: it resolves the merge, and lands with both parents.
    Sync {
        /// The default branch's commit that is merged in.
        other: Sha,
    },
    /// A person's request for changes on the feature pull request.
    Review {
        /// The review.
        id: ReviewId,
        /// Who wrote it.
        by: User,
    },
}

impl Origin {
    /// Whether the task is expected to bring tests that fail without its change.
    pub fn brings_tests(&self) -> bool {
        match self {
            Self::Planned | Self::Review { .. } => true,
            Self::Fix { .. } | Self::Sync { .. } => false,
        }
    }
}
