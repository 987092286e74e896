//! What others say of a commit: their check runs and commit statuses.

use super::{
    error::GithubError,
    http::Reply,
    model::{app_id, text, time},
    repo::Repo,
    rights::Rights,
};
use domain::ids::{AppId, Millis, Sha};
use serde::Deserialize;

/// A check run of any App.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct SeenCheck {
    /// Numeric id; a later run has a higher one.
    pub id: u64,
    /// The App that made it.
    #[serde(default, deserialize_with = "app_id")]
    pub app: Option<AppId>,
    /// The suite that it is part of: two workflows may have jobs of the same name.
    #[serde(rename = "check_suite", default)]
    pub suite: Option<Suite>,
    /// Its name.
    pub name: String,
    /// `completed`, or where it is on its way.
    #[serde(default, deserialize_with = "text")]
    pub status: String,
    /// How it ended; empty while it has not.
    #[serde(default, deserialize_with = "text")]
    pub conclusion: String,
    /// What it shows.
    #[serde(default)]
    pub output: Option<SeenOutput>,
    /// Where its details are.
    #[serde(default, deserialize_with = "text")]
    pub details_url: String,
    /// When it ended.
    #[serde(default, deserialize_with = "time")]
    pub completed_at: Option<Millis>,
}

/// A check suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub struct Suite {
    /// Numeric id.
    pub id: u64,
}

/// What a check run shows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct SeenOutput {
    /// One line.
    #[serde(default, deserialize_with = "text")]
    pub title: String,
    /// Markdown.
    #[serde(default, deserialize_with = "text")]
    pub summary: String,
    /// Markdown.
    #[serde(default, deserialize_with = "text")]
    pub text: String,
}

/// The newest commit status of a context.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct SeenStatus {
    /// Whose it is, in its own words.
    pub context: String,
    /// `success`, `failure`, `error` or `pending`.
    #[serde(default, deserialize_with = "text")]
    pub state: String,
    /// One line.
    #[serde(default, deserialize_with = "text")]
    pub description: String,
    /// Where its details are.
    #[serde(default, deserialize_with = "text")]
    pub target_url: String,
    /// When it was set.
    #[serde(default, deserialize_with = "time")]
    pub updated_at: Option<Millis>,
}

#[derive(Deserialize)]
struct ChecksWire {
    check_runs: Vec<SeenCheck>,
}

#[derive(Deserialize)]
struct StatusesWire {
    statuses: Vec<SeenStatus>,
}

impl Repo<'_> {
    /// The check runs of all Apps on a commit, of runs that were repeated the last one.
    pub async fn seen_checks(&self, head: &Sha) -> Result<Vec<SeenCheck>, GithubError> {
        let tail = format!("/commits/{head}/check-runs?filter=latest");
        let page = |reply: &Reply| reply.json::<ChecksWire>().map(|page| page.check_runs);
        self.list(Rights::Evidence, &tail, page).await
    }

    /// The newest status of every context. What GitHub adds them up to is not read: of none at all it says `pending`.
    pub async fn seen_statuses(&self, head: &Sha) -> Result<Vec<SeenStatus>, GithubError> {
        let tail = format!("/commits/{head}/status");
        let page = |reply: &Reply| reply.json::<StatusesWire>().map(|page| page.statuses);
        self.list(Rights::Evidence, &tail, page).await
    }
}
