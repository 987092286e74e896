//! A repository that a person works in: found from any folder of it, read, and given a branch. Nothing is checked out
//! there, no hook of it runs, and a branch that somebody moved stays where it is.

use crate::{error::GitError, process::GitCall};
use std::path::{Path, PathBuf};

/// A repository with a work tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnRepository {
    /// The top folder of the work tree.
    pub work_tree: PathBuf,
    /// Git's folder, which linked work trees share.
    pub git_folder: PathBuf,
}

/// What is checked out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnHead {
    /// The commit.
    pub sha: String,
    /// The branch, where one is checked out.
    pub branch: Option<String>,
}

/// Why there is no repository to work on.
#[derive(Debug, thiserror::Error)]
pub enum NoRepository {
    /// None holds the folder.
    #[error("{0} is in no git repository: `git init` and a first commit make one")]
    Missing(PathBuf),
    /// One without a work tree.
    #[error("{0} is a bare repository: run this in a clone with a work tree")]
    Bare(PathBuf),
    /// Git says something else.
    #[error(transparent)]
    Git(#[from] GitError),
}

/// What became of a branch that was to be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Given {
    /// It stands where it should.
    Done,
    /// Somebody made it, moved it or has it checked out: it is left alone.
    Taken,
}

impl OwnRepository {
    /// The repository whose work tree holds `folder`.
    pub async fn around(folder: &Path) -> Result<Self, NoRepository> {
        let call = GitCall::in_folder(folder, "rev-parse").args([
            "--path-format=absolute",
            "--show-toplevel",
            "--git-common-dir",
        ]);
        let output = call.run().await?;
        let text = output.text();
        let mut lines = text.lines();
        match (output.code, lines.next(), lines.next()) {
            (0, Some(work_tree), Some(git_folder)) => Ok(Self {
                work_tree: work_tree.into(),
                git_folder: git_folder.into(),
            }),
            _ => Err(Self::missing(folder, output.stderr)),
        }
    }

    fn missing(folder: &Path, said: String) -> NoRepository {
        let is_git_folder = |folder: &Path| folder.join("HEAD").is_file() && folder.join("objects").is_dir();
        if let Some(bare) = folder.ancestors().find(|folder| is_git_folder(folder)) {
            return NoRepository::Bare(bare.to_owned());
        }
        match folder.ancestors().any(|folder| folder.join(".git").exists()) {
            true => NoRepository::Git(GitError::Failed {
                command: "rev-parse".to_owned(),
                code: 128,
                stderr: said,
            }),
            false => NoRepository::Missing(folder.to_owned()),
        }
    }

    /// What is checked out; none before the first commit.
    pub async fn head(&self) -> Result<Option<OwnHead>, GitError> {
        let Some(sha) = self.resolve("HEAD").await? else {
            return Ok(None);
        };
        let call = GitCall::in_folder(&self.work_tree, "symbolic-ref");
        let named = call.args(["-q", "--short", "HEAD"]).run().await?;
        Ok(Some(OwnHead {
            sha,
            branch: (named.code == 0).then(|| named.text()),
        }))
    }

    /// The files that git knows, as they are named from the top of the work tree.
    pub async fn files(&self) -> Result<Vec<String>, GitError> {
        let call = GitCall::in_folder(&self.work_tree, "ls-files").args(["-z"]);
        let output = call.ok().await?;
        let names = output.stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        Ok(names.map(|name| String::from_utf8_lossy(name).into_owned()).collect())
    }

    /// The head of a branch.
    pub async fn branch(&self, name: &str) -> Result<Option<String>, GitError> {
        self.resolve(&format!("refs/heads/{name}")).await
    }

    async fn resolve(&self, name: &str) -> Result<Option<String>, GitError> {
        let call = GitCall::in_folder(&self.work_tree, "rev-parse");
        let commit = format!("{name}^{{commit}}");
        let found = call.args(["-q", "--verify", "--end-of-options", &commit]).run().await?;
        Ok((found.code == 0).then(|| found.text()))
    }

    /// Copies a commit with its history out of another repository on this disk.
    pub async fn copy(&self, from: &Path, branch: &str) -> Result<(), GitError> {
        let call = GitCall::in_folder(&self.work_tree, "fetch").args([
            "-q",
            "--no-tags",
            "--no-write-fetch-head",
            "--no-auto-gc",
            "--end-of-options",
        ]);
        let call = call.arg(from).arg(format!("refs/heads/{branch}"));
        call.talking_to_disk().ok().await.map(drop)
    }

    /// Points a branch at a commit that is here, if it stands where we left it (`was`), or if there is none and we left
    /// none.
    pub async fn give(&self, branch: &str, to: &str, was: Option<&str>) -> Result<Given, GitError> {
        let now = self.branch(branch).await?;
        if now.as_deref() == Some(to) {
            return Ok(Given::Done);
        }
        if now.as_deref() != was || self.is_checked_out(branch).await? {
            return Ok(Given::Taken);
        }
        let zero = "0".repeat(to.len());
        let call = GitCall::in_folder(&self.work_tree, "update-ref").args(["-m", "autobuild", "--end-of-options"]);
        let name = format!("refs/heads/{branch}");
        let moved = call.args([name.as_str(), to, was.unwrap_or(&zero)]).run().await?;
        Ok(match moved.code {
            0 => Given::Done,
            _ => Given::Taken,
        })
    }

    /// Whether what is checked out contains a commit.
    pub async fn holds(&self, commit: &str) -> Result<bool, GitError> {
        let call = GitCall::in_folder(&self.work_tree, "merge-base");
        let found = call
            .args(["--is-ancestor", "--end-of-options", commit, "HEAD"])
            .run()
            .await?;
        Ok(found.code == 0)
    }

    async fn is_checked_out(&self, branch: &str) -> Result<bool, GitError> {
        let call = GitCall::in_folder(&self.work_tree, "worktree").args(["list", "--porcelain"]);
        let line = format!("branch refs/heads/{branch}");
        Ok(call.ok().await?.text().lines().any(|found| found == line))
    }
}
