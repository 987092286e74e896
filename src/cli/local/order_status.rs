//! The states of a Feature and its tasks, as a report saves them and people read them.

use domain::{
    feature,
    feature::Feature,
    task::{
        State::{Approved, Blocked, Cancelled, CoachTurn, Completed, Pending, PlayerTurn, PreLoop, Skipped},
        Task,
    },
};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OrderStatus {
    /// There is no Feature yet.
    #[default]
    #[serde(rename = "")]
    Nothing,
    /// The Feature is ordered and no process works on it.
    Ordered,
    /// A process works in this repository, and will start the Feature.
    Waiting,
    Planning,
    AwaitingApproval,
    Building,
    Paused,
    Blocked,
    /// An agent asks a person, and nothing else is blocked.
    Asks,
    InReview,
    Completed,
    Cancelled,
    Failed,
    /// A person gave the Feature up.
    GivenUp,
}

impl From<&Feature> for OrderStatus {
    fn from(feature: &Feature) -> Self {
        match &feature.state {
            feature::State::Planning { .. } => Self::Planning,
            feature::State::AwaitingApproval => Self::AwaitingApproval,
            feature::State::Building { .. } => Self::Building,
            feature::State::Paused { .. } => Self::Paused,
            feature::State::Blocked { .. } if feature.asks() => Self::Asks,
            feature::State::Blocked { .. } => Self::Blocked,
            feature::State::InReview => Self::InReview,
            feature::State::Completed => Self::Completed,
            feature::State::Cancelled { .. } => Self::Cancelled,
            feature::State::Failed { .. } => Self::Failed,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The row does not belong to a task.
    #[default]
    #[serde(rename = "")]
    None,
    /// The task is approved, merged or not.
    Approved,
    Pending,
    /// The task stopped, and waits until it is started again.
    Resumed,
    PreLoop,
    PlayerTurn,
    CoachTurn,
    Blocked,
    /// Its agent asks a person.
    Asks,
    Skipped,
    Cancelled,
}

impl From<&Task> for Verdict {
    fn from(task: &Task) -> Self {
        match &task.state {
            Approved { .. } | Completed { .. } => Self::Approved,
            Pending if task.waits_to_go_on() => Self::Resumed,
            Pending => Self::Pending,
            PreLoop { .. } => Self::PreLoop,
            PlayerTurn { .. } => Self::PlayerTurn,
            CoachTurn { .. } => Self::CoachTurn,
            Blocked { .. } if task.inquiries().is_some() => Self::Asks,
            Blocked { .. } => Self::Blocked,
            Skipped { .. } => Self::Skipped,
            Cancelled => Self::Cancelled,
        }
    }
}

// The words for people; programs read the word of the JSON.
text::words!(OrderStatus {
    Nothing = "",
    Ordered = "not started",
    Waiting = "waiting its turn",
    Planning = "planning",
    AwaitingApproval = "planned",
    Building = "building",
    Paused = "paused",
    Blocked = "blocked",
    Asks = "asks",
    InReview = "done",
    Completed = "completed",
    Cancelled = "cancelled",
    Failed = "failed",
    GivenUp = "given up",
});

text::words!(Verdict {
    None = "",
    Approved = "approved",
    Pending = "not started",
    Resumed = "waiting to go on",
    PreLoop = "in design",
    PlayerTurn = "in work",
    CoachTurn = "in review",
    Blocked = "blocked",
    Asks = "asks",
    Skipped = "skipped",
    Cancelled = "cancelled",
});

#[cfg(test)]
mod tests {
    use super::{OrderStatus, Verdict};

    #[test]
    fn people_read_plain_words_and_programs_those_of_the_product() {
        assert_eq!(OrderStatus::AwaitingApproval.to_string(), "planned");
        assert_eq!(Verdict::CoachTurn.to_string(), "in review");
        let words = [
            serde_json::to_string(&OrderStatus::InReview).unwrap(),
            serde_json::to_string(&OrderStatus::Nothing).unwrap(),
            serde_json::to_string(&Verdict::CoachTurn).unwrap(),
        ];
        assert_eq!(words, ["\"in_review\"", "\"\"", "\"coach_turn\""]);
    }
}
