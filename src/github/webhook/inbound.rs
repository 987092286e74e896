//! The parsed contents of a delivery.

use crate::github::model::{Actor, Comment, Issue, Pull, Repository, RepositoryRef, Review};
use domain::ids::{AppId, CheckRunId, InstallationId, Millis, Sha, UserId};
use std::collections::BTreeSet;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventOrigin {
    pub installation: InstallationId,
    pub repo: Repository,
    /// The account that caused it. GitHub is asked for its permissions, which are never read from the delivery.
    pub sender: Actor,
}

/// The parsed contents of a delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "nearly every delivery is the large one")]
pub enum Inbound {
    /// Something happened in a repository.
    Repo(Box<EventOrigin>, RepoEvent),
    /// Something happened to an installation.
    Installation {
        installation: InstallationId,
        /// The organisation or person that installed the App, if the delivery names it.
        account: Option<UserId>,
        event: InstallationEvent,
    },
    /// GitHub tests the hook.
    Ping,
    /// An event or action that AutoBuild does not act on.
    Ignored,
}

/// An event in a repository. The objects are as they were after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RepoEvent {
    /// Something happened to an issue or to the issue side of a pull request.
    Issue { issue: Issue, event: IssueEvent },
    /// Someone wrote a comment.
    CommentCreated {
        /// The issue or pull request under which it was written.
        issue: Issue,
        comment: Comment,
    },
    /// Something happened to a pull request.
    Pull { pull: Box<Pull>, event: PullEvent },
    /// A review was submitted or dismissed.
    Review { pull: Box<Pull>, review: Review, event: ReviewChange },
    /// A branch moved.
    Push(Push),
    /// Someone clicked a button of one of our check runs.
    CheckAction { run: PressedCheckRun, identifier: String },
    /// Someone wants the checks of a commit again: GitHub's _Re-run_ of one check run, or of all of them.
    Rerun {
        head: Sha,
        /// The App whose checks are meant, if GitHub names it.
        app: Option<AppId>,
    },
    /// Something happened to the repository itself.
    Repository(RepositoryEvent),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IssueEvent {
    /// This label was added. `None` if the repository no longer has the label, since GitHub then does not name it.
    Labeled(Option<String>),
    /// This label was removed; `None` as above.
    Unlabeled(Option<String>),
    Closed,
    Deleted,
    /// It was moved to another repository.
    Transferred,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PullEvent {
    /// It was closed; [`Pull::is_merged`] shows if it was merged.
    Closed,
    /// It was opened again.
    Reopened,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReviewChange {
    Submitted,
    Dismissed,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Push {
    /// The branch, without `refs/heads/`.
    pub branch: String,
    /// The tip before; `None` if the branch is new.
    pub before: Option<Sha>,
    /// The tip after; `None` if the branch was deleted.
    pub after: Option<Sha>,
    /// The way in which the branch moved.
    pub kind: PushKind,
    /// The paths that its commits touch; `None` if the delivery may not name all of them.
    pub paths: Option<BTreeSet<String>>,
}

impl Push {
    /// Returns `true` if the file may have changed.
    pub fn may_change(&self, path: &str) -> bool {
        self.paths.as_ref().is_none_or(|paths| paths.contains(path))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PushKind {
    /// The branch is new.
    Created,
    /// Commits were added.
    FastForward,
    /// The old tip is not among the new tip's ancestors.
    Forced,
    Deleted,
}

/// The check run whose button was clicked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PressedCheckRun {
    pub id: CheckRunId,
    pub external_id: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RepositoryEvent {
    /// It has a new name.
    Renamed,
    /// It has a new owner.
    Transferred,
    /// It became read-only.
    Archived,
    /// It is writable again.
    Unarchived,
    Deleted,
    /// It has another default branch.
    DefaultBranchChanged,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InstallationEvent {
    /// The App was installed, and covers these repositories.
    Created(Vec<RepositoryRef>),
    /// The App was uninstalled.
    Deleted,
    /// It was suspended, and may do nothing until it is unsuspended.
    Suspended {
        /// The time according to GitHub.
        at: Option<Millis>,
    },
    /// It is no longer suspended.
    Unsuspended,
    /// It covers more repositories.
    RepositoriesAdded(Vec<RepositoryRef>),
    /// It covers fewer repositories.
    RepositoriesRemoved(Vec<RepositoryRef>),
}

impl Inbound {
    /// Returns the repository and the sender of the event; `None` if it belongs to no repository.
    pub fn origin(&self) -> Option<&EventOrigin> {
        match self {
            Self::Repo(origin, _) => Some(origin),
            Self::Installation { .. } | Self::Ping | Self::Ignored => None,
        }
    }
}
