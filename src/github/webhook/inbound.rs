//! What a delivery says, once it is read.

use crate::github::model::{Actor, Comment, Issue, Pull, Repository, RepositoryRef, Review};
use domain::ids::{AppId, CheckRunId, InstallationId, Millis, Sha};
use std::collections::BTreeSet;

/// Where something happened and who did it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The installation that delivered it.
    pub installation: InstallationId,
    /// The repository.
    pub repo: Repository,
    /// Who caused it; whether they may is asked of GitHub, never read from here.
    pub sender: Actor,
}

/// What a delivery says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inbound {
    /// Something happened to an issue or to the issue side of a pull request.
    Issue {
        /// Where and who.
        place: Box<Place>,
        /// The issue as it is after the event.
        issue: Issue,
        /// What happened.
        event: IssueEvent,
    },
    /// Somebody wrote a comment.
    CommentCreated {
        /// Where and who.
        place: Box<Place>,
        /// What it was written under.
        issue: Issue,
        /// The comment.
        comment: Comment,
    },
    /// Something happened to a pull request.
    Pull {
        /// Where and who.
        place: Box<Place>,
        /// The pull request as it is after the event.
        pull: Box<Pull>,
        /// What happened.
        event: PullEvent,
    },
    /// A review was sent or withdrawn.
    Review {
        /// Where and who.
        place: Box<Place>,
        /// The reviewed pull request.
        pull: Box<Pull>,
        /// The review.
        review: Review,
        /// What happened.
        event: ReviewChange,
    },
    /// A branch moved.
    Push {
        /// Where and who.
        place: Box<Place>,
        /// How it moved.
        push: Push,
    },
    /// Somebody pressed a button that we put on one of our check runs.
    CheckAction {
        /// Where and who.
        place: Box<Place>,
        /// The check run.
        run: PressedCheckRun,
        /// The button's identifier.
        identifier: String,
    },
    /// Somebody wants the checks of a commit again: GitHub's _Re-run_ of one check run, or of all of them.
    Rerun {
        /// Where and who.
        place: Box<Place>,
        /// The commit.
        head: Sha,
        /// The App whose checks are meant, where GitHub says so.
        app: Option<AppId>,
    },
    /// Something happened to the repository itself.
    Repository {
        /// Where and who; the repository as it is after the event.
        place: Box<Place>,
        /// What happened.
        event: RepositoryEvent,
    },
    /// Something happened to an installation.
    Installation {
        /// Which one.
        installation: InstallationId,
        /// Who did it.
        sender: Actor,
        /// What happened.
        event: InstallationEvent,
    },
    /// GitHub tries the hook out.
    Ping,
    /// An event or action that AutoBuild does not act on.
    Ignored {
        /// `X-GitHub-Event`.
        event: String,
        /// The payload's `action`, where it has one.
        action: Option<String>,
    },
}

/// What happened to an issue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IssueEvent {
    /// This label was put on; GitHub does not name one that is gone from the repository by now.
    Labeled(Option<String>),
    /// This label was taken off; likewise.
    Unlabeled(Option<String>),
    /// Title or body were changed.
    Edited,
    /// It was closed.
    Closed,
    /// It was opened again.
    Reopened,
    /// It was deleted.
    Deleted,
    /// It went to another repository.
    Transferred,
}

/// What happened to a pull request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PullEvent {
    /// It was closed; [`Pull::is_merged`] says how.
    Closed,
    /// It was opened again.
    Reopened,
    /// Its head branch moved.
    Synchronized {
        /// The head until now.
        before: Option<Sha>,
        /// The head from now on.
        after: Sha,
    },
}

/// What happened to a review.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReviewChange {
    /// It was sent.
    Submitted,
    /// Its verdict was withdrawn.
    Dismissed,
}

/// How a branch moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Push {
    /// The branch, without `refs/heads/`.
    pub branch: String,
    /// Its tip until now; `None` if the branch is new.
    pub before: Option<Sha>,
    /// Its tip from now on; `None` if the branch is gone.
    pub after: Option<Sha>,
    /// Whether commits were added or history was rewritten.
    pub kind: PushKind,
    /// The paths that its commits touch, where the delivery names them all.
    pub paths: Option<BTreeSet<String>>,
}

impl Push {
    /// Whether the file may say something else now.
    pub fn may_change(&self, path: &str) -> bool {
        self.paths.as_ref().is_none_or(|paths| paths.contains(path))
    }
}

/// Whether a push added commits or rewrote history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PushKind {
    /// The branch is new.
    Created,
    /// Commits were added.
    FastForward,
    /// The old tip is not among the new tip's ancestors.
    Forced,
    /// The branch is gone.
    Deleted,
}

/// The check run whose button was pressed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PressedCheckRun {
    /// Numeric id.
    pub id: CheckRunId,
    /// The id that we gave it.
    pub external_id: Option<String>,
}

/// What happened to a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RepositoryEvent {
    /// It has a new name.
    Renamed,
    /// It has a new owner.
    Transferred,
    /// It became read-only.
    Archived,
    /// It may be written again.
    Unarchived,
    /// It is gone.
    Deleted,
    /// Another branch is the default branch now.
    DefaultBranchChanged,
}

/// What happened to an installation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InstallationEvent {
    /// It was made.
    Created,
    /// The App was removed.
    Deleted,
    /// It may do nothing until it is unsuspended.
    Suspended {
        /// GitHub's time of it.
        at: Option<Millis>,
    },
    /// It may work again.
    Unsuspended,
    /// Its owner accepted the App's new permissions.
    PermissionsAccepted,
    /// It covers more repositories.
    RepositoriesAdded(Vec<RepositoryRef>),
    /// It covers fewer repositories.
    RepositoriesRemoved(Vec<RepositoryRef>),
}

impl Inbound {
    /// Where it happened; `None` for what happens to no repository.
    pub fn place(&self) -> Option<&Place> {
        match self {
            Self::Issue { place, .. }
            | Self::CommentCreated { place, .. }
            | Self::Pull { place, .. }
            | Self::Review { place, .. }
            | Self::Push { place, .. }
            | Self::CheckAction { place, .. }
            | Self::Rerun { place, .. }
            | Self::Repository { place, .. } => Some(place),
            Self::Installation { .. } | Self::Ping | Self::Ignored { .. } => None,
        }
    }
}
