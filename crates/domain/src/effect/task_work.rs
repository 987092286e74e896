//! What is to be done for one task.

use crate::ids::{PullNumber, Sha, TurnNumber, User};
use serde::{Deserialize, Serialize};

/// Something to do for one task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskWork {
    /// Runs the designer before the first turn.
    Design,
    /// Runs the Player and pushes its work.
    Play,
    /// Opens the pull request, or adopts the open one of the branch.
    OpenPull,
    /// Runs the Gates on the pushed commit.
    Gates,
    /// Reads what the repository's own CI says of the pushed commit.
    Ci,
    /// Runs the Coach on the pushed commit.
    Coach,
    /// Posts the verdict of a turn as a review.
    PostReview {
        /// The turn.
        turn: TurnNumber,
    },
    /// Posts the verdict of a turn that blocked the task, and the blocked report with it, as one review.
    PostBlockedReview {
        /// The turn.
        turn: TurnNumber,
    },
    /// Publishes the verdict of a turn as the check run of its commit.
    PublishCheck {
        /// The turn.
        turn: TurnNumber,
    },
    /// Publishes on a commit that nobody judged that the task waits for a person.
    PublishBlocked {
        /// The head of the task's branch.
        head: Sha,
    },
    /// Posts the blocked report.
    PostBlocked,
    /// Takes the draft mark off.
    MarkReady,
    /// Merges the pull request into the integration branch.
    Merge,
    /// Dismisses the Coach's request for changes.
    DismissReview {
        /// Who made it stale.
        by: User,
        /// Why.
        why: DismissedWhy,
    },
    /// Closes the pull request with a comment.
    ClosePull {
        /// Which: the task may have another one by then.
        pull: PullNumber,
        /// Why.
        why: ClosedWhy,
    },
}

/// Why a request for changes is stale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DismissedWhy {
    /// A person overrode the Coach.
    Overridden,
    /// The task was cancelled.
    Cancelled,
}

/// Why a task's pull request is closed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClosedWhy {
    /// The task starts again on another branch.
    Retried {
        /// By whom.
        by: User,
        /// The new branch.
        branch: String,
    },
    /// The task was given up.
    Skipped {
        /// By whom.
        by: User,
    },
    /// The task or the Feature was cancelled.
    Cancelled,
}
