//! A mirror that borrows the objects of a clone and holds the commits of Players.

use crate::{Outcome, clone::ProjectClone, project::Project};
use domain::ids::RepoId;
use git::{ForgeAccess, Mirror, Mirrors};
use std::{
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    path::{Path, PathBuf},
    process::Command,
};

/// A project's mirror, and a work tree beside it for plain runs.
pub struct Repository {
    mirror: Mirror,
    plain: PathBuf,
}

/// A Player's work: the base and head commits.
pub struct Work {
    pub base: String,
    pub head: String,
}

impl Repository {
    /// Opens a project's mirror; creates it if it is missing.
    pub fn new(folder: &Path, project: &Project, clone: &ProjectClone) -> Outcome<Self> {
        let mut hasher = DefaultHasher::new();
        project.name.hash(&mut hasher);
        let id = RepoId(hasher.finish() >> 12);
        let forge = ForgeAccess::new("http://127.0.0.1:9").map_err(|error| error.to_string())?;
        let mirrors = Mirrors::new(&folder.join("data"), forge, None).map_err(|error| error.to_string())?;
        let repository = Self { mirror: mirrors.mirror(id), plain: folder.join("plain").join(id.0.to_string()) };
        let dir = repository.mirror.dir();
        if !dir.join("objects/info/alternates").exists() {
            fs::create_dir_all(dir).map_err(|error| error.to_string())?;
            repository.git(&["init", "--quiet", "--bare", "."], None)?;
            let alternates = format!("{}\n", clone.objects()?.display());
            let written = fs::write(dir.join("objects/info/alternates"), alternates);
            written.map_err(|error| error.to_string())?;
        }
        Ok(repository)
    }

    pub fn mirror(&self) -> &Mirror {
        &self.mirror
    }

    /// Returns the commit as a Player could have made it: the paths in `left_out`, which no Player may change, stay as
    /// they were.
    pub fn work(&self, commit: &str, left_out: &[String]) -> Outcome<Work> {
        let base = self.git(&["rev-parse", &format!("{commit}^")], None)?;
        if left_out.is_empty() {
            let head = commit.to_owned();
            return Ok(Work { base, head });
        }
        let index = self.mirror.dir().join("play.index");
        let index = Some(index.as_path());
        self.git(&["read-tree", commit], index)?;
        for path in left_out {
            let entry = self.git(&["ls-tree", &base, "--", path], None)?;
            match entry.split_once('\t') {
                None => self.git(&["update-index", "--force-remove", "--", path], index)?,
                Some((meta, _)) => {
                    let meta: Vec<&str> = meta.split(' ').collect();
                    let (mode, id) = (meta.first().unwrap_or(&""), meta.get(2).unwrap_or(&""));
                    let info = format!("{mode},{id},{path}");
                    self.git(&["update-index", "--add", "--cacheinfo", &info], index)?
                }
            };
        }
        let tree = self.git(&["write-tree"], index)?;
        let head = self.git(&["commit-tree", "-p", &base, "-m", "work", &tree], None)?;
        Ok(Work { base, head })
    }

    /// Checks a commit out into a clone of its own. Files that earlier commands left there stay.
    pub fn check_out(&self, commit: &str) -> Outcome<&Path> {
        let plain = self.plain.display().to_string();
        if !self.plain.join(".git").exists() {
            self.git(&["clone", "--quiet", "--shared", "--no-checkout", ".", &plain], None)?;
        }
        let tree = format!("--git-dir={plain}/.git");
        self.git(
            &[&tree, &format!("--work-tree={plain}"), "checkout", "--quiet", "--force", "--detach", commit],
            None,
        )?;
        Ok(&self.plain)
    }

    fn git(&self, arguments: &[&str], index: Option<&Path>) -> Outcome<String> {
        let mut git = Command::new("git");
        git.current_dir(self.mirror.dir())
            .args(["-c", "safe.bareRepository=all", "--git-dir=."])
            .args(arguments)
            .envs(index.map(|index| ("GIT_INDEX_FILE", index)));
        for who in ["AUTHOR", "COMMITTER"] {
            git.env(format!("GIT_{who}_NAME"), "player")
                .env(format!("GIT_{who}_EMAIL"), "player@example.invalid")
                .env(format!("GIT_{who}_DATE"), "1700000000 +0000");
        }
        let output = git.output().map_err(|error| error.to_string())?;
        if output.status.success() {
            Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
        } else {
            Err(format!("git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr).trim()))
        }
    }
}
