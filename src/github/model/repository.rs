//! Repositories.

use crate::github::model::fields;
use domain::ids::{RepoId, RepoName};
use serde::Deserialize;

/// A repository as in webhooks and API answers.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Repository {
    pub id: RepoId,
    #[serde(rename = "full_name", deserialize_with = "fields::repo_name")]
    pub name: RepoName,
    pub default_branch: String,
    /// `true` if only invited people can see it.
    #[serde(default)]
    pub private: bool,
    /// `true` if it is read-only.
    #[serde(default)]
    pub archived: bool,
    /// `true` if squash merges are allowed; `None` if GitHub does not say.
    #[serde(default)]
    pub allow_squash_merge: Option<bool>,
    /// `true` if merge commits are allowed; `None` if GitHub does not say.
    #[serde(default)]
    pub allow_merge_commit: Option<bool>,
    /// `true` if rebase merges are allowed; `None` if GitHub does not say.
    #[serde(default)]
    pub allow_rebase_merge: Option<bool>,
}

/// A repository in an installation event: only its id and name.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct RepositoryRef {
    pub id: RepoId,
    #[serde(rename = "full_name", deserialize_with = "fields::repo_name")]
    pub name: RepoName,
}
