//! Issues: read, and labelled.

use super::{error::GithubError, model::Issue, repo::Repo, rights::Rights};
use domain::ids::IssueNumber;
use http::Method;
use serde_json::json;

impl Repo<'_> {
    /// An issue as it is now. [`GithubError::Gone`] if it was deleted.
    pub async fn issue(&self, number: IssueNumber) -> Result<Issue, GithubError> {
        self.get(Rights::Read, &format!("/issues/{number}")).await
    }

    /// Puts a label on an issue; GitHub makes one that the repository lacks. One that is there already stays.
    pub async fn add_label(&self, number: IssueNumber, label: &str) -> Result<(), GithubError> {
        let tail = format!("/issues/{number}/labels");
        let body = json!({"labels": [label]});
        self.send(Rights::Converse, Method::POST, &tail, Some(&body))
            .await
            .map(drop)
    }
}
