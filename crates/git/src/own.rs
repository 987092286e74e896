//! A repository that a person works in. It is found from any of its folders, read, and given a branch. AutoBuild checks
//! out nothing there, runs none of its hooks, and never touches a branch that somebody else moved.

use crate::{
    blocking::blocking,
    error::GitError,
    odd_file::{OddFile, find},
    process::GitCall,
};
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    time::Duration,
};

/// The time limit of the first call in a folder. It only reads settings.
const FIRST_DEADLINE: Duration = Duration::from_secs(10);

/// A repository with a work tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnRepository {
    /// The top folder of the work tree.
    pub work_tree: PathBuf,
    /// The repository's `.git` folder, which linked work trees share.
    pub git_folder: PathBuf,
}

/// The commit and branch of HEAD.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnHead {
    pub sha: String,
    /// The checked-out branch; `None` if `HEAD` is detached.
    pub branch: Option<String>,
}

/// Why a folder's repository cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum NoRepository {
    /// The folder is in no repository.
    #[error("{0} is in no git repository: `git init` and a first commit make one")]
    Missing(PathBuf),
    /// The repository has no work tree.
    #[error("{0} is a bare repository: run this in a clone with a work tree")]
    Bare(PathBuf),
    /// The folder is, or is in, a `.git` folder.
    #[error("{0} is git's own folder: run this in the work tree beside it")]
    GitFolder(PathBuf),
    /// The repository is a shallow clone: its history is cut off.
    #[error("{0} is a shallow clone: `git fetch --unshallow` fetches the rest of its history")]
    Shallow(PathBuf),
    /// The repository is a partial clone that lacks objects.
    #[error(
        "{0} is a partial clone, and lacks files of its history: `git fetch --refetch --no-filter` fetches them all"
    )]
    Partial(PathBuf),
    /// The repository's object format is not SHA-1, so its commit ids differ from GitHub's.
    #[error(
        "{path} names its commits by {format}; AutoBuild, like GitHub, works with SHA-1 alone, so it cannot work here"
    )]
    Format {
        /// The work tree.
        path: PathBuf,
        /// The object format, such as `sha256`.
        format: String,
    },
    /// Git would not come to an end at a file of the repository.
    #[error(transparent)]
    Odd(OddFile),
    /// Git did not read the repository's settings to their end.
    #[error(
        "git does not come to an end in {0}: look in .git/config for an `include` of a pipe or a device, and take it out"
    )]
    Endless(PathBuf),
    /// Git failed in another way.
    #[error(transparent)]
    Git(#[from] GitError),
}

/// The result of [`OwnRepository::give`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GiveOutcome {
    /// The branch points at the wanted commit.
    Done,
    /// Somebody made the branch, moved it or has it checked out, so it was left alone.
    Taken,
    /// Git cannot set the branch, for this reason.
    Refused(String),
}

/// The availability of a name for a new branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NameIs {
    /// The branch can be made.
    Free,
    /// The branch exists, or branches below it do.
    Taken,
    /// This existing branch is a parent folder of the name. Git cannot have both `a` and `a/b`.
    Below(String),
}

/// Returns the file with the person's own git settings, which all other calls here ignore.
fn own_settings() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(file) = set("GIT_CONFIG_GLOBAL") {
        return Some(file);
    }
    let home = set("HOME");
    let own = home.as_ref().map(|home| home.join(".gitconfig"));
    let folder = set("XDG_CONFIG_HOME").or_else(|| home.map(|home| home.join(".config")));
    let other = folder.map(|folder| folder.join("git/config"));
    own.into_iter().chain(other).find(|file| file.is_file())
}

/// Returns the setting that switches a hook off, by the name of any of its settings.
fn off_switch(setting: &str) -> Option<String> {
    let (hook, _) = setting.rsplit_once('.')?;
    hook.contains('.').then(|| format!("{hook}.enabled"))
}

