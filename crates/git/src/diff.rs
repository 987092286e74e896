//! The differences between two commits: the raw list of changed paths, the list with renames detected, and the text for
//! people and agents.

use crate::{error::GitError, mirror::Mirror, names::RepoPath, process::GitCall};
use domain::ids::Sha;
use std::path::Path;

/// One path that differs between two trees, as `diff-tree --raw --no-renames` prints it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawChange {
    pub path: RepoPath,
    /// File mode before, `0` if there was none: `0o100644`, `0o100755`, `0o120000` (link), `0o160000` (submodule).
    pub old_mode: u32,
    /// File mode after, `0` if the path was deleted.
    pub new_mode: u32,
    /// Object before, all zeroes if there was none.
    pub old_oid: String,
    /// Object after, all zeroes if the path was deleted.
    pub new_oid: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileStatus {
    /// The file is new.
    Added,
    /// The content or the permissions changed.
    Modified,
    /// The file was deleted.
    Deleted,
    /// The file was moved, and perhaps modified.
    Renamed {
        /// The path before the move.
        from: RepoPath,
    },
    /// The type changed, for example from a file to a symbolic link.
    TypeChanged,
}

/// One file that differs between two commits, with renames detected as GitHub does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFile {
    /// The path after the change; for a deleted file, the path before.
    pub path: RepoPath,
    pub status: FileStatus,
}

/// Text that is cut off at a cap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// The text; bytes that are not UTF-8 are replaced.
    pub text: String,
    /// `true` if the text was cut off.
    pub truncated: bool,
}

/// The options of every diff. They keep git from running any program that the repository or its configuration names.
const SAFE: [&str; 4] = ["-r", "--no-ext-diff", "--no-textconv", "--no-color"];
/// The further options of a list of paths that differ, without detecting renames.
const RAW: [&str; 5] = ["--raw", "-z", "--no-renames", "--no-abbrev", "--end-of-options"];

impl Mirror {
    /// Returns every path that differs, without detecting renames.
    pub async fn diff_raw(&self, base: &Sha, head: &Sha) -> Result<Vec<RawChange>, GitError> {
        let commits = [base.as_str(), head.as_str()];
        let output = self.ask(&[&["diff-tree"], &SAFE[..], &RAW, &commits].concat(), None).await?;
        raw_changes(output.whole("diff-tree")?)
    }

    /// Returns every file that differs, with its status and with renames detected.
    pub async fn changed_files(&self, base: &Sha, head: &Sha) -> Result<Vec<ChangedFile>, GitError> {
        let options = ["--raw", "-z", "-M", "--end-of-options", base.as_str(), head.as_str()];
        let output = self.ask(&[&["diff-tree"], &SAFE[..], &options].concat(), None).await?;
        files_of(output.whole("diff-tree")?).ok_or_else(|| GitError::unexpected("diff-tree", "a list of files"))
    }

    /// Returns the unified diff, cut off after `cap` bytes.
    pub async fn diff_text(&self, base: &Sha, head: &Sha, cap: usize) -> Result<Text, GitError> {
        let (patch, truncated) = self.patch(base, head, cap).await?;
        let text = String::from_utf8_lossy(&patch).into_owned();
        Ok(Text { text, truncated })
    }

    /// Returns the patch as bytes, and `true` if it was cut off.
    pub(crate) async fn patch(&self, base: &Sha, head: &Sha, cap: usize) -> Result<(Vec<u8>, bool), GitError> {
        let options = ["-p", "-M", "-U3", "--src-prefix=a/", "--dst-prefix=b/"];
        let commits = ["--end-of-options", base.as_str(), head.as_str()];
        let arguments = [&["diff-tree"], &SAFE[..], &options, &commits].concat();
        let output = self.ask(&arguments, Some(cap)).await?;
        if output.truncated {
            Ok((output.stdout.clone(), true))
        } else {
            Ok((output.whole("diff-tree")?.to_vec(), false))
        }
    }
}

/// Returns the raw differences between two revisions in any repository of ours.
pub(crate) async fn raw_between(git_dir: &Path, base: &str, head: &str) -> Result<Vec<RawChange>, GitError> {
    let call = GitCall::new(git_dir, "diff-tree").args(SAFE).args(RAW).args([base, head]);
    raw_changes(&call.ok().await?.stdout)
}

fn raw_changes(raw: &[u8]) -> Result<Vec<RawChange>, GitError> {
    let mut fields = raw.split(|byte| *byte == 0).filter(|field| !field.is_empty());
    let mut changes = Vec::new();
    while let Some(header) = fields.next() {
        let change = fields.next().and_then(|path| raw_change(header, path));
        changes.push(change.ok_or_else(|| GitError::unexpected("diff-tree", "a raw line"))?);
    }
    Ok(changes)
}

/// Reads `:<old mode> <new mode> <old object> <new object> <status>`.
fn raw_change(header: &[u8], path: &[u8]) -> Option<RawChange> {
    let mut parts = std::str::from_utf8(header).ok()?.strip_prefix(':')?.split(' ');
    let old_mode = u32::from_str_radix(parts.next()?, 8).ok()?;
    let new_mode = u32::from_str_radix(parts.next()?, 8).ok()?;
    let (old_oid, new_oid) = (parts.next()?.to_owned(), parts.next()?.to_owned());
    Some(RawChange { path: RepoPath::new(path), old_mode, new_mode, old_oid, new_oid })
}

fn files_of(raw: &[u8]) -> Option<Vec<ChangedFile>> {
    let mut fields = raw.split(|byte| *byte == 0).filter(|field| !field.is_empty());
    let mut files = Vec::new();
    while let Some(header) = fields.next() {
        let letter = std::str::from_utf8(header).ok()?.rsplit(' ').next()?.chars().next()?;
        let first = RepoPath::new(fields.next()?);
        let (path, status) = match letter {
            'A' => (first, FileStatus::Added),
            'D' => (first, FileStatus::Deleted),
            'T' => (first, FileStatus::TypeChanged),
            'R' => (RepoPath::new(fields.next()?), FileStatus::Renamed { from: first }),
            _ => (first, FileStatus::Modified),
        };
        files.push(ChangedFile { path, status });
    }
    Some(files)
}
