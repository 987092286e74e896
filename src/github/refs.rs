//! Branches, by the API: what git itself is not needed for.

use super::{error::GithubError, http::branch_path, repo::Repo, rights::Rights};
use domain::ids::Sha;
use http::Method;
use serde::Deserialize;
use serde_json::json;

/// What became of a branch to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CreatedRef {
    /// It is there now.
    Created,
    /// It was there before, at whatever commit.
    Exists,
}

#[derive(Deserialize)]
struct RefWire {
    object: ObjectWire,
}

#[derive(Deserialize)]
struct ObjectWire {
    sha: Sha,
}

impl Repo<'_> {
    /// The tip of a branch; `None` if there is no such branch.
    pub async fn branch_head(&self, branch: &str) -> Result<Option<Sha>, GithubError> {
        let tail = format!("/git/ref/heads/{}", branch_path(branch));
        match self.get::<RefWire>(Rights::Read, &tail).await {
            Ok(found) => Ok(Some(found.object.sha)),
            Err(GithubError::NotFound) => Ok(None),
            // So it answers, with 409, for a repository that nobody pushed to yet.
            Err(error) if error.says("repository is empty") => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Makes a branch at a commit.
    pub async fn create_branch(&self, branch: &str, at: &Sha) -> Result<CreatedRef, GithubError> {
        let body = json!({"ref": format!("refs/heads/{branch}"), "sha": at});
        match self.send(Rights::Push, Method::POST, "/git/refs", Some(&body)).await {
            Ok(_) => Ok(CreatedRef::Created),
            Err(error) if error.says("reference already exists") => Ok(CreatedRef::Exists),
            Err(error) => Err(error),
        }
    }

    /// Deletes a branch; one that is gone already is fine.
    pub async fn delete_branch(&self, branch: &str) -> Result<(), GithubError> {
        let tail = format!("/git/refs/heads/{}", branch_path(branch));
        match self.send(Rights::Push, Method::DELETE, &tail, None).await {
            Ok(_) | Err(GithubError::NotFound) => Ok(()),
            Err(error) if error.says("reference does not exist") => Ok(()),
            Err(error) => Err(error),
        }
    }
}
