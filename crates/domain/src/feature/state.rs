//! The states of a Feature. Each one holds exactly the data that it needs.

use crate::{
    blocked::BlockReason,
    ids::{Emission, TaskId, User},
    plan::parse::PlanAuthor,
};
use serde::{Deserialize, Serialize};

/// The states of a Feature. An `emission` is that of the effect whose result the Feature waits for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// A plan is being made.
    Planning { emission: Emission },
    /// The plan waits for a person's approval.
    AwaitingApproval,
    /// Tasks are being built.
    Building {
        /// The present step of building.
        phase: Phase,
    },
    /// A person paused the Feature. What runs may finish, but nothing starts.
    Paused {
        /// The step of building at which it will continue.
        phase: Phase,
        by: User,
    },
    /// The Feature waits for a person to decide.
    Blocked {
        reason: BlockReason,
        /// The step of building at which it will continue.
        phase: Phase,
    },
    /// The feature pull request waits for a person's review.
    InReview,
    /// The feature pull request was merged.
    Completed,
    /// The Feature was cancelled.
    Cancelled { why: CancelledWhy },
    /// There was no valid plan, even after the repair.
    Failed {
        author: PlanAuthor,
        /// The mistakes in the plan, as a text for people.
        message: String,
    },
}

impl State {
    /// Returns the word for this state in the product's texts.
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

    /// Returns the step of building that it is in, or at which it will continue.
    pub(super) fn phase(&self) -> Option<&Phase> {
        match self {
            Self::Building { phase } | Self::Paused { phase, .. } | Self::Blocked { phase, .. } => Some(phase),
            Self::Planning { .. }
            | Self::AwaitingApproval
            | Self::InReview
            | Self::Completed
            | Self::Cancelled { .. }
            | Self::Failed { .. } => None,
        }
    }
}

/// The steps of building. Each `emission` is that of the effect whose result the Feature waits for; `then` is the next
/// step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// The plan is being made. Only a paused or blocked Feature is in this step.
    Planning { emission: Emission },
    /// Pre-flight checks a commit of the default branch before a Player works on it.
    PreFlight { emission: Emission, then: AfterPreFlight },
    /// The integration branch is being made.
    OpeningBranch { emission: Emission },
    /// The default branch is being merged into the integration branch.
    MergingDefault { emission: Emission, then: Continuation },
    /// A task resolves a conflict with the default branch.
    Syncing { task: TaskId, then: Continuation },
    /// The tasks of the open waves are being built.
    Tasks,
    /// The wave gate runs.
    Gate { emission: Emission, then: Continuation },
    /// The work is done, and CI is held until a person lets it run.
    HeldCi,
    /// The feature pull request is being opened.
    OpeningPull { emission: Emission },
}

impl Phase {
    /// `true` if it comes after the tasks of a wave.
    pub(super) fn follows_tasks(&self) -> bool {
        matches!(self, Self::Gate { .. } | Self::OpeningPull { .. })
    }

    /// Returns the emission whose result it waits for; `None` if it waits for tasks.
    pub fn waits_for(&self) -> Option<Emission> {
        match self {
            Self::Planning { emission }
            | Self::PreFlight { emission, .. }
            | Self::OpeningBranch { emission }
            | Self::MergingDefault { emission, .. }
            | Self::Gate { emission, .. }
            | Self::OpeningPull { emission } => Some(*emission),
            Self::Syncing { .. } | Self::Tasks | Self::HeldCi => None,
        }
    }
}

/// The step that follows pre-flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AfterPreFlight {
    /// AutoBuild makes the integration branch from the commit.
    OpenBranch,
    /// The Feature continues, since the commit is merged in already.
    GoOn(Continuation),
}

/// The step that follows a merge of the default branch, or a wave gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Continuation {
    /// The next wave.
    Wave,
    /// The feature pull request.
    Pull,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CancelledWhy {
    /// A person gave the command `/autobuild cancel`.
    Command(User),
    LabelRemoved(User),
    IssueClosed(User),
    /// The feature pull request was closed unmerged.
    PullClosed(User),
    BranchDeleted,
    /// The repository was archived or deleted.
    RepositoryGone,
    /// The issue was transferred or deleted.
    IssueGone,
    /// The App was removed from the repository.
    InstallationRemoved,
    NothingCompleted,
}

impl CancelledWhy {
    /// Returns the person who cancelled it, if a person did.
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

    /// Returns the places where AutoBuild can still post and close things.
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

/// The places where AutoBuild can still post and close things after a Feature was cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// The issue and the pull requests.
    Everything,
    /// Only the pull requests.
    Pulls,
    /// No place.
    Nothing,
}

/// The state of the installation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Suspension {
    /// Not suspended.
    None,
    /// Suspended: nothing starts until the suspension is lifted.
    Suspended,
}
