//! What a Feature can wait for a person for.

use crate::ids::{PullNumber, TaskId, TurnNumber};
use serde::{Deserialize, Serialize};

/// Something that only a person can do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wait {
    /// Approving the plan of this number.
    Approval {
        /// The plan's number.
        plan: u32,
    },
    /// Asking for another plan: there is no valid one.
    NoPlan,
    /// Merging an approved task: `merge: human`.
    Merge {
        /// The task.
        task: TaskId,
        /// The turn whose commit is approved.
        turn: TurnNumber,
    },
    /// Making way for a merge that a rule refused.
    MergeRefused {
        /// The task.
        task: TaskId,
        /// The turn whose commit is approved.
        turn: TurnNumber,
    },
    /// Reviewing and merging the feature pull request.
    Review {
        /// The pull request.
        pull: PullNumber,
    },
}

impl Wait {
    /// The task that waits; none where the Feature does.
    pub fn task(&self) -> Option<TaskId> {
        match self {
            Self::Merge { task, .. } | Self::MergeRefused { task, .. } => Some(*task),
            Self::Approval { .. } | Self::NoPlan | Self::Review { .. } => None,
        }
    }
}
