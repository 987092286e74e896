//! Build caches: what pre-flight built on a commit of the default branch, copied for every later run on the same lock files.
//!
//! Only [`keep`] writes here, and only pre-flight calls it. What is taken out is a copy: nothing that a Player or a Gate
//! wrote ever comes back. A cache that is missing, damaged or does not fit only costs time.

mod copy;
mod key;
mod leavings;
mod room;

pub(crate) use leavings::Leavings;

use crate::domain::ids::Sha;
use crate::gates::bench::Bench;
use crate::gates::bench::GateError;
use crate::gates::cache::copy::Copier;
use crate::gates::cache::key::Key;
use crate::gates::commands::Chosen;
use crate::gates::place::Place;
use crate::git::Mirror;
use std::io;
use std::path::Path;
use std::path::PathBuf;

/// Where the folders of an entry lie.
const CHECKOUT: &str = "checkout";
const HOME: &str = "home";

/// Whether a place was filled from a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Warmed {
    /// It was.
    Yes,
    /// It is as it was: nothing fits.
    No,
    /// A copy broke off: the place is of no use any more.
    InPart,
}

/// Copies what pre-flight built into a fresh place, where an entry fits: of this very commit, else the newest with the
/// same lock files and commands.
pub(crate) async fn warm(
    bench: &Bench,
    mirror: &Mirror,
    commit: &Sha,
    chosen: &Chosen,
    place: &Place<'_>,
) -> Result<Warmed, GateError> {
    let key = Key::of(mirror, commit, chosen).await?;
    let Some(entry) = key.find(&bench.caches, commit) else {
        return Ok(Warmed::No);
    };
    let (work, home) = (place.path().to_path_buf(), place.home());
    let copying = tokio::task::spawn_blocking(move || take_out(&entry, &work, &home));
    match copying.await.unwrap_or_else(|error| Err(error.into())) {
        Ok(()) => Ok(Warmed::Yes),
        Err(error) => {
            tracing::warn!(%error, "a build cache could not be used");
            Ok(Warmed::InPart)
        }
    }
}

fn take_out(entry: &Path, work: &Path, home: &Path) -> io::Result<()> {
    room::touch(entry);
    let mut copier = Copier::default();
    copier.merge(&entry.join(CHECKOUT), work)?;
    copier.merge(&entry.join(HOME), home)
}

/// Keeps what set-up and tests left in a place of a default-branch commit. Failing to costs nothing but time later.
pub(crate) async fn keep(
    bench: &Bench,
    mirror: &Mirror,
    commit: &Sha,
    chosen: &Chosen,
    place: &Place<'_>,
    leavings: Vec<PathBuf>,
) -> Result<(), GateError> {
    let key = Key::of(mirror, commit, chosen).await?;
    let (caches, commit) = (bench.caches.clone(), commit.clone());
    let (work, home) = (place.path().to_path_buf(), place.home());
    let keeping = tokio::task::spawn_blocking(move || {
        let entry = key.entry(&caches, &commit);
        if entry.exists() {
            return Ok(());
        }
        put_in(&key.folder(&caches), &entry, &work, &home, &leavings)?;
        room::make(&caches, &entry);
        Ok(())
    });
    if let Err(error) = keeping.await.unwrap_or_else(|error| Err::<(), io::Error>(error.into())) {
        tracing::warn!(%error, "a build cache could not be kept");
    }
    Ok(())
}

/// Writes an entry beside its place and moves it there whole.
fn put_in(folder: &Path, entry: &Path, work: &Path, home: &Path, leavings: &[PathBuf]) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let making = tempfile::Builder::new().prefix(".making-").tempdir_in(folder)?;
    let checkout = making.path().join(CHECKOUT);
    std::fs::create_dir(&checkout)?;
    let mut copier = Copier::default();
    for left in leavings {
        let to = checkout.join(left);
        if let Some(above) = to.parent() {
            std::fs::create_dir_all(above)?;
        }
        copier.copy(&work.join(left), &to)?;
    }
    copier.copy(home, &making.path().join(HOME))?;
    std::fs::rename(making.path(), entry)?;
    // The folder is not there any more under its first name, so there is nothing to take away.
    drop(making.keep());
    Ok(())
}
