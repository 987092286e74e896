//! The differences between two commits, file by file, as GitHub's API shows them.

use super::{BareError, BareRepo};
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// The file is new.
    Added,
    /// Its content or mode changed.
    Modified,
    Removed,
    /// The file has another name.
    Renamed,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// The path; for a removed file, the one before.
    pub path: String,
    /// The path before, if the file was renamed.
    pub previous: Option<String>,
    pub kind: ChangeKind,
    /// The blob's id; for a removed file, the one before.
    pub blob: String,
    /// Lines added.
    pub additions: usize,
    /// Lines removed.
    pub deletions: usize,
    /// The hunks from the first `@@` on; none for binary files and for changes of the mode alone.
    pub patch: Option<String>,
}

/// A head compared with its base.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// The best common ancestor.
    pub merge_base: Option<String>,
    /// The number of commits that only the head has.
    pub ahead: usize,
    /// The number of commits that only the base has.
    pub behind: usize,
    /// The files that the head changed since the common ancestor.
    pub files: Vec<FileChange>,
}

impl BareRepo {
    /// Compares `head` with the common ancestor of `head` and `base`.
    pub async fn compare(&self, base: &str, head: &str) -> Result<Comparison, BareError> {
        let range = format!("{base}...{head}");
        let args = ["rev-list", "--count", "--left-right", "--end-of-options", &range];
        let counts = self.line(&args, b"").await?;
        let (behind, ahead) = counts.split_once('\t').ok_or(BareError::Unreadable("rev-list"))?;
        let merge_base = self.merge_base(base, head).await?;
        let files = self.diff(merge_base.as_deref().unwrap_or(base), head).await?;
        Ok(Comparison {
            merge_base,
            ahead: ahead.parse().map_err(|_| BareError::Unreadable("rev-list"))?,
            behind: behind.parse().map_err(|_| BareError::Unreadable("rev-list"))?,
            files,
        })
    }

    /// Returns the files that differ between two trees or commits.
    pub async fn diff(&self, from: &str, to: &str) -> Result<Vec<FileChange>, BareError> {
        let args = [
            "diff-tree",
            "-r",
            "-z",
            "-M",
            "--raw",
            "--patch",
            "--no-color",
            "--no-ext-diff",
            "--no-textconv",
            "--full-index",
            "--end-of-options",
            from,
            to,
        ];
        Ok(parse(&String::from_utf8_lossy(&self.run(&args, b"").await?)))
    }

    /// Returns the content of `path` at a commit, if there is a file of that name.
    pub async fn file(&self, commit: &str, path: &str) -> Result<Option<Vec<u8>>, BareError> {
        match self.object_id(&format!("{commit}:{path}")).await? {
            Some(id) if self.line(&["cat-file", "-t", &id], b"").await? == "blob" => {
                Ok(Some(self.run(&["cat-file", "blob", &id], b"").await?))
            }
            _ => Ok(None),
        }
    }

    /// Returns the mode of `path` at a commit: `100644`, `120000` for a symbolic link, `160000` for a submodule, …
    pub async fn mode(&self, commit: &str, path: &str) -> Result<Option<String>, BareError> {
        let out = self.run(&["ls-tree", "-z", commit, "--", path], b"").await?;
        let text = String::from_utf8_lossy(&out);
        let entry = text.split('\0').find(|record| record.ends_with(&format!("\t{path}")));
        Ok(entry.and_then(|record| record.split(' ').next()).map(str::to_owned))
    }

    /// Returns the size of an object in bytes.
    pub async fn size(&self, id: &str) -> Result<u64, BareError> {
        Ok(self.line(&["cat-file", "-s", id], b"").await?.parse().unwrap_or(0))
    }

    /// Returns the paths that each of these commits touches, by commit id. A merge is compared with its first parent.
    pub async fn touched(&self, commits: &[&str]) -> Result<BTreeMap<String, Vec<(ChangeKind, String)>>, BareError> {
        let args = [
            "diff-tree",
            "--stdin",
            "--root",
            "-r",
            "-z",
            "--no-renames",
            "--name-status",
            "--diff-merges=first-parent",
        ];
        let lines: String = commits.iter().flat_map(|id| [*id, "\n"]).collect();
        let out = self.run(&args, lines.as_bytes()).await?;
        Ok(touched(&String::from_utf8_lossy(&out)))
    }

