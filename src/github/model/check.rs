//! Check runs, and suites of them.

use crate::github::model::app_id;
use domain::ids::{AppId, CheckRunId, Sha};
use serde::Deserialize;

/// A check run, or a suite of them, which has no external id.
#[derive(Deserialize)]
pub struct Check {
    pub id: CheckRunId,
    pub external_id: Option<String>,
    pub head_sha: Sha,
    #[serde(default, deserialize_with = "app_id")]
    pub app: Option<AppId>,
}
