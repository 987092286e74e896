//! The files and folders of a commit.

use super::{BareError, BareRepo};

/// A file, link, folder or submodule at a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeEntry {
    /// `100644`, `120000` for a symbolic link, `160000` for a submodule, `040000` for a folder, …
    pub mode: String,
    /// `blob`, `tree` or `commit`.
    pub kind: String,
    pub id: String,
    /// The size of a blob in bytes; 0 for anything else.
    pub size: u64,
    /// The name in the folder that was listed, or the path from the root.
    pub path: String,
}

impl BareRepo {
    /// Returns the entry of `path` at a commit, if there is one.
    pub async fn entry(&self, commit: &str, path: &str) -> Result<Option<TreeEntry>, BareError> {
        let entries = self.list(&[commit, "--", path]).await?;
        Ok(entries.into_iter().find(|entry| entry.path == path))
    }

    /// Returns the content of `path` at a commit, if there is a file of that name.
    pub async fn file(&self, commit: &str, path: &str) -> Result<Option<Vec<u8>>, BareError> {
        match self.entry(commit, path).await? {
            Some(entry) if entry.kind == "blob" => Ok(Some(self.blob(&entry.id).await?)),
            Some(_) | None => Ok(None),
        }
    }

    pub async fn blob(&self, id: &str) -> Result<Vec<u8>, BareError> {
        self.run(&["cat-file", "blob", id], b"").await
    }

    /// Returns the entries of the folder `path` (empty for the root) at a commit, if there is such a folder.
    pub async fn folder(&self, commit: &str, path: &str) -> Result<Option<Vec<TreeEntry>>, BareError> {
        if path.is_empty() {
            return Ok(Some(self.list(&[commit]).await?));
        }
        match self.entry(commit, path).await? {
            Some(entry) if entry.kind == "tree" => Ok(Some(self.list(&[&entry.id]).await?)),
            Some(_) | None => Ok(None),
        }
    }

    /// Returns all entries of a commit except folders.
    pub async fn files(&self, commit: &str) -> Result<Vec<TreeEntry>, BareError> {
        self.list(&["-r", commit]).await
    }

    async fn list(&self, what: &[&str]) -> Result<Vec<TreeEntry>, BareError> {
        let out = self.run(&[&["ls-tree", "-l", "-z"], what].concat(), b"").await?;
        let text = String::from_utf8_lossy(&out);
        let records = text.split('\0').filter(|record| !record.is_empty());
        records.map(|record| parse(record).ok_or(BareError::Unreadable("ls-tree"))).collect()
    }
}

/// Reads `<mode> <kind> <id> <size> TAB <path>`. The size of what is no blob is `-`.
fn parse(record: &str) -> Option<TreeEntry> {
    let (meta, path) = record.split_once('\t')?;
    let mut words = meta.split_ascii_whitespace().map(str::to_owned);
    let (mode, kind, id, size) = (words.next()?, words.next()?, words.next()?, words.next()?);
    let size = if size == "-" { 0 } else { size.parse().ok()? };
    Some(TreeEntry { mode, kind, id, size, path: path.to_owned() })
}
