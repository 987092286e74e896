//! Issues: reads them and adds labels.

use super::{error::GithubError, model::Issue, repo::Repo, rights::Rights};
use domain::ids::IssueNumber;
use http::Method;
use serde_json::json;

impl Repo<'_> {
    /// Returns the current state of an issue. [`GithubError::Gone`] if it was deleted.
    pub async fn issue(&self, number: IssueNumber) -> Result<Issue, GithubError> {
        self.get(Rights::Read, &format!("/issues/{number}")).await
    }

    /// Adds a label to an issue. GitHub creates a label that the repository lacks. A label that the issue has already
    /// stays.
    pub async fn add_label(&self, number: IssueNumber, label: &str) -> Result<(), GithubError> {
        let tail = format!("/issues/{number}/labels");
        let body = json!({"labels": [label]});
        self.send(Rights::Converse, Method::POST, &tail, Some(&body))
            .await
            .map(drop)
    }
}
