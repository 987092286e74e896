//! Check runs and commit statuses.

use super::Moment;
use serde::Deserialize;
use serde::Serialize;
use serde_json::Value;

/// A check run on a commit.
#[derive(Clone, Debug, Serialize, Deserialize)]
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
}

/// A check that appears on every commit pushed to a branch that matches.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CiJob {
    /// The App that reports it as a check run; none: it is a commit status.
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
    pub target_url: Option<String>,
    pub creator: u64,
    pub created_at: Moment,
}
