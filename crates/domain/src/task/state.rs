//! The states of a Task, each with exactly what it needs.

use crate::{
    blocked::BlockReason,
    ids::{Emission, Sha, TurnNumber, User},
};
use serde::{Deserialize, Serialize};

/// The states of a Task, each with exactly what it needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Waits for its wave.
    Pending,
    /// The designer works.
    PreLoop {
        /// The effect that is waited for.
        #[serde(alias = "run")]
        emission: Emission,
    },
    /// The Player works.
    PlayerTurn {
        /// Which turn.
        turn: TurnNumber,
        /// The effect that is waited for.
        #[serde(alias = "run")]
        emission: Emission,
    },
    /// Gates and Coach look at the pushed commit.
    CoachTurn {
        /// Which turn.
        turn: TurnNumber,
        /// Who looks.
        stage: Stage,
        /// The effect that is waited for.
        #[serde(alias = "run")]
        emission: Emission,
    },
    /// Verified, not merged yet.
    Approved {
        /// The turn whose commit is approved.
        turn: TurnNumber,
        /// Who approved.
        by: Approval,
        /// What the merge waits for.
        merge: MergeState,
    },
    /// A person has to decide.
    Blocked {
        /// Why.
        reason: BlockReason,
    },
    /// Merged.
    Completed {
        /// The commit on the integration branch.
        commit: Option<Sha>,
        /// Who merged it.
        by: MergedBy,
    },
    /// Given up.
    Skipped {
        /// By whom.
        by: User,
    },
    /// Cancelled with its pull request or its Feature.
    Cancelled,
}

impl State {
    /// The product's word for it.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::PreLoop { .. } => "pre_loop",
            Self::PlayerTurn { .. } => "player_turn",
            Self::CoachTurn { .. } => "coach_turn",
            Self::Approved { .. } => "approved",
            Self::Blocked { .. } => "blocked",
            Self::Completed { .. } => "completed",
            Self::Skipped { .. } => "skipped",
            Self::Cancelled => "cancelled",
        }
    }

    /// The emission whose result it waits for.
    pub fn waits_for(&self) -> Option<Emission> {
        match self {
            Self::PreLoop { emission } | Self::PlayerTurn { emission, .. } | Self::CoachTurn { emission, .. } => {
                Some(*emission)
            }
            Self::Approved { merge, .. } => match merge {
                MergeState::Due { emission } => Some(*emission),
                MergeState::Person | MergeState::Refused { .. } => None,
            },
            Self::Pending | Self::Blocked { .. } | Self::Completed { .. } | Self::Skipped { .. } | Self::Cancelled => {
                None
            }
        }
    }
}

/// Who looks at the commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// The Gates.
    Gates,
    /// The repository's own CI.
    Ci,
    /// The Coach.
    Coach,
}

/// Who approved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Approval {
    /// The Coach, with every contract kept.
    Coach,
    /// A person, over the Coach.
    Override(User),
}

/// What a merge waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MergeState {
    /// The merge effect of this emission.
    Due {
        /// The effect that is waited for.
        #[serde(alias = "run")]
        emission: Emission,
    },
    /// A person: `merge: human`.
    Person,
    /// A person: a rule refused the merge.
    Refused {
        /// GitHub's words.
        rule: String,
    },
}

/// Who merged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MergedBy {
    /// AutoBuild, after an approval.
    AutoBuild,
    /// A person, after an approval.
    Person(User),
    /// A person, without the Coach's approval.
    PersonWithoutApproval(User),
}
