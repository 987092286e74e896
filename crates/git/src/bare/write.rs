//! Makes repositories: empty ones, copies, or commits of given files.

use super::{
    BareError, BareRepo,
    process::{finish, start},
};
use crate::{quote::quoted, safe::git_program};
use std::{collections::BTreeMap, ffi::OsStr, path::Path};

/// The option with which `fetch` also reads a repository that belongs to another user, such as one mounted into a
/// container. The person who started us named it, and git runs nothing that such a repository could name.
const WHOEVER_OWNS_IT: &str =
    "--upload-pack=git -c 'safe.directory=*' -c uploadpack.allowAnySHA1InWant=true upload-pack";

/// The author or committer of a commit, with the time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ident {
    pub(super) name: String,
    pub(super) email: String,
    /// The time, in seconds since the epoch.
    pub seconds: i64,
}

impl Ident {
    /// Makes an identity, without the characters that git's formats forbid in a name or an address.
    pub fn new(name: &str, email: &str, seconds: i64) -> Self {
        let clean = |text: &str| -> String { text.chars().filter(|c| !c.is_control() && !"<>".contains(*c)).collect() };
        Self { name: clean(name), email: clean(email), seconds }
    }
}

/// A commit to make from whole files.
#[derive(Clone, Debug)]
pub struct NewCommit<'a> {
    /// The branch to commit to, without `refs/heads/`.
    pub branch: &'a str,
    /// The parent commit; `None` starts a new history.
    pub parent: Option<&'a str>,
    /// The author, who is also the committer.
    pub author: &'a Ident,
    pub message: &'a str,
    /// The paths with their new content; `None` removes the file.
    pub files: &'a BTreeMap<String, Option<Vec<u8>>>,
}

impl BareRepo {
    /// Makes an empty repository whose HEAD names `default_branch`.
    pub async fn init(dir: &Path, default_branch: &str) -> Result<Self, BareError> {
        let mut command = start(git_program(), OsStr::new("/dev/null"), &[]);
        command
            .args(["init", "-q", "--bare", "--template=", "--object-format=sha1"])
            .arg(format!("--initial-branch={default_branch}"))
            .arg("--")
            .arg(dir);
        let done = finish(command, b"").await?;
        match done.code {
            Some(0) => Ok(Self::at(dir)),
            _ => Err(done.failure("init")),
        }
    }

    /// Copies the branches and tags of the repository at `source` (a path or an address), which is only read. Returns
    /// the name of the default branch. If HEAD is detached, that is a branch at the same commit, or else `main`, set to
    /// that commit.
    pub async fn import(dir: &Path, source: &str) -> Result<(Self, String), BareError> {
        let repo = Self::init(dir, "main").await?;
        let (branch, head) = head_of(&repo, source).await?;
        if head.is_empty() {
            return Err(BareError::Empty(source.to_owned()));
        }
        let mut refspecs = vec!["+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"];
        if branch.is_none() {
            // HEAD is detached. The ref is not a branch, since there may already be a `main`.
            refspecs.push("+HEAD:refs/import/head");
        }
        repo.fetch_from(source, &refspecs).await?;
        let mut known = repo.refs("refs/heads/").await?;
        let branch = match branch {
            Some(branch) => branch,
            None => repo.adopt_head(&mut known, &head).await?,
        };
        let known = |name: &String| known.contains_key(&format!("refs/heads/{name}"));
        let default = [branch, "main".to_owned()].into_iter().find(known);
        let default = default.ok_or_else(|| BareError::Empty(source.to_owned()))?;
        repo.set_default_branch(&default).await?;
        Ok((repo, default))
    }

    /// Copies one commit of the repository at `source`, as the default branch `branch`, and the tags.
    pub async fn import_commit(dir: &Path, source: &str, commit: &str, branch: &str) -> Result<Self, BareError> {
        let repo = Self::init(dir, branch).await?;
        let refspec = format!("+{commit}:refs/heads/{branch}");
        repo.fetch_from(source, &[&refspec, "+refs/tags/*:refs/tags/*"]).await?;
        repo.set_default_branch(branch).await?;
        Ok(repo)
    }

    /// Copies a commit with its history from the repository at `source`. No branch moves.
    pub async fn copy_commit(&self, source: &str, commit: &str) -> Result<(), BareError> {
        self.fetch_from(source, &[commit]).await
    }

