//! A clone of a project, which is only read.

use crate::Outcome;
use integrity::{FileChange, FileContent};
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    process::Command,
};

/// The largest version of a file that is read, in bytes.
const MAX_FILE: usize = 1 << 20;

/// A clone, bare or not.
pub struct ProjectClone {
    path: PathBuf,
}

/// One file that differs between a commit and its parent.
pub struct ChangedFile {
    pub path: String,
    /// The number of added and removed lines; 0 for a file that is not text.
    pub lines: u64,
    old: Option<String>,
    new: Option<String>,
}

impl ProjectClone {
    /// Opens a clone; an error if there is no repository at `path`.
    pub fn open(path: &Path) -> Outcome<Self> {
        let clone = Self { path: path.to_owned() };
        clone.git(&["rev-parse", "--git-dir"])?;
        Ok(clone)
    }

    /// Returns the commits reachable from `from` that are no merges and have a parent, newest first.
    pub fn commits(&self, from: &str) -> Outcome<Vec<String>> {
        let range = ["rev-list", "--no-merges", "--min-parents=1", from, "--"];
        Ok(self.text(&range)?.lines().map(str::to_owned).collect())
    }

    /// Returns the full hash of a commit.
    pub fn full_hash(&self, commit: &str) -> Outcome<String> {
        let revision = format!("{commit}^{{commit}}");
        Ok(self.text(&["rev-parse", "--verify", "--end-of-options", &revision])?.trim().to_owned())
    }

    /// Returns the subject and the rest of a commit's message.
    pub fn message(&self, commit: &str) -> Outcome<(String, String)> {
        let text = self.text(&["log", "-1", "--format=%s%n%b", commit, "--"])?;
        let (subject, body) = text.split_once('\n').unwrap_or((&text, ""));
        Ok((subject.to_owned(), body.trim().to_owned()))
    }

    /// Returns the files that differ from the parent. A renamed file counts as removed and added.
    pub fn changed_files(&self, commit: &str) -> Outcome<Vec<ChangedFile>> {
        let tree = ["diff-tree", "-r", "-z", "--no-renames", "--no-ext-diff", "--no-commit-id"];
        let with = |how: &[&str]| self.text(&[tree.as_slice(), how, &[commit, "--"]].concat());
        let (raw, counted) = (with(&["--raw", "--no-abbrev"])?, with(&["--numstat"])?);
        let (mut raw, counted) = (raw.split('\0'), counted.split('\0').filter(|line| !line.is_empty()));
        let mut files = Vec::new();
        for line in counted {
            let mut fields = line.splitn(3, '\t');
            let mut number = || fields.next().and_then(|field| field.parse::<u64>().ok()).unwrap_or(0);
            let lines = number().saturating_add(number());
            let (Some(meta), Some(path)) = (raw.next(), raw.next()) else {
                return Err(format!("git lists {commit} in two ways"));
            };
            let meta: Vec<&str> = meta.trim_start_matches(':').split(' ').collect();
            let blob = |mode: usize, id: usize| {
                let is_file = meta.get(mode).is_some_and(|mode| mode.starts_with("100"));
                meta.get(id).filter(|_| is_file).map(|id| (*id).to_owned())
            };
            files.push(ChangedFile { path: path.to_owned(), lines, old: blob(0, 2), new: blob(1, 3) });
        }
        Ok(files)
    }

    /// Returns both versions of a file.
    pub fn versions(&self, file: &ChangedFile) -> Outcome<FileChange> {
        let version = |id: &Option<String>| match id {
            None => Ok(FileContent::Absent),
            Some(id) => self.git(&["cat-file", "blob", id]).map(|bytes| {
                if bytes.len() > MAX_FILE {
                    FileContent::Unread(u64::try_from(bytes.len()).unwrap_or(u64::MAX))
                } else {
                    FileContent::Bytes(bytes)
                }
            }),
        };
        Ok(FileChange { path: file.path.clone(), before: version(&file.old)?, after: version(&file.new)? })
    }

    /// Returns the folder of the clone's objects.
    pub fn objects(&self) -> Outcome<PathBuf> {
        let path = self.text(&["rev-parse", "--path-format=absolute", "--git-path", "objects"])?;
        Ok(PathBuf::from(path.trim()))
    }

    /// Returns all paths of a commit.
    pub fn paths(&self, commit: &str) -> Outcome<BTreeSet<String>> {
        let listed = self.text(&["ls-tree", "-r", "-z", "--name-only", commit])?;
        Ok(listed.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect())
    }

    fn text(&self, arguments: &[&str]) -> Outcome<String> {
        Ok(String::from_utf8_lossy(&self.git(arguments)?).into_owned())
    }

    fn git(&self, arguments: &[&str]) -> Outcome<Vec<u8>> {
        let mut git = Command::new("git");
        git.arg("-C").arg(&self.path).args(["-c", "core.fsmonitor=false"]).args(arguments);
        let failed = |problem: String| format!("git {} in {}: {problem}", arguments.join(" "), self.path.display());
        let output = git.env("GIT_NO_LAZY_FETCH", "1").output().map_err(|error| failed(error.to_string()))?;
        if output.status.success() {
            Ok(output.stdout)
        } else {
            Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned()))
        }
    }
}
