//! Branches and commits, with the API.

use super::{error::GithubError, http::branch_path, repo::Repo, rights::Rights};
use domain::ids::Sha;
use serde_json::json;

impl Repo<'_> {
    /// Returns the tip of a branch; `None` if there is no such branch.
    pub async fn branch_head(&self, branch: &str) -> Result<Option<Sha>, GithubError> {
        let tail = format!("/git/ref/heads/{}", branch_path(branch));
        match self.get_at(Rights::Read, &tail, "/object/sha").await {
            Ok(found) => Ok(Some(found)),
            Err(GithubError::NotFound) => Ok(None),
            // GitHub answers with this and a 409 if nobody has pushed to the repository yet.
            Err(error) if error.mentions("repository is empty") => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Makes a branch. An existing one stays as it is.
    pub async fn make_branch(&self, branch: &str, at: &Sha) -> Result<(), GithubError> {
        let body = json!({ "ref": format!("refs/heads/{branch}"), "sha": at });
        match self.post(Rights::Push, "/git/refs", &body).await {
            Err(error) if error.mentions("reference already exists") => Ok(()),
            other => other.map(|_| ()),
        }
    }

    /// Makes a commit from objects that GitHub already has, on no branch. Without an author, the App is the author and
    /// GitHub signs it ("Commit signature verification for bots").
    pub async fn create_commit(&self, tree: &Sha, parents: &[Sha], message: &str) -> Result<Sha, GithubError> {
        let body = json!({"tree": tree, "parents": parents, "message": message});
        let reply = self.post(Rights::Push, "/git/commits", &body).await?;
        reply.at("/sha")
    }
}