    /// Returns the entries of the folder `path` (empty for the root) at a commit: kind (`blob`, `tree`, `commit`), id,
    /// name.
    pub async fn folder(&self, commit: &str, path: &str) -> Result<Option<Vec<(String, String, String)>>, BareError> {
        let Some(id) = self.object_id(&format!("{commit}:{path}")).await? else {
            return Ok(None);
        };
        if self.line(&["cat-file", "-t", &id], b"").await? != "tree" {
            return Ok(None);
        }
        let out = self.run(&["ls-tree", "-z", &id], b"").await?;
        let text = String::from_utf8_lossy(&out);
        Ok(Some(text.split('\0').filter_map(tree_entry).collect()))
    }

    /// Returns all entries of a commit except folders: mode, kind, id, path.
    pub async fn files(&self, commit: &str) -> Result<Vec<[String; 4]>, BareError> {
        let out = self.run(&["ls-tree", "-r", "-z", commit], b"").await?;
        let text = String::from_utf8_lossy(&out);
        let entry = |record: &str| {
            let mode = record.split(' ').next()?.to_owned();
            let (kind, id, path) = tree_entry(record)?;
            Some([mode, kind, id, path])
        };
        Ok(text.split('\0').filter_map(entry).collect())
    }
}

/// Reads NUL-terminated tokens: a commit's id, then pairs of a one-letter status and a path.
fn touched(text: &str) -> BTreeMap<String, Vec<(ChangeKind, String)>> {
    let mut all: BTreeMap<String, Vec<(ChangeKind, String)>> = BTreeMap::new();
    let mut commit = String::new();
    let mut tokens = text.split('\0');
    while let Some(token) = tokens.next() {
        let kind = match token {
            "A" => ChangeKind::Added,
            "D" => ChangeKind::Removed,
            id if id.len() >= 40 => {
                commit = id.to_owned();
                continue;
            }
            _ => ChangeKind::Modified,
        };
        if let Some(path) = tokens.next() {
            all.entry(commit.clone()).or_default().push((kind, path.to_owned()));
        }
    }
    all
}

fn tree_entry(record: &str) -> Option<(String, String, String)> {
    let (meta, name) = record.split_once('\t')?;
    let mut words = meta.split(' ').skip(1);
    Some((words.next()?.to_owned(), words.next()?.to_owned(), name.to_owned()))
}

/// Reads the output of `--raw -z --patch`: NUL-terminated raw records, an empty one, then the patches in the same
/// order.
fn parse(text: &str) -> Vec<FileChange> {
    let mut files = Vec::new();
    let mut rest = text;
    while let Some(meta) = rest.strip_prefix(':') {
        let Some((meta, after)) = meta.split_once('\0') else {
            break;
        };
        let words: Vec<&str> = meta.split(' ').collect();
        let [_, _, old, new, status] = words.as_slice() else {
            break;
        };
        let Some((first, after)) = after.split_once('\0') else {
            break;
        };
        let (kind, previous, path, after) = match status.chars().next() {
            Some('R' | 'C') => match after.split_once('\0') {
                Some((second, after)) => (ChangeKind::Renamed, Some(first), second, after),
                None => break,
            },
            Some('A') => (ChangeKind::Added, None, first, after),
            Some('D') => (ChangeKind::Removed, None, first, after),
            _ => (ChangeKind::Modified, None, first, after),
        };
        files.push(FileChange {
            path: path.to_owned(),
            previous: previous.map(str::to_owned),
            kind,
            blob: if kind == ChangeKind::Removed { old } else { new }.to_string(),
            additions: 0,
            deletions: 0,
            patch: None,
        });
        rest = after;
    }
    attach_patches(&mut files, rest.trim_start_matches('\0'));
    files
}

/// Adds the hunks to each file. A change of type prints two patches for one record; the second is found by its name.
fn attach_patches(files: &mut [FileChange], text: &str) {
    let mut sections = Vec::new();
    let mut starts: Vec<usize> = text.match_indices("\ndiff --git ").map(|(at, _)| at + 1).collect();
    if text.starts_with("diff --git ") {
        starts.insert(0, 0);
    }
    for (nth, start) in starts.iter().enumerate() {
        let end = starts.get(nth + 1).copied().unwrap_or(text.len());
        sections.extend(text.get(*start..end));
    }
    let mut sections = sections.into_iter().peekable();
    for file in files {
        let end = format!(" b/{}", file.path);
        let named = |section: &&str| section.lines().next().is_some_and(|line| line.ends_with(&end));
        let mut patch = String::new();
        while let Some(section) = sections.next_if(named) {
            if let Some(at) = section.find("\n@@ ") {
                patch.push_str(section.get(at + 1..).unwrap_or_default());
            }
        }
        let patch = patch.trim_end_matches('\n');
        file.additions = patch.lines().filter(|line| line.starts_with('+')).count();
        file.deletions = patch.lines().filter(|line| line.starts_with('-')).count();
        file.patch = (!patch.is_empty()).then(|| patch.to_owned());
    }
}