impl OwnRepository {
    /// Returns the repository whose work tree contains `folder`.
    pub async fn around(folder: &Path) -> Result<Self, NoRepository> {
        let here = folder.to_owned();
        if let Ok(Some(odd)) = blocking(move || find(&here)).await {
            return Err(NoRepository::Odd(odd));
        }
        let call = GitCall::in_folder(folder, "rev-parse").args([
            "--path-format=absolute",
            "--show-toplevel",
            "--git-common-dir",
        ]);
        let output = match call.deadline(FIRST_DEADLINE).run().await {
            Err(GitError::TimedOut { .. }) => return Err(NoRepository::Endless(folder.to_owned())),
            ended => ended?,
        };
        let text = output.text();
        let mut lines = text.lines();
        match (output.code, lines.next(), lines.next()) {
            (0, Some(work_tree), Some(git_folder)) => {
                Ok(Self { work_tree: work_tree.into(), git_folder: git_folder.into() })
            }
            _ => Err(Self::missing(folder, output.stderr)),
        }
    }

    fn missing(folder: &Path, said: String) -> NoRepository {
        let is_git_folder = |folder: &Path| folder.join("HEAD").is_file() && folder.join("objects").is_dir();
        if let Some(inside) = folder.ancestors().find(|folder| is_git_folder(folder)) {
            let is_named_git = |folder: &Path| folder.file_name().is_some_and(|name| name == ".git");
            return if inside.ancestors().any(is_named_git) {
                NoRepository::GitFolder(inside.to_owned())
            } else {
                NoRepository::Bare(inside.to_owned())
            };
        }
        if folder.ancestors().any(|folder| folder.join(".git").exists()) {
            NoRepository::Git(GitError::Failed { command: "rev-parse".to_owned(), code: 128, stderr: said })
        } else {
            NoRepository::Missing(folder.to_owned())
        }
    }

    /// Refuses a repository whose commits cannot be copied: a shallow clone, a partial clone that lacks objects, or one
    /// whose object format is not SHA-1.
    pub async fn can_be_copied(&self) -> Result<(), NoRepository> {
        let call = GitCall::in_folder(&self.work_tree, "rev-parse");
        let answer = call.args(["--is-shallow-repository", "--show-object-format"]).ok().await?.text();
        match answer.lines().collect::<Vec<_>>()[..] {
            ["true", _] => Err(NoRepository::Shallow(self.work_tree.clone())),
            [_, format] if format != "sha1" => {
                Err(NoRepository::Format { path: self.work_tree.clone(), format: format.to_owned() })
            }
            _ if self.lacks_objects().await? => Err(NoRepository::Partial(self.work_tree.clone())),
            _ => Ok(()),
        }
    }

    /// `true` if some objects reachable from HEAD and the tags exist only at a remote. Git fetches those on demand in
    /// the person's repository, but not for a copy of it.
    async fn lacks_objects(&self) -> Result<bool, GitError> {
        let partial = ["--get-regexp", r"^(remote\..*\.promisor|extensions\.partialclone)$"];
        let call = GitCall::in_folder(&self.work_tree, "config").args(partial);
        if call.run().await?.code != 0 {
            return Ok(false);
        }
        let missing = ["--quiet", "--objects", "--missing=print", "HEAD", "--tags"];
        let call = GitCall::in_folder(&self.work_tree, "rev-list").args(missing);
        Ok(call.ok().await?.stdout.first() == Some(&b'?'))
    }

    /// Returns the commit and branch of HEAD; `None` before the first commit.
    pub async fn head(&self) -> Result<Option<OwnHead>, GitError> {
        let Some(sha) = self.resolve("HEAD").await? else {
            return Ok(None);
        };
        let call = GitCall::in_folder(&self.work_tree, "symbolic-ref");
        // Not `--short`: beside a tag of the same name, git calls the branch `heads/main`.
        let named = call.args(["-q", "HEAD"]).run().await?.text();
        Ok(Some(OwnHead { sha, branch: named.strip_prefix("refs/heads/").map(str::to_owned) }))
    }

