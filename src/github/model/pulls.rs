//! Pull requests and reviews.

use super::fields::{id_of, open_state, review_state, sha, text, time};
use crate::github::model::{actor::Actor, issues::OpenState};
use domain::ids::{Millis, PullNumber, RepoId, ReviewId, Sha};
use serde::Deserialize;

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct PullHead {
    /// The branch name, without `refs/heads/`.
    #[serde(rename = "ref")]
    pub branch: String,
    pub sha: Sha,
    /// The repository that it is in; `None` for a deleted fork.
    #[serde(rename = "repo", default, deserialize_with = "id_of")]
    pub repo: Option<RepoId>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct PullBase {
    /// The branch name, without `refs/heads/`.
    #[serde(rename = "ref")]
    pub branch: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Pull {
    pub number: PullNumber,
    /// The GraphQL id; empty if GitHub gives none.
    #[serde(default, deserialize_with = "text")]
    pub node_id: String,
    /// Open or closed.
    #[serde(default, deserialize_with = "open_state")]
    pub state: OpenState,
    #[serde(default)]
    pub draft: bool,
    /// The time of the merge; `None` if it is not merged.
    #[serde(default, deserialize_with = "time")]
    pub merged_at: Option<Millis>,
    /// Who merged it. Lists of pull requests do not say so.
    #[serde(default)]
    pub merged_by: Option<Actor>,
    /// The commit that the merge made; while it is open, GitHub's test merge.
    #[serde(default, deserialize_with = "sha")]
    pub merge_commit_sha: Option<Sha>,
    pub title: String,
    pub head: PullHead,
    /// The branch that it is merged into.
    pub base: PullBase,
    #[serde(default, deserialize_with = "time")]
    pub closed_at: Option<Millis>,
}

impl Pull {
    pub fn is_merged(&self) -> bool {
        self.merged_at.is_some()
    }

    /// Returns `true` if its head branch is in the repository itself, not in a fork.
    pub fn is_from(&self, repo: RepoId) -> bool {
        self.head.repo == Some(repo)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReviewState {
    /// The change may be merged.
    Approved,
    /// The change must not be merged as it is.
    ChangesRequested,
    /// No verdict.
    Commented,
    /// A verdict that was dismissed.
    Dismissed,
    /// Not submitted yet, or an unknown state.
    #[default]
    Other,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Review {
    pub id: ReviewId,
    #[serde(deserialize_with = "review_state")]
    pub state: ReviewState,
    #[serde(rename = "commit_id", default, deserialize_with = "sha")]
    pub commit: Option<Sha>,
    /// The text; empty if GitHub gives none.
    #[serde(default, deserialize_with = "text")]
    pub body: String,
    /// The author; `None` for a deleted account.
    #[serde(rename = "user", default)]
    pub author: Option<Actor>,
    #[serde(default, deserialize_with = "time")]
    pub submitted_at: Option<Millis>,
}

/// A comment on a line of a pull request's diff.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct LineComment {
    #[serde(rename = "pull_request_review_id", default)]
    pub review: Option<ReviewId>,
    #[serde(default, deserialize_with = "text")]
    pub path: String,
    /// The line in the newest version; `None` if it is outdated, or about the whole file.
    #[serde(default)]
    pub line: Option<u32>,
    #[serde(default)]
    pub original_line: Option<u32>,
    #[serde(default, deserialize_with = "text")]
    pub body: String,
}
