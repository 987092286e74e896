//! Branches, by the API: what git itself is not needed for.

use super::{error::GithubError, http::branch_path, repo::Repo, rights::Rights};
use domain::ids::Sha;
use serde::Deserialize;

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
}
