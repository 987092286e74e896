//! The states of a Feature, each with exactly what it needs.

use crate::{
    blocked::BlockReason,
    ids::{Emission, TaskId, User},
};
use serde::{Deserialize, Serialize};

/// The states of a Feature.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// A plan is being made.
    Planning {
        /// The effect that is waited for.
        #[serde(alias = "run")]
        emission: Emission,
    },
    /// The plan waits for a person.
    AwaitingApproval,
    /// Tasks are being built.
    Building {
        /// Where exactly.
        phase: Phase,
    },
    /// A person asked to wait; what runs ends, nothing starts.
    Paused {
        /// Where it goes on.
        phase: Phase,
        /// Who asked.
        by: User,
    },
    /// A person has to decide.
    Blocked {
        /// Why.
        reason: BlockReason,
        /// Where it goes on.
        phase: Phase,
    },
    /// The feature pull request waits for its human.
    InReview,
    /// Merged.
    Completed,
    /// Cancelled.
    Cancelled {
        /// Why.
        why: CancelledWhy,
    },
    /// No valid plan after the repair.
    Failed {
        /// What was wrong with it.
        message: String,
    },
}

impl State {
    /// The product's word for it.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Planning { .. } => "planning",
            Self::AwaitingApproval => "awaiting_approval",
            Self::Building { .. } => "building",
            Self::Paused { .. } => "paused",
            Self::Blocked { .. } => "blocked",
            Self::InReview => "in_review",
            Self::Completed => "completed",
            Self::Cancelled { .. } => "cancelled",
            Self::Failed { .. } => "failed",
        }
    }
}

/// Steps of building.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Making the plan; only in `paused` and `blocked`.
    Planning {
        /// The effect that is waited for.
        #[serde(alias = "run")]
        emission: Emission,
    },
    /// Looking at a commit of the default branch before any Player does.
    PreFlight {
        /// The effect that is waited for.
        #[serde(alias = "run")]
        emission: Emission,
        /// What comes next.
        then: Ahead,
    },
    /// Making the integration branch.
    OpeningBranch {
        /// The effect that is waited for.
        #[serde(alias = "run")]
        emission: Emission,
    },
    /// Merging the default branch.
    MergingDefault {
        /// The effect that is waited for.
        #[serde(alias = "run")]
        emission: Emission,
        /// What comes next.
        then: Then,
    },
    /// A task that resolves a conflict with the default branch.
    Syncing {
        /// Which.
        task: TaskId,
        /// What comes next.
        then: Then,
    },
    /// The tasks of the open wave.
    Tasks,
    /// The wave gate.
    Gate {
        /// The effect that is waited for.
        #[serde(alias = "run")]
        emission: Emission,
        /// What comes next.
        then: Then,
    },
    /// Opening the feature pull request.
    OpeningPull {
        /// The effect that is waited for.
        #[serde(alias = "run")]
        emission: Emission,
    },
}

impl Phase {
    /// The emission whose result it waits for.
    pub fn waits_for(&self) -> Option<Emission> {
        match self {
            Self::Planning { emission }
            | Self::PreFlight { emission, .. }
            | Self::OpeningBranch { emission }
            | Self::MergingDefault { emission, .. }
            | Self::Gate { emission, .. }
            | Self::OpeningPull { emission } => Some(*emission),
            Self::Syncing { .. } | Self::Tasks => None,
        }
    }
}

/// What follows a pre-flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ahead {
    /// The integration branch is made from the commit.
    OpenBranch,
    /// The commit is merged in already.
    GoOn(Then),
}

/// What follows a merge of the default branch or a wave gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Then {
    /// The next wave.
    Wave,
    /// The feature pull request.
    Pull,
}

/// Why a Feature was cancelled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CancelledWhy {
    /// `/autobuild cancel`.
    Command(User),
    /// The label was removed.
    LabelRemoved(User),
    /// The issue was closed.
    IssueClosed(User),
    /// The feature pull request was closed unmerged.
    PullClosed(User),
    /// The integration branch was deleted.
    BranchDeleted,
    /// The repository was archived or deleted.
    RepositoryGone,
    /// The issue was transferred or deleted.
    IssueGone,
    /// The App was removed from the repository.
    InstallationRemoved,
    /// No task was completed.
    NothingCompleted,
}

impl CancelledWhy {
    /// The person who did it, where it was one.
    pub fn by(&self) -> Option<&User> {
        match self {
            Self::Command(by) | Self::LabelRemoved(by) | Self::IssueClosed(by) | Self::PullClosed(by) => Some(by),
            Self::BranchDeleted
            | Self::RepositoryGone
            | Self::IssueGone
            | Self::InstallationRemoved
            | Self::NothingCompleted => None,
        }
    }

    /// What AutoBuild can still say and close.
    pub(super) fn reach(&self) -> Reach {
        match self {
            Self::Command(_)
            | Self::LabelRemoved(_)
            | Self::IssueClosed(_)
            | Self::PullClosed(_)
            | Self::BranchDeleted
            | Self::NothingCompleted => Reach::Everything,
            Self::IssueGone => Reach::Pulls,
            Self::RepositoryGone | Self::InstallationRemoved => Reach::Nothing,
        }
    }
}

/// What AutoBuild can still say and close when a Feature is cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// The issue and the pull requests.
    Everything,
    /// Only the pull requests.
    Pulls,
    /// Neither.
    Nothing,
}

/// Whether the installation is suspended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Suspension {
    /// It is not.
    None,
    /// Nothing starts until it is lifted.
    Suspended,
}
