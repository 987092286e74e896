//! Other Apps' results for a commit: check runs and commit statuses.

use super::{
    error::GithubError,
    http::Reply,
    model::{id_of, text, time},
    repo::Repo,
    rights::Rights,
};
use domain::ids::{AppId, Millis, PullNumber, Sha};
use serde::Deserialize;
use std::collections::BTreeSet;

/// The most commits of a branch whose reporters are read.
const MOST_COMMITS: usize = 5;

/// The most reporters that are named.
const MOST_REPORTERS: usize = 20;

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
    pub fn is_actions(&self) -> bool {
        self.slug == "github-actions"
    }
}

/// A check suite with the pull requests that it belongs to.
#[derive(Deserialize)]
struct SeenSuite {
    id: u64,
    #[serde(default)]
    pull_requests: Option<Vec<SuitePull>>,
}

#[derive(Deserialize)]
struct SuitePull {
    number: u64,
}

/// A parent of a commit.
#[derive(Deserialize)]
struct CommitParent {
    sha: Sha,
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
    ///
    /// With a pull request, only those of suites that name it: a stranger's pull request may have the same commit, and
    /// starts workflows whose results GitHub shows on it. GitHub lists a pull request by the branch of the suite, and
    /// none if the branch is a fork's. The pull requests of a run would not do, because they go by the commit. Any other App
    /// than Actions has one suite for all branches with the commit, so that its runs cannot be told apart.
    pub async fn seen_checks(&self, head: &Sha, of: Option<PullNumber>) -> Result<Vec<SeenCheck>, GithubError> {
        let tail = format!("/commits/{head}/check-runs?filter=latest");
        let page = |reply: &Reply| reply.at("/check_runs");
        let mut runs: Vec<SeenCheck> = self.list(Rights::Evidence, &tail, page).await?;
        if let Some(pull) = of.filter(|_| !runs.is_empty()) {
            let suites = self.suites_of(head, pull).await?;
            let is_actions = |run: &SeenCheck| run.app.as_ref().is_some_and(SeenApp::is_actions);
            runs.retain(|run| !is_actions(run) || run.suite.is_none_or(|suite| suites.contains(&suite)));
        }
        Ok(runs)
    }

    /// Returns the names of others who report on the newest commits of a branch: Apps that are neither GitHub Actions nor
    /// `ours`, and the contexts of statuses. The head alone is not enough: after a release, CI often skips it, and a new
    /// head has no reports yet.
    pub async fn reporters(&self, head: &Sha, ours: &[AppId]) -> Result<Vec<String>, GithubError> {
        let mut names = BTreeSet::new();
        let mut commit = head.clone();
        for _ in 0..MOST_COMMITS {
            let tail = format!("/git/commits/{commit}");
            let (checks, statuses, parents) = tokio::try_join!(
                self.seen_checks(&commit, None),
                self.seen_statuses(&commit),
                self.get_at::<Vec<CommitParent>>(Rights::Read, &tail, "/parents"),
            )?;
            let apps = checks.into_iter().filter_map(|check| check.app);
            let foreign = apps.filter(|app| !app.is_actions() && !ours.contains(&AppId(app.id)));
            names.extend(foreign.map(|app| app.slug));
            names.extend(statuses.into_iter().map(|status| status.context));
            match parents.into_iter().next() {
                Some(parent) => commit = parent.sha,
                None => break,
            }
        }
        Ok(names.into_iter().take(MOST_REPORTERS).collect())
    }

    async fn suites_of(&self, head: &Sha, pull: PullNumber) -> Result<BTreeSet<u64>, GithubError> {
        let tail = format!("/commits/{head}/check-suites");
        let page = |reply: &Reply| reply.at("/check_suites");
        let seen: Vec<SeenSuite> = self.list(Rights::Evidence, &tail, page).await?;
        let is_of_pull = |seen: &SeenSuite| seen.pull_requests.iter().flatten().any(|one| one.number == pull.0);
        Ok(seen.into_iter().filter(is_of_pull).map(|seen| seen.id).collect())
    }

    /// Returns the newest status of every context. GitHub's combined state is not read, because it is `pending` if
    /// there are none.
    pub async fn seen_statuses(&self, head: &Sha) -> Result<Vec<SeenStatus>, GithubError> {
        let tail = format!("/commits/{head}/status");
        let page = |reply: &Reply| reply.at("/statuses");
        self.list(Rights::Evidence, &tail, page).await
    }
}