    /// Fetches from a repository on this disk or at an address. Refuses a shallow clone.
    async fn fetch_from(&self, source: &str, refspecs: &[&str]) -> Result<(), BareError> {
        let mut command = self.command(&[
            "-c",
            "transfer.fsckObjects=false",
            "fetch",
            "-q",
            "--update-shallow",
            "--no-tags",
            "--no-write-fetch-head",
            WHOEVER_OWNS_IT,
            "--end-of-options",
        ]);
        command.env("GIT_ALLOW_PROTOCOL", "file:http:https");
        command.arg(source).args(refspecs);
        let done = finish(command, b"").await?;
        match done.code {
            Some(0) if self.dir().join("shallow").exists() => Err(BareError::Shallow(source.to_owned())),
            Some(0) => Ok(()),
            _ => Err(done.failure("fetch")),
        }
    }

    /// Returns the branch to use for a detached HEAD: one at that commit, or else `main`, set to that commit.
    async fn adopt_head(&self, known: &mut BTreeMap<String, String>, head: &str) -> Result<String, BareError> {
        self.run(&["update-ref", "-d", "refs/import/head"], b"").await?;
        let named = known.iter().find(|(_, id)| id.as_str() == head);
        if let Some(branch) = named.and_then(|(name, _)| name.strip_prefix("refs/heads/")) {
            return Ok(branch.to_owned());
        }
        self.run(&["update-ref", "refs/heads/main", head], b"").await?;
        known.insert("refs/heads/main".to_owned(), head.to_owned());
        Ok("main".to_owned())
    }

    /// Points HEAD at `branch`.
    pub async fn set_default_branch(&self, branch: &str) -> Result<(), BareError> {
        let name = format!("refs/heads/{branch}");
        self.run(&["symbolic-ref", "HEAD", &name], b"").await.map(drop)
    }

    /// Writes a commit, moves its branch there whatever it pointed at before, and returns the commit's id.
    pub async fn write_commit(&self, new: &NewCommit<'_>) -> Result<String, BareError> {
        let mut stream = Vec::new();
        let Ident { name, email, seconds } = new.author;
        let at = format!("{name} <{email}> {seconds} +0000");
        stream.extend(format!("feature done\ncommit refs/heads/{}\n", new.branch).bytes());
        stream.extend(format!("author {at}\ncommitter {at}\n").bytes());
        data(&mut stream, new.message.as_bytes());
        if let Some(parent) = new.parent {
            stream.extend(format!("from {parent}\n").bytes());
        }
        for (path, content) in new.files {
            stream.extend(if content.is_some() { "M 100644 inline " } else { "D " }.bytes());
            stream.extend(quoted(path.as_bytes()));
            stream.push(b'\n');
            if let Some(bytes) = content {
                data(&mut stream, bytes);
            }
        }
        stream.extend(b"done\n");
        self.run(&["fast-import", "--quiet", "--force", "--done"], &stream).await?;
        let id = self.commit_id(&format!("refs/heads/{}", new.branch)).await?;
        id.ok_or(BareError::Unreadable("fast-import"))
    }
}

/// Returns the branch that `source`'s HEAD names, if any, and the id of HEAD's commit (empty if there is none).
async fn head_of(repo: &BareRepo, source: &str) -> Result<(Option<String>, String), BareError> {
    let mut command = repo.command(&["ls-remote", "--symref", WHOEVER_OWNS_IT, "--end-of-options", source, "HEAD"]);
    command.env("GIT_ALLOW_PROTOCOL", "file:http:https");
    let done = finish(command, b"").await?;
    if done.code != Some(0) {
        return Err(done.failure("ls-remote"));
    }
    let text = String::from_utf8_lossy(&done.stdout);
    let (mut branch, mut id) = (None, String::new());
    for line in text.lines() {
        match line.split_once('\t') {
            Some((target, "HEAD")) if target.starts_with("ref: ") => {
                branch = target.strip_prefix("ref: refs/heads/").map(str::to_owned);
            }
            Some((found, "HEAD")) => id = found.to_owned(),
            _ => {}
        }
    }
    Ok((branch, id))
}

fn data(stream: &mut Vec<u8>, bytes: &[u8]) {
    stream.extend(format!("data {}\n", bytes.len()).bytes());
    stream.extend(bytes);
    stream.push(b'\n');
}
