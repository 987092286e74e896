//! Check runs and commit statuses.

use crate::state::{moment::Moment, repo::Repo};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// A check run on a commit.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct CheckRun {
    pub id: u64,
    pub app: u64,
    pub name: String,
    pub head_sha: String,
    pub external_id: String,
    pub details_url: Option<String>,
    pub status: String,
    pub conclusion: Option<String>,
    pub title: Option<String>,
    pub summary: Option<String>,
    pub text: Option<String>,
    pub annotations: Vec<Value>,
    pub actions: Vec<Value>,
    pub started_at: Moment,
    pub completed_at: Option<Moment>,
    /// Its suite; 0 in old state files, which have no suites.
    #[serde(default)]
    pub suite: u64,
}

/// The check runs of one App on one commit.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct CheckSuite {
    pub id: u64,
    pub app: u64,
    pub head_sha: String,
    pub head_branch: Option<String>,
    /// `true` if a pull request of a fork started it.
    #[serde(default)]
    pub is_of_fork: bool,
    /// The branch's head before the push that requested the suite.
    pub before: Option<String>,
    /// `true` if the suite was requested again and its App has reported nothing since.
    pub waits: bool,
    pub created_at: Moment,
    pub updated_at: Moment,
}

impl Repo {
    /// Returns the newest run of each name in a suite.
    pub fn runs_of(&self, suite: u64) -> impl Iterator<Item = &CheckRun> {
        let runs = self.checks.values().filter(move |run| run.suite == suite);
        runs.map(|run| (&run.name, run)).collect::<BTreeMap<_, _>>().into_values()
    }

    /// Returns the status of a suite in GitHub's words.
    pub fn suite_status(&self, suite: u64) -> &'static str {
        let waits = self.suites.get(&suite).is_some_and(|suite| suite.waits);
        match self.runs_of(suite).next() {
            None => "queued",
            Some(_) if waits => "queued",
            Some(_) if self.runs_of(suite).all(|run| run.status == "completed") => "completed",
            Some(_) => "in_progress",
        }
    }

    /// Returns the conclusion of a completed suite: the worst of its runs.
    pub fn suite_conclusion(&self, suite: u64) -> Option<&'static str> {
        if self.suite_status(suite) != "completed" {
            return None;
        }
        let has = |word: &&str| self.runs_of(suite).any(|run| run.conclusion.as_deref() == Some(*word));
        let worst = ["failure", "timed_out", "action_required", "cancelled", "success"];
        Some(worst.into_iter().find(has).unwrap_or("neutral"))
    }
}

/// A CI job that reports a check or status on every commit pushed to a matching branch.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CiJob {
    /// The App that reports it as a check run; `None` for a commit status.
    pub app: Option<u64>,
    pub branches: String,
    pub name: String,
    pub conclusion: Option<String>,
    pub summary: String,
}

/// A commit status.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Status {
    pub id: u64,
    pub sha: String,
    pub context: String,
    pub state: String,
    pub description: Option<String>,
    pub creator: u64,
    pub created_at: Moment,
}