    /// Returns the person's `user.name` from their own git settings.
    pub async fn person(&self) -> Option<String> {
        let call = GitCall::in_folder(&self.work_tree, "config").args(["--get", "user.name"]);
        let call = match own_settings() {
            Some(file) => call.env("GIT_CONFIG_GLOBAL", file),
            None => call,
        };
        let answer = call.run().await.ok()?;
        let name = answer.text();
        (answer.code == 0 && !name.trim().is_empty()).then(|| name.trim().to_owned())
    }

    /// Returns the tracked files, as paths from the top of the work tree.
    pub async fn files(&self) -> Result<Vec<String>, GitError> {
        let call = GitCall::in_folder(&self.work_tree, "ls-files").args(["-z"]);
        let output = call.ok().await?;
        let names = output.stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        Ok(names.map(|name| String::from_utf8_lossy(name).into_owned()).collect())
    }

    /// Returns the commit at the tip of a branch; `None` if there is no such branch.
    pub async fn branch(&self, name: &str) -> Result<Option<String>, GitError> {
        self.resolve(&format!("refs/heads/{name}")).await
    }

    async fn resolve(&self, name: &str) -> Result<Option<String>, GitError> {
        let call = GitCall::in_folder(&self.work_tree, "rev-parse");
        let commit = format!("{name}^{{commit}}");
        let found = call.args(["-q", "--verify", "--end-of-options", &commit]).run().await?;
        Ok((found.code == 0).then(|| found.text()))
    }

    /// Returns the call with all hooks off that the repository's own settings define. No single setting does that, and
    /// `core.hooksPath` is about files alone: <https://git-scm.com/docs/git-config#Documentation/git-config.txt-hook>.
    async fn without_hooks(&self, call: GitCall) -> Result<GitCall, GitError> {
        let named = ["--null", "--name-only", "--get-regexp", r"^hook\."];
        let listed = GitCall::in_folder(&self.work_tree, "config").args(named).run().await?;
        // 1: there are none.
        let names = if listed.code == 1 { &[] } else { listed.whole("config")? };
        let names = std::str::from_utf8(names).map_err(|_| GitError::Failed {
            command: "config".to_owned(),
            code: 0,
            stderr: "the name of a hook in the repository's settings is not UTF-8".to_owned(),
        })?;
        let off: BTreeSet<String> = names.split('\0').filter_map(off_switch).collect();
        Ok(off.iter().fold(call, |call, name| call.config(name, "false")))
    }

    /// Copies a commit with its history from another repository on this disk.
    pub async fn copy(&self, from: &Path, commit: &str) -> Result<(), GitError> {
        let call = GitCall::in_folder(&self.work_tree, "fetch").args([
            "-q",
            "--no-tags",
            "--no-write-fetch-head",
            "--no-auto-gc",
            "--end-of-options",
        ]);
        let call = self.without_hooks(call.arg(from).arg(commit)).await?;
        call.talking_to_disk().ok().await.map(drop)
    }

    /// Looks for existing branches that a new branch of this name would clash with.
    pub async fn name(&self, branch: &str) -> Result<NameIs, GitError> {
        let parents: Vec<&str> = branch.match_indices('/').filter_map(|(at, _)| branch.get(..at)).collect();
        let call = GitCall::in_folder(&self.work_tree, "for-each-ref").arg("--format=%(refname)");
        let asked = parents.iter().copied().chain([branch]).map(|name| format!("refs/heads/{name}"));
        let found = call.args(asked).ok().await?.text();
        let found: Vec<&str> = found.lines().filter_map(|line| line.strip_prefix("refs/heads/")).collect();
        if let Some(parent) = parents.into_iter().find(|parent| found.contains(parent)) {
            return Ok(NameIs::Below(parent.to_owned()));
        }
        let is_it =
            |name: &&str| name.strip_prefix(branch).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        Ok(if found.iter().any(is_it) { NameIs::Taken } else { NameIs::Free })
    }

