//! Repositories.

use crate::github::model::fields;
use domain::ids::{RepoId, RepoName};
use serde::Deserialize;

/// A repository as webhooks and answers show it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Repository {
    /// Numeric id.
    pub id: RepoId,
    /// Name now.
    #[serde(rename = "full_name", deserialize_with = "fields::repo_name")]
    pub name: RepoName,
    /// Name of the default branch.
    pub default_branch: String,
    /// Whether only invited people see it.
    #[serde(default)]
    pub private: bool,
    /// Whether it is read-only.
    #[serde(default)]
    pub archived: bool,
    /// Whether squash merges are allowed, where GitHub says so.
    #[serde(default)]
    pub allow_squash_merge: Option<bool>,
    /// Whether merge commits are allowed, where GitHub says so.
    #[serde(default)]
    pub allow_merge_commit: Option<bool>,
    /// Whether rebase merges are allowed, where GitHub says so.
    #[serde(default)]
    pub allow_rebase_merge: Option<bool>,
}

/// A repository named in an installation event: no more than its id and name.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct RepositoryRef {
    /// Numeric id.
    pub id: RepoId,
    /// Name at the time of the event.
    #[serde(rename = "full_name", deserialize_with = "fields::repo_name")]
    pub name: RepoName,
}
