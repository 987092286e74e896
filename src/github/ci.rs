//! Other Apps' results for a commit: check runs and commit statuses.

use super::{
    error::GithubError,
    http::Reply,
    model::{id_of, text, time},
    repo::Repo,
    rights::Rights,
};
use domain::ids::{Millis, Sha};
use serde::Deserialize;

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct SeenCheck {
    /// The numeric id. A later run has a higher one.
    pub id: u64,
    #[serde(default)]
    pub app: Option<SeenApp>,
    /// The suite that it belongs to. Two workflows may have jobs of the same name.
    #[serde(rename = "check_suite", default, deserialize_with = "id_of")]
    pub suite: Option<u64>,
    pub name: String,
    /// `completed`, or the present state.
    #[serde(default, deserialize_with = "text")]
    pub status: String,
    /// The conclusion; empty until it has ended.
    #[serde(default, deserialize_with = "text")]
    pub conclusion: String,
    #[serde(default)]
    pub output: Option<SeenOutput>,
    #[serde(default, deserialize_with = "text")]
    pub details_url: String,
    #[serde(default, deserialize_with = "time")]
    pub completed_at: Option<Millis>,
}

/// The App that made a check run.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct SeenApp {
    #[serde(default)]
    pub id: u64,
    #[serde(default, deserialize_with = "text")]
    pub slug: String,
}

impl SeenApp {
    /// `true` for GitHub Actions.
    #[must_use]
    pub fn is_actions(&self) -> bool {
        self.slug == "github-actions"
    }
}

/// The text of a check run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct SeenOutput {
    #[serde(default, deserialize_with = "text")]
    pub title: String,
    #[serde(default, deserialize_with = "text")]
    pub summary: String,
    #[serde(default, deserialize_with = "text")]
    pub text: String,
    #[serde(default)]
    pub annotations_count: Option<u64>,
}

/// The newest commit status of a context.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct SeenStatus {
    /// The name that its author gave it.
    pub context: String,
    /// `success`, `failure`, `error` or `pending`.
    #[serde(default, deserialize_with = "text")]
    pub state: String,
    #[serde(default, deserialize_with = "text")]
    pub description: String,
    #[serde(default, deserialize_with = "text")]
    pub target_url: String,
    /// The time at which it was set.
    #[serde(default, deserialize_with = "time")]
    pub updated_at: Option<Millis>,
}

impl Repo<'_> {
    /// Returns the check runs of all Apps on a commit. Of repeated runs, only the latest.
    pub async fn seen_checks(&self, head: &Sha) -> Result<Vec<SeenCheck>, GithubError> {
        let tail = format!("/commits/{head}/check-runs?filter=latest");
        let page = |reply: &Reply| reply.at("/check_runs");
        self.list(Rights::Evidence, &tail, page).await
    }

    /// Returns the newest status of every context. GitHub's combined state is not read, because it is `pending` if
    /// there are none.
    pub async fn seen_statuses(&self, head: &Sha) -> Result<Vec<SeenStatus>, GithubError> {
        let tail = format!("/commits/{head}/status");
        let page = |reply: &Reply| reply.at("/statuses");
        self.list(Rights::Evidence, &tail, page).await
    }
}
