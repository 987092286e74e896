//! Mirrors whose files are damaged. The next fetch makes such a mirror anew: what it holds is on the forge too, or in the
//! database.

use crate::{error::GitError, failure::remote_failure, mirror::Mirror, names::mirror_refspec, remote::Remote};
use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};

/// The file that marks a repository which git could not read.
const MARK: &str = "unreadable";

/// Marks a repository, and the mirror from which it borrows objects.
pub(crate) fn mark(repository: &Path) {
    let borrowed = fs::read_to_string(repository.join("objects/info/alternates")).unwrap_or_default();
    let lender = borrowed.lines().next().and_then(|objects| Path::new(objects).parent());
    for folder in std::iter::once(repository).chain(lender) {
        // One that was removed meanwhile needs no mark.
        if let Err(error) = fs::write(folder.join(MARK), b"")
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(%error, "{} is damaged, and cannot be marked", folder.display());
        }
    }
}

impl Mirror {
    /// `true` if git could not read something that the mirror holds.
    pub(crate) fn is_unreadable(&self) -> bool {
        self.dir.join(MARK).exists()
    }

    /// Replaces the mirror by a new one with the same branches, as far as the remote still has them, and those of
    /// `refspecs`. Others may use a branch that they fetched before, so the old mirror stays until the new one is
    /// complete. The caller holds the lock for writing.
    pub(crate) async fn renew(&self, remote: &Remote, mut refspecs: Vec<String>) -> Result<(), GitError> {
        tracing::warn!("git cannot read {}: the mirror is fetched anew", self.dir.display());
        let path = self.shared.quarantines().join(self.dir.file_name().unwrap_or_default());
        if path.exists() {
            self.shared.trash.take(&path);
        }
        let new = self.at(&path);
        let held = branches(&self.dir);
        let names: Vec<&str> = held.iter().map(String::as_str).filter(|name| mirror_refspec(name).is_ok()).collect();
        if !names.is_empty() {
            for name in new.ls_remote(remote, &names).await?.keys() {
                refspecs.push(mirror_refspec(name)?);
            }
        }
        new.ready()?;
        let output = new.fetching(remote).arg("--").arg(remote.url()).args(refspecs).run().await?;
        if output.code != 0 {
            return Err(remote_failure("fetch", &output, remote.url()));
        }
        let replaced = || GitError::io(format!("replacing {}", self.dir.display()));
        self.shared.trash.take(&self.dir);
        fs::rename(&new.dir, &self.dir).map_err(replaced())?;
        self.touch();
        Ok(())
    }
}

/// Returns the names of a mirror's branches, read without git.
fn branches(mirror: &Path) -> BTreeSet<String> {
    let packed = fs::read_to_string(mirror.join("packed-refs")).unwrap_or_default();
    let packed = packed.lines().filter_map(|line| line.split_once(" refs/heads/"));
    let mut names: BTreeSet<String> = packed.map(|(_, name)| name.to_owned()).collect();
    let heads = mirror.join("refs/heads");
    let _ = collect(&heads, &heads, &mut names);
    names
}

fn collect(heads: &Path, folder: &Path, names: &mut BTreeSet<String>) -> io::Result<()> {
    for entry in fs::read_dir(folder)?.flatten() {
        let path: PathBuf = entry.path();
        if entry.file_type()?.is_dir() {
            collect(heads, &path, names)?;
        } else if let Some(name) = path.strip_prefix(heads).ok().and_then(Path::to_str) {
            names.insert(name.to_owned());
        }
    }
    Ok(())
}
