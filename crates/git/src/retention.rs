//! Limits the growth of mirrors: deletes unused ones, which can be fetched again, and repacks those of many packs.

use crate::{
    blocking::blocking,
    error::GitError,
    mirror::{HELD, Mirror, Mirrors},
    process::GitCall,
};
use domain::ids::{Millis, RepoId};
use std::{fs, os::unix::fs::MetadataExt, path::Path, sync::Arc};

/// The file whose time is the mirror's last use.
const USED: &str = "used";

/// The number of packs from which a mirror is repacked. Each lookup of an object searches them one after the other.
const MANY_PACKS: usize = 50;

/// The outcome of deleting a mirror.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForgetOutcome {
    /// Its folder is gone.
    Deleted,
    /// Something in this process uses it.
    InUse,
}

impl Mirrors {
    /// Returns the repositories that have a mirror here.
    pub fn list(&self) -> Vec<RepoId> {
        let entries = fs::read_dir(self.folder_of_all()).into_iter().flatten().flatten();
        let repo = |name: &str| name.strip_suffix(".git")?.parse().ok().map(RepoId);
        entries.filter_map(|entry| repo(entry.file_name().to_str()?)).collect()
    }

    /// Returns when the mirror was last filled or used; `None` if that is not known.
    pub fn used_at(&self, repo: RepoId) -> Option<Millis> {
        let mirror = self.folder_of_all().join(format!("{repo}.git"));
        let known = fs::metadata(mirror.join(USED)).or_else(|_| fs::metadata(&mirror)).ok()?;
        Some(Millis(known.mtime().saturating_mul(1_000)))
    }

    /// Deletes a mirror and the checkouts that are kept for its repository, unless something in this process uses it:
    /// checkouts borrow its objects.
    pub fn forget(&self, repo: RepoId) -> ForgetOutcome {
        let mut known = self.mirrors().lock();
        if known.get(&repo).is_some_and(|mirror| Arc::strong_count(&mirror.dir) > 1) {
            return ForgetOutcome::InUse;
        }
        known.remove(&repo);
        self.trash().take(&self.folder_of_all().join(format!("{repo}.git")));
        self.forget_kept(repo);
        ForgetOutcome::Deleted
    }
}

impl Mirror {
    /// Notes that the mirror was used now.
    pub(crate) fn touch(&self) {
        let _ = fs::write(self.dir.join(USED), b"");
    }

    /// Releases the held commits that were made before `before`, and returns their number. Their objects stay: checkouts
    /// borrow them.
    pub async fn release_held(&self, before: Millis) -> Result<usize, GitError> {
        self.ready()?;
        let _writing = self.writing.lock().await;
        let listing = GitCall::new(&self.dir, "for-each-ref").arg("--format=%(committerdate:unix) %(refname)");
        let listed = listing.arg(HELD).ok().await?.text();
        let is_old = |at: &str| at.parse::<i64>().is_ok_and(|at| at < before.0 / 1_000);
        let refs = listed.lines().filter_map(|line| line.split_once(' '));
        let orders: Vec<String> =
            refs.filter(|(at, _)| is_old(at)).map(|(_, name)| format!("delete {name}\n")).collect();
        if !orders.is_empty() {
            let call = GitCall::new(&self.dir, "update-ref").arg("--stdin");
            call.stdin(orders.concat().into_bytes()).ok().await?;
        }
        Ok(orders.len())
    }

    /// Joins the packs of a mirror that has many, and drops no object: checkouts borrow them.
    pub async fn repack(&self) -> Result<(), GitError> {
        let dir = Arc::clone(&self.dir);
        let packs = blocking(move || count_packs(&dir)).await.unwrap_or_default();
        if packs < MANY_PACKS {
            return Ok(());
        }
        let _writing = self.writing.lock().await;
        let call = GitCall::new(&self.dir, "repack").talking_to_disk();
        let output = call.arg("-d").arg("--geometric=2").arg("--quiet").run().await?;
        match output.code {
            0 => Ok(()),
            code => Err(GitError::Failed { command: "repack".to_owned(), code, stderr: output.stderr }),
        }
    }
}

fn count_packs(mirror: &Path) -> usize {
    let entries = fs::read_dir(mirror.join("objects/pack")).into_iter().flatten().flatten();
    entries.filter(|entry| entry.path().extension().is_some_and(|kind| kind == "pack")).count()
}
