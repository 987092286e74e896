//! Where a Feature and its tasks stand, as a report keeps it and as people read it.

use domain::{
    feature, task,
    task::State::{Approved, Blocked, Cancelled, CoachTurn, Completed, Pending, PlayerTurn, PreLoop, Skipped},
};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Where a Feature stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// Nothing came of it yet.
    #[default]
    #[serde(rename = "")]
    Nothing,
    /// Nobody works on it.
    Ordered,
    /// Somebody works here, and comes to it.
    Waiting,
    Planning,
    AwaitingApproval,
    Building,
    Paused,
    Blocked,
    InReview,
    Completed,
    Cancelled,
    Failed,
    /// A person gave it up.
    GivenUp,
}

impl From<&feature::State> for Standing {
    fn from(state: &feature::State) -> Self {
        match state {
            feature::State::Planning { .. } => Self::Planning,
            feature::State::AwaitingApproval => Self::AwaitingApproval,
            feature::State::Building { .. } => Self::Building,
            feature::State::Paused { .. } => Self::Paused,
            feature::State::Blocked { .. } => Self::Blocked,
            feature::State::InReview => Self::InReview,
            feature::State::Completed => Self::Completed,
            feature::State::Cancelled { .. } => Self::Cancelled,
            feature::State::Failed { .. } => Self::Failed,
        }
    }
}

/// What a task came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The row is of no task.
    #[default]
    #[serde(rename = "")]
    None,
    /// The Coach approves it, merged or not.
    Approved,
    Pending,
    PreLoop,
    PlayerTurn,
    CoachTurn,
    Blocked,
    Skipped,
    Cancelled,
}

impl From<&task::State> for Verdict {
    fn from(state: &task::State) -> Self {
        match state {
            Approved { .. } | Completed { .. } => Self::Approved,
            Pending => Self::Pending,
            PreLoop { .. } => Self::PreLoop,
            PlayerTurn { .. } => Self::PlayerTurn,
            CoachTurn { .. } => Self::CoachTurn,
            Blocked { .. } => Self::Blocked,
            Skipped { .. } => Self::Skipped,
            Cancelled => Self::Cancelled,
        }
    }
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

#[cfg(test)]
mod tests {
    use super::{Standing, Verdict};

    #[test]
    fn the_words_are_those_of_the_product() {
        assert_eq!(Standing::AwaitingApproval.to_string(), "awaiting_approval");
        assert_eq!(Verdict::CoachTurn.to_string(), "coach_turn");
        assert_eq!(Standing::Nothing.to_string(), "");
        assert_eq!(serde_json::to_string(&Standing::InReview).unwrap(), "\"in_review\"");
    }
}
