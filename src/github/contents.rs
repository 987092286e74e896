//! Reads and writes files and compares commits, with the API instead of git.

use super::{error::GithubError, http::branch_path, repo::Repo, rights::Rights};
use base64::{Engine, prelude::BASE64_STANDARD};
use domain::ids::Sha;
use http::Method;
use serde::{Deserialize, de::IgnoredAny};
use serde_json::json;
use std::collections::BTreeSet;

/// Git's mode of a symbolic link.
const LINK: &str = "120000";

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// There is nothing at the path.
    Missing,
    /// A file. GitHub follows a symbolic link to a file of the same repository.
    File(Vec<u8>),
    /// A file larger than the limit.
    TooLarge,
    /// A folder, a submodule, or a symbolic link that leads to no file of the repository.
    NotAFile,
}

/// GitHub answers with an object, or with a list for a folder.
#[derive(Deserialize)]
#[serde(untagged)]
enum ContentWire {
    Entry(EntryWire),
    Folder(IgnoredAny),
}

#[derive(Deserialize)]
struct EntryWire {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    size: usize,
    content: Option<String>,
    encoding: Option<String>,
}

#[derive(Deserialize)]
struct TreeEntryWire {
    path: String,
    mode: String,
    #[serde(rename = "type")]
    kind: String,
}

impl Repo<'_> {
    /// Returns the content of `path` at a commit. A file of more than `most` bytes is not read.
    pub async fn content(&self, path: &str, at: &Sha, most: usize) -> Result<Content, GithubError> {
        let tail = format!("/contents/{}?ref={at}", branch_path(path));
        match self.get::<ContentWire>(Rights::Read, &tail).await {
            Ok(ContentWire::Folder(_)) => Ok(Content::NotAFile),
            Ok(ContentWire::Entry(entry)) => content(entry, most),
            Err(GithubError::NotFound) => Ok(Content::Missing),
            Err(error) if error.mentions("too_large") => Ok(Content::TooLarge),
            Err(error) => Err(error),
        }
    }

    /// Writes a new file, as a commit on a branch.
    pub async fn add_file(&self, branch: &str, path: &str, text: &str, message: &str) -> Result<(), GithubError> {
        let body = json!({ "branch": branch, "message": message, "content": BASE64_STANDARD.encode(text) });
        let tail = format!("/contents/{}", branch_path(path));
        self.send(Rights::Push, Method::PUT, &tail, Some(&body)).await.map(|_| ())
    }

    /// Returns the files of a commit, and those of them that are links. For a very large repository, only those that
    /// GitHub lists.
    pub async fn files(&self, at: &Sha) -> Result<(Vec<String>, BTreeSet<String>), GithubError> {
        let tail = format!("/git/trees/{at}?recursive=1");
        let found: Vec<TreeEntryWire> = self.get_at(Rights::Read, &tail, "/tree").await?;
        let files = || found.iter().filter(|entry| entry.kind == "blob");
        let links = files().filter(|entry| entry.mode == LINK).map(|entry| entry.path.clone());
        Ok((files().map(|entry| entry.path.clone()).collect(), links.collect()))
    }

    /// Returns `true` if `head` is `base` or a descendant of it.
    pub async fn is_at_or_after(&self, head: &Sha, base: &Sha) -> Result<bool, GithubError> {
        let tail = format!("/compare/{base}...{head}?per_page=1");
        match self.get_at::<String>(Rights::Read, &tail, "/status").await {
            Ok(status) => Ok(matches!(status.as_str(), "ahead" | "identical")),
            // There is no common ancestor.
            Err(GithubError::NotFound) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

fn content(entry: EntryWire, most: usize) -> Result<Content, GithubError> {
    if entry.kind != "file" {
        return Ok(Content::NotAFile);
    }
    // From 1 MB on, GitHub returns only the size, with the encoding `none`.
    if entry.size > most || entry.encoding.as_deref() != Some("base64") {
        return Ok(Content::TooLarge);
    }
    let text = entry.content.unwrap_or_default();
    let base64: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let decoded = BASE64_STANDARD.decode(base64);
    decoded.map(Content::File).map_err(|error| GithubError::Malformed { source: error.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Content {
        match serde_json::from_str(text).unwrap() {
            ContentWire::Folder(_) => Content::NotAFile,
            ContentWire::Entry(entry) => content(entry, 10).unwrap(),
        }
    }

    #[test]
    fn each_kind_of_answer_is_told_apart() {
        let file = r#"{"type":"file","encoding":"base64","size":6,"content":"bGFi\nZWw=\n","name":"x"}"#;
        assert_eq!(read(file), Content::File(b"label".to_vec()));
        let empty = r#"{"type":"file","encoding":"base64","size":0,"content":""}"#;
        assert_eq!(read(empty), Content::File(Vec::new()));
        let large = r#"{"type":"file","encoding":"base64","size":11,"content":"bGFiZWw="}"#;
        assert_eq!(read(large), Content::TooLarge);
        let larger = r#"{"type":"file","encoding":"none","size":9,"content":""}"#;
        assert_eq!(read(larger), Content::TooLarge);
        let link = r#"{"type":"symlink","target":"../../etc/passwd","size":16}"#;
        assert_eq!(read(link), Content::NotAFile);
        let submodule = r#"{"type":"submodule","submodule_git_url":"https://example.com/x","size":0}"#;
        assert_eq!(read(submodule), Content::NotAFile);
        assert_eq!(read(r#"[{"type":"file","size":1}]"#), Content::NotAFile);
        assert_eq!(read("[]"), Content::NotAFile);
    }
}
