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

/// Reads the output of `--raw -z --patch`: NUL-terminated raw records, an empty one, then the patches in the same
/// order.
fn parse(text: &str) -> Vec<FileChange> {
    let (mut files, mut patches) = (Vec::new(), Vec::new());
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
        // A change of type is printed as a removal and an addition.
        patches.push(if *status == "T" { 2 } else { 1 });
        rest = after;
    }
    attach_patches(&mut files, &patches, rest.trim_start_matches('\0'));
    files
}

/// Adds the hunks to each file, which has as many patches as `patches` says at its place. They follow in the order of
/// the files. Their headers are no help, because git quotes some names there.
fn attach_patches(files: &mut [FileChange], patches: &[usize], text: &str) {
    let mut sections = text.split("\ndiff --git ");
    for (file, count) in files.iter_mut().zip(patches) {
        let mut patch = String::new();
        for section in sections.by_ref().take(*count) {
            if let Some(at) = section.find("\n@@ ") {
                patch.push_str(section.get(at + 1..).unwrap_or_default());
                patch.push('\n');
            }
        }
        let patch = patch.trim_end_matches('\n');
        file.additions = patch.lines().filter(|line| line.starts_with('+')).count();
        file.deletions = patch.lines().filter(|line| line.starts_with('-')).count();
        file.patch = (!patch.is_empty()).then(|| patch.to_owned());
    }
}
