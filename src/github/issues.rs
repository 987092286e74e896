//! Issues and labels.

use super::{error::GithubError, http::segment, model::Issue, repo::Repo, rights::Rights};
use domain::ids::IssueNumber;
use serde_json::{Value, json};

impl Repo<'_> {
    /// Returns the current state of an issue. [`GithubError::Gone`] if it was deleted.
    pub async fn issue(&self, number: IssueNumber) -> Result<Issue, GithubError> {
        self.get(Rights::Read, &format!("/issues/{number}")).await
    }

    /// Makes a label. An existing one stays as it is.
    pub async fn make_label(&self, name: &str, color: &str, description: &str) -> Result<(), GithubError> {
        let body = json!({ "name": name, "color": color, "description": description });
        match self.post(Rights::Converse, "/labels", &body).await {
            Err(error) if error.mentions("already_exists") => Ok(()),
            other => other.map(|_| ()),
        }
    }

    /// Returns `true` if the repository has this label.
    pub async fn knows_label(&self, label: &str) -> Result<bool, GithubError> {
        let tail = format!("/labels/{}", segment(label));
        match self.get::<Value>(Rights::Read, &tail).await {
            Ok(_) => Ok(true),
            Err(GithubError::NotFound) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Adds a label to an issue. GitHub creates a label that the repository lacks. A label that the issue has already
    /// stays.
    pub async fn add_label(&self, number: IssueNumber, label: &str) -> Result<(), GithubError> {
        let tail = format!("/issues/{number}/labels");
        let body = json!({"labels": [label]});
        self.post(Rights::Converse, &tail, &body).await.map(drop)
    }
}