    /// Points a branch at the commit `to`, which must be in this repository, but only if the branch is still at `was`,
    /// where we left it, or does not exist and `was` is `None`.
    pub async fn give(&self, branch: &str, to: &str, was: Option<&str>) -> Result<GiveOutcome, GitError> {
        let now = self.branch(branch).await?;
        if now.as_deref() == Some(to) {
            return Ok(GiveOutcome::Done);
        }
        if now.as_deref() != was || self.is_checked_out(branch).await? {
            return Ok(GiveOutcome::Taken);
        }
        let zero = "0".repeat(to.len());
        let call = GitCall::in_folder(&self.work_tree, "update-ref").args(["-m", "autobuild", "--end-of-options"]);
        let name = format!("refs/heads/{branch}");
        let call = call.args([name.as_str(), to, was.unwrap_or(&zero)]);
        let moved = self.without_hooks(call).await?.run().await?;
        if moved.code == 0 {
            return Ok(GiveOutcome::Done);
        }
        Ok(if self.branch(branch).await?.as_deref() == was {
            GiveOutcome::Refused(moved.stderr)
        } else {
            GiveOutcome::Taken
        })
    }

    /// Returns `true` if the history of HEAD contains the commit.
    pub async fn holds(&self, commit: &str) -> Result<bool, GitError> {
        let call = GitCall::in_folder(&self.work_tree, "merge-base");
        let found = call.args(["--is-ancestor", "--end-of-options", commit, "HEAD"]).run().await?;
        Ok(found.code == 0)
    }

    async fn is_checked_out(&self, branch: &str) -> Result<bool, GitError> {
        let call = GitCall::in_folder(&self.work_tree, "worktree").args(["list", "--porcelain"]);
        let line = format!("branch refs/heads/{branch}");
        Ok(call.ok().await?.text().lines().any(|found| found == line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_tag_with_the_name_of_the_branch_does_not_change_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_owned();
        let git = |command: &'static str, args: &[&str]| GitCall::in_folder(&path, command).args(args);
        git("init", &["-q", "-b", "fix/a"]).ok().await.unwrap();
        let repository = OwnRepository { git_folder: path.join(".git"), work_tree: path.clone() };
        assert_eq!(repository.head().await.unwrap(), None);
        let names = ["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"];
        let commit = git("commit", &["-q", "--allow-empty", "-m", "one"]);
        names.iter().fold(commit, |call, name| call.env(name, "ann")).ok().await.unwrap();
        git("tag", &["fix/a"]).ok().await.unwrap();
        let head = repository.head().await.unwrap().unwrap();
        assert_eq!(head.branch.as_deref(), Some("fix/a"));
        git("checkout", &["-q", "--detach"]).ok().await.unwrap();
        assert_eq!(repository.head().await.unwrap().unwrap().branch, None);
    }

    /// Git before 2.54 knows no such hooks, so the test asks for the setting that a later one would obey.
    #[tokio::test]
    async fn every_hook_of_the_repositorys_settings_is_off() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_owned();
        GitCall::in_folder(&path, "init").args(["-q", "-b", "main"]).ok().await.unwrap();
        let repository = OwnRepository { git_folder: path.join(".git"), work_tree: path.clone() };
        let ask = |name: &str| {
            let name = format!("hook.{name}.enabled");
            GitCall::in_folder(&path, "config").args(["--type=bool", "--default=true", "--get", &name])
        };
        assert_eq!(repository.without_hooks(ask("x")).await.unwrap().ok().await.unwrap().text(), "true");
        let settings = "[hook \"x\"]\n\tevent = reference-transaction\n\tcommand = /bin/false\n\tenabled = true\n\
                        [hook \"A b.c=d é\"]\n\tcommand = /bin/false\n[hook]\n\tjobs = 2\n[include]\n\tpath = more\n";
        let config = path.join(".git/config");
        let before = std::fs::read_to_string(&config).unwrap();
        std::fs::write(config, format!("{before}{settings}")).unwrap();
        std::fs::write(path.join(".git/more"), "[hook \"included\"]\n\tcommand = /bin/false\n").unwrap();
        for name in ["x", "A b.c=d é", "included"] {
            let call = repository.without_hooks(ask(name)).await.unwrap();
            assert_eq!(call.ok().await.unwrap().text(), "false", "{name}");
            assert_eq!(ask(name).ok().await.unwrap().text(), "true", "without the defence: {name}");
        }
    }
}
