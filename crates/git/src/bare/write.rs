//! Making repositories: empty, copied from elsewhere, or from given files.

use super::{
    BareError, BareRepo,
    process::{finish, git},
};
use std::{collections::BTreeMap, ffi::OsStr, path::Path};

/// How a repository on this disk is read that belongs to another user, as one that is mounted into a container does: it was
/// named by whoever started us. Git runs nothing there that such a repository could name.
const WHOEVER_OWNS_IT: &str =
    "--upload-pack=git -c 'safe.directory=*' -c uploadpack.allowAnySHA1InWant=true upload-pack";

/// Who made a commit, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ident {
    name: String,
    email: String,
    seconds: i64,
}

impl Ident {
    /// A name and an address without the characters that git's formats forbid.
    #[must_use]
    pub fn new(name: &str, email: &str, seconds: i64) -> Self {
        let clean = |text: &str| -> String { text.chars().filter(|c| !c.is_control() && !"<>".contains(*c)).collect() };
        Self {
            name: clean(name),
            email: clean(email),
            seconds,
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn email(&self) -> &str {
        &self.email
    }

    /// When, in seconds since the epoch.
    #[must_use]
    pub fn seconds(&self) -> i64 {
        self.seconds
    }
}

/// A commit to be made out of whole files.
#[derive(Clone, Debug)]
pub struct NewCommit<'a> {
    /// The branch it goes to, without `refs/heads/`.
    pub branch: &'a str,
    /// The commit it stands on; none starts a history.
    pub parent: Option<&'a str>,
    /// Who writes it.
    pub author: &'a Ident,
    /// What it says.
    pub message: &'a str,
    /// Paths with their new content; none removes the file.
    pub files: &'a BTreeMap<String, Option<Vec<u8>>>,
}

impl BareRepo {
    /// Makes an empty repository whose HEAD names `default_branch`.
    pub async fn init(dir: &Path, default_branch: &str) -> Result<Self, BareError> {
        let mut command = git(OsStr::new("/dev/null"));
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

    /// Copies branches and tags of the repository at `source` (a path or address), only reading it. Gives the name of
    /// the default branch, which is made from a detached HEAD where there is no other.
    pub async fn import(dir: &Path, source: &str) -> Result<(Self, String), BareError> {
        let repo = Self::init(dir, "main").await?;
        let (mut branch, head) = head_of(&repo, source).await?;
        if head.is_empty() {
            return Err(BareError::Empty(source.to_owned()));
        }
        let mut refspecs = vec!["+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"];
        if branch.is_none() {
            // Nothing is checked out but a commit; the ref stands outside the branches, which may have a `main` already.
            refspecs.push("+HEAD:refs/import/head");
        }
        repo.fetch_from(source, &refspecs).await?;
        let mut known = repo.refs("refs/heads/").await?;
        if branch.is_none() {
            branch = Some(repo.adopt_head(&mut known, &head).await?);
        }
        let named = branch
            .take()
            .filter(|name| known.contains_key(&format!("refs/heads/{name}")));
        let default = named.unwrap_or_else(|| "main".to_owned());
        if !known.contains_key(&format!("refs/heads/{default}")) {
            return Err(BareError::Empty(source.to_owned()));
        }
        repo.set_default_branch(&default).await?;
        Ok((repo, default))
    }

    /// Copies one commit of the repository at `source`, as the default branch of that name, and tags.
    pub async fn import_commit(dir: &Path, source: &str, commit: &str, branch: &str) -> Result<Self, BareError> {
        let repo = Self::init(dir, branch).await?;
        let refspec = format!("+{commit}:refs/heads/{branch}");
        repo.fetch_from(source, &[&refspec, "+refs/tags/*:refs/tags/*"]).await?;
        repo.set_default_branch(branch).await?;
        Ok(repo)
    }

    /// Copies a commit with its history out of the repository at `source`; no branch moves.
    pub async fn copy_commit(&self, source: &str, commit: &str) -> Result<(), BareError> {
        self.fetch_from(source, &[commit]).await
    }

    /// Fetches from a repository on this disk or at an address; a part of a history is refused.
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

    /// The branch that a HEAD without one stands for: one with that commit, else a `main` made for it.
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
        self.run(&["symbolic-ref", "HEAD", &format!("refs/heads/{branch}")], b"")
            .await
            .map(|_| ())
    }

    /// Writes a commit and moves its branch to it, whatever the branch was; gives the commit's id.
    pub async fn write_commit(&self, new: &NewCommit<'_>) -> Result<String, BareError> {
        let mut stream = Vec::new();
        let at = format!(
            "{} <{}> {} +0000",
            new.author.name, new.author.email, new.author.seconds
        );
        stream.extend(format!("feature done\ncommit refs/heads/{}\n", new.branch).bytes());
        stream.extend(format!("author {at}\ncommitter {at}\n").bytes());
        data(&mut stream, new.message.as_bytes());
        if let Some(parent) = new.parent {
            stream.extend(format!("from {parent}\n").bytes());
        }
        for (path, content) in new.files {
            let path = quoted(path);
            match content {
                Some(bytes) => {
                    stream.extend(format!("M 100644 inline {path}\n").bytes());
                    data(&mut stream, bytes);
                }
                None => stream.extend(format!("D {path}\n").bytes()),
            }
        }
        stream.extend(b"done\n");
        self.run(&["fast-import", "--quiet", "--force", "--done"], &stream)
            .await?;
        let id = self.commit_id(&format!("refs/heads/{}", new.branch)).await?;
        id.ok_or(BareError::Unreadable("fast-import"))
    }
}

/// The branch that `source`'s HEAD names, if it names one, and the id HEAD stands for (empty: none).
async fn head_of(repo: &BareRepo, source: &str) -> Result<(Option<String>, String), BareError> {
    let mut command = repo.command(&[
        "ls-remote",
        "--symref",
        WHOEVER_OWNS_IT,
        "--end-of-options",
        source,
        "HEAD",
    ]);
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

/// A path as fast-import reads it: C-quoted, so that any character may stand in it.
fn quoted(path: &str) -> String {
    let escaped = path.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("\"{escaped}\"")
}
