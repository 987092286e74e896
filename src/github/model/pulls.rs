//! Pull requests and reviews.

use super::fields::{open_state, repo_id, review_state, sha, text, time};
use crate::github::model::{actor::Actor, issues::OpenState};
use domain::ids::{Millis, PullNumber, RepoId, ReviewId, Sha};
use serde::Deserialize;

/// One end of a pull request.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct PullEnd {
    /// Branch name, without `refs/heads/`.
    #[serde(rename = "ref")]
    pub branch: String,
    /// Commit at its tip.
    pub sha: Sha,
    /// The repository that holds it; `None` for a deleted fork.
    #[serde(rename = "repo", default, deserialize_with = "repo_id")]
    pub repo: Option<RepoId>,
}

/// A pull request.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Pull {
    /// Number within the repository.
    pub number: PullNumber,
    /// GraphQL id; empty where GitHub gives none.
    #[serde(default, deserialize_with = "text")]
    pub node_id: String,
    /// Open or closed.
    #[serde(default, deserialize_with = "open_state")]
    pub state: OpenState,
    /// Whether it is a draft.
    #[serde(default)]
    pub draft: bool,
    /// When it was merged; `None` while it is not.
    #[serde(default, deserialize_with = "time")]
    pub merged_at: Option<Millis>,
    /// Who merged it.
    #[serde(default)]
    pub merged_by: Option<Actor>,
    /// The commit that it became; while it is open, GitHub's test merge.
    #[serde(default, deserialize_with = "sha")]
    pub merge_commit_sha: Option<Sha>,
    /// Title.
    pub title: String,
    /// Body; `None` where it was left empty.
    #[serde(default)]
    pub body: Option<String>,
    /// Who opened it; `None` for a deleted account.
    #[serde(rename = "user", default)]
    pub author: Option<Actor>,
    /// What is to be merged.
    pub head: PullEnd,
    /// Where to.
    pub base: PullEnd,
    /// Whether it merges without conflict; `None` until GitHub has computed it.
    #[serde(default)]
    pub mergeable: Option<bool>,
    /// When it was closed.
    #[serde(default, deserialize_with = "time")]
    pub closed_at: Option<Millis>,
    /// Its page.
    #[serde(default, deserialize_with = "text")]
    pub html_url: String,
}

impl Pull {
    /// Whether it was merged.
    pub fn is_merged(&self) -> bool {
        self.merged_at.is_some()
    }

    /// Whether its head branch lies in the repository itself, and not in a fork.
    pub fn is_from(&self, repo: RepoId) -> bool {
        self.head.repo == Some(repo)
    }
}

/// What a review says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReviewState {
    /// The change may be merged.
    Approved,
    /// The change must not be merged as it is.
    ChangesRequested,
    /// No verdict.
    Commented,
    /// A verdict that was withdrawn.
    Dismissed,
    /// Not sent yet, or a state that we do not know.
    Other,
}

/// A review of a pull request.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Review {
    /// Numeric id.
    pub id: ReviewId,
    /// Its verdict.
    #[serde(deserialize_with = "review_state")]
    pub state: ReviewState,
    /// The commit that was reviewed.
    #[serde(rename = "commit_id", default, deserialize_with = "sha")]
    pub commit: Option<Sha>,
    /// Text; empty where GitHub gives none.
    #[serde(default, deserialize_with = "text")]
    pub body: String,
    /// Who wrote it; `None` for a deleted account.
    #[serde(rename = "user", default)]
    pub author: Option<Actor>,
    /// When it was sent.
    #[serde(default, deserialize_with = "time")]
    pub submitted_at: Option<Millis>,
    /// Its page.
    #[serde(default, deserialize_with = "text")]
    pub html_url: String,
}

/// A comment on a line of a pull request's diff.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct LineComment {
    /// The review that it is part of.
    #[serde(rename = "pull_request_review_id", default)]
    pub review: Option<ReviewId>,
    /// Path within the repository.
    #[serde(default, deserialize_with = "text")]
    pub path: String,
    /// The line in the newest version; `None` where it is outdated, or on the whole file.
    #[serde(default)]
    pub line: Option<u32>,
    /// The line in the version that was reviewed.
    #[serde(default)]
    pub original_line: Option<u32>,
    /// Text.
    #[serde(default, deserialize_with = "text")]
    pub body: String,
}
