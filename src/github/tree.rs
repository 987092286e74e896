//! Reads a repository's files and labels without a clone.

use super::{error::GithubError, http::segment, repo::Repo, rights::Rights};
use domain::ids::Sha;
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
struct TreeWire {
    tree: Vec<EntryWire>,
}

#[derive(Deserialize)]
struct EntryWire {
    path: String,
    #[serde(rename = "type")]
    kind: String,
}

impl Repo<'_> {
    /// Returns the files of a commit. For a very large repository, only those that GitHub lists.
    pub async fn files(&self, at: &Sha) -> Result<Vec<String>, GithubError> {
        let tail = format!("/git/trees/{at}?recursive=1");
        let found: TreeWire = self.get(Rights::Read, &tail).await?;
        let files = found.tree.into_iter().filter(|entry| entry.kind == "blob");
        Ok(files.map(|entry| entry.path).collect())
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
}
