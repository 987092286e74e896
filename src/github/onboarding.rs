//! The set-up of a repository: makes labels, a branch, and one file on it.

use super::{error::GithubError, http::branch_path, repo::Repo, rights::Rights};
use base64::{Engine, prelude::BASE64_STANDARD};
use domain::ids::Sha;
use http::Method;
use serde_json::json;

impl Repo<'_> {
    /// Makes a label. An existing one stays as it is.
    pub async fn make_label(&self, name: &str, color: &str, description: &str) -> Result<(), GithubError> {
        let body = json!({ "name": name, "color": color, "description": description });
        match self.send(Rights::Converse, Method::POST, "/labels", Some(&body)).await {
            Err(error) if error.says("already_exists") => Ok(()),
            other => other.map(|_| ()),
        }
    }

    /// Makes a branch. An existing one stays as it is.
    pub async fn make_branch(&self, branch: &str, at: &Sha) -> Result<(), GithubError> {
        let body = json!({ "ref": format!("refs/heads/{branch}"), "sha": at });
        match self.send(Rights::Push, Method::POST, "/git/refs", Some(&body)).await {
            Err(error) if error.says("reference already exists") => Ok(()),
            other => other.map(|_| ()),
        }
    }

    /// Writes a new file, as a commit on a branch.
    pub async fn add_file(&self, branch: &str, path: &str, text: &str, message: &str) -> Result<(), GithubError> {
        let body = json!({ "branch": branch, "message": message, "content": BASE64_STANDARD.encode(text) });
        let tail = format!("/contents/{}", branch_path(path));
        self.send(Rights::Push, Method::PUT, &tail, Some(&body))
            .await
            .map(|_| ())
    }
}
