//! Build caches: copies of what pre-flight built on a commit of the default branch, for every later run with the same
//! lock files.
//!
//! Only [`keep`] writes here, and only pre-flight calls it. Runs get a copy, so nothing that a Player or a Gate wrote
//! ever gets back into the cache. A missing, damaged or unsuitable cache only costs time. A [`Snapshot`] is the same
//! for the runs of a single turn.
//!
//! Cargo decides by file times. Therefore the files of unchanged packages get the same old time wherever a cache is
//! filled or used. Packages that may have changed look new, and their fingerprints are deleted.

mod builds;
mod copy;
mod key;
mod made;
mod notes;
mod packages;
mod room;
mod times;
mod untracked_files;

pub(crate) use made::Made;
pub(crate) use times::Times;
pub(crate) use untracked_files::UntrackedFiles;

use crate::gates::{
    commands,
    commands::Chosen,
    run::{
        cache::{
            copy::Copier,
            key::Key,
            notes::Notes,
            packages::{Packages, Since},
        },
        checkout::SandboxedCheckout,
        context::{GateContext, GateError, host},
        overlay::Overlay,
    },
};
use domain::ids::Sha;
use git::{Mirror, blocking};
use std::{
    collections::BTreeSet,
    io,
    path::{Path, PathBuf},
};
use tempfile::TempDir;

/// The folders of an entry.
const CHECKOUT: &str = "checkout";
const HOME: &str = "home";

/// Whether a checkout was filled from a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Warmed {
    /// It was filled.
    Yes,
    /// It was left as it was, since no cache fits.
    No,
    /// The copy failed half-way, so the checkout is unusable.
    InPart,
}

/// Copies what pre-flight built into a fresh checkout, if an entry fits: that of this commit, else the newest with the
/// same lock files and commands. Files that the overlay will replace count as changed.
pub(crate) async fn warm(
    context: &GateContext,
    mirror: &Mirror,
    chosen: &Chosen,
    overlay: Option<&Overlay>,
    place: &SandboxedCheckout,
) -> Result<Warmed, GateError> {
    let commit = place.head();
    let key = Key::of(mirror, commit, chosen, &place.seen()).await?;
    let Some(entry) = key.find(&context.caches, commit) else {
        return Ok(Warmed::No);
    };
    fill(mirror, entry, overlay, place).await
}

/// Copies an entry into a fresh checkout.
async fn fill(
    mirror: &Mirror,
    entry: PathBuf,
    overlay: Option<&Overlay>,
    place: &SandboxedCheckout,
) -> Result<Warmed, GateError> {
    let commit = place.head();
    let since = since(mirror, &entry, commit, overlay).await;
    let packages = Packages::of(&commands::paths(mirror, commit).await?);
    let (work, home) = (place.path().to_path_buf(), place.home());
    let copying = blocking(move || take_out(&entry, &work, &home, since, &packages));
    match copying.await.unwrap_or_else(|error| Err(error.into())) {
        Ok(()) => Ok(Warmed::Yes),
        Err(error) => {
            tracing::warn!(%error, "a build cache could not be used");
            Ok(Warmed::InPart)
        }
    }
}

/// Returns the paths that differ from the commit on which the entry was filled.
async fn since(mirror: &Mirror, entry: &Path, commit: &Sha, overlay: Option<&Overlay>) -> Since {
    let filled_on = entry.file_name().and_then(|name| name.to_str()?.parse::<Sha>().ok());
    let Some(filled_on) = filled_on else {
        return Since::Unknown;
    };
    let Ok(changes) = mirror.diff_raw(&filled_on, commit).await else {
        return Since::Unknown;
    };
    let paths: Option<BTreeSet<String>> = changes
        .iter()
        .map(|change| change.path.to_str().map(str::to_owned))
        .collect();
    let laid = overlay.into_iter().flat_map(Overlay::paths).map(str::to_owned);
    paths.map_or(Since::Unknown, |paths| {
        Since::Paths(paths.into_iter().chain(laid).collect())
    })
}

fn take_out(entry: &Path, work: &Path, home: &Path, since: Since, packages: &Packages) -> io::Result<()> {
    room::touch(entry);
    let notes = Notes::read(entry)?;
    let mut copier = Copier::default();
    copier.merge(&entry.join(CHECKOUT), work)?;
    copier.merge(&entry.join(HOME), home)?;
    if notes.fingerprints.is_empty() {
        return Ok(());
    }
    let since = match since {
        // Build results newer than this checkout would look newer than files that changed in it.
        Since::Paths(_) if copier.newest() >= times::made(work)? => Since::Unknown,
        Since::Paths(paths) => Since::Paths(paths.into_iter().chain(notes.unlike).collect()),
        Since::Unknown => Since::Unknown,
    };
    let untouched = packages.untouched(&since);
    let folders = packages.folders();
    let touched = folders.difference(&untouched).copied().collect();
    builds::forget(work, &notes.fingerprints, &touched)?;
    times::settle(work, packages, &untouched, &notes.times)
}

/// Gives the files of a fresh checkout of a default-branch commit the times that later checkouts will have, before
/// anything is built in it.
pub(crate) async fn prepare(mirror: &Mirror, commit: &Sha, place: &SandboxedCheckout) -> Result<(), GateError> {
    let packages = Packages::of(&commands::paths(mirror, commit).await?);
    let work = place.path().to_path_buf();
    let settling = blocking(move || times::settle(&work, &packages, &packages.folders(), &Times::new()));
    let settled = settling.await.unwrap_or_else(|error| Err(error.into()));
    settled.map_err(host("setting times in a checkout"))
}

/// Returns the times by which build tools decide, before anything is built in a checkout.
pub(crate) async fn times(mirror: &Mirror, place: &SandboxedCheckout) -> Result<Times, GateError> {
    let packages = Packages::of(&commands::paths(mirror, place.head()).await?);
    let work = place.path().to_path_buf();
    let reading = blocking(move || times::of(&work, &packages)).await;
    reading.map_err(|error| host("reading times in a checkout")(error.into()))
}

/// Caches what set-up and tests left in a checkout of a default-branch commit. A failure only costs time later.
pub(crate) async fn keep(
    context: &GateContext,
    mirror: &Mirror,
    chosen: &Chosen,
    place: &SandboxedCheckout,
    (before, untracked_files, made): (Times, Vec<PathBuf>, Made),
) -> Result<(), GateError> {
    let commit = place.head().clone();
    let key = Key::of(mirror, &commit, chosen, &place.seen()).await?;
    let caches = context.caches.clone();
    let (work, home) = (place.path().to_path_buf(), place.home());
    let keeping = blocking(move || {
        let entry = key.entry(&caches, &commit);
        if entry.exists() {
            return Ok(());
        }
        let notes = Notes::of(&work, before, &untracked_files, made)?;
        put_in(&key.folder(&caches), &entry, (&work, &home), &untracked_files, notes)?;
        room::make(&caches, &entry);
        Ok(())
    });
    if let Err(error) = keeping.await.unwrap_or_else(|error| Err::<(), io::Error>(error.into())) {
        tracing::warn!(%error, "a build cache could not be kept");
    }
    Ok(())
}

/// Returns the kind of files that set-up left in a checkout; `Made::OfFiles` if that cannot be examined.
pub(crate) async fn made(place: &SandboxedCheckout, left: &UntrackedFiles, tracked: &BTreeSet<String>) -> Made {
    let (work, home) = (place.path().to_path_buf(), place.home());
    let (left, tracked) = (left.clone(), tracked.clone());
    let looking = blocking(move || Made::look(&work, &home, &left, &tracked));
    let looked = looking.await.unwrap_or_else(|error| Err(error.into()));
    looked.unwrap_or_else(|error| {
        tracing::debug!(%error, "what set-up left could not be looked through");
        Made::OfFiles
    })
}

/// What set-up left on one commit. Every run of a turn starts from a copy of it.
pub(crate) struct Snapshot {
    folder: Folder,
    commit: Sha,
}

/// The folder that holds it.
enum Folder {
    /// A cache entry of pre-flight.
    Kept(PathBuf),
    /// A temporary folder, which is deleted with the snapshot.
    Own(Option<TempDir>),
}

impl Snapshot {
    /// Copies what set-up left in a checkout; `None` if that fails, which only costs more set-ups.
    pub(crate) async fn of(
        context: &GateContext,
        place: &SandboxedCheckout,
        (before, untracked_files): (Times, Vec<PathBuf>),
    ) -> Option<Self> {
        let (below, commit) = (context.folder.clone(), place.head().clone());
        let (work, home) = (place.path().to_path_buf(), place.home());
        let copying = blocking(move || {
            std::fs::create_dir_all(&below)?;
            let folder = tempfile::Builder::new().prefix("prepared-").tempdir_in(below)?;
            let notes = Notes::of(&work, before, &untracked_files, Made::OfFiles)?;
            let entry = folder.path().join(commit.as_str());
            put_in(folder.path(), &entry, (&work, &home), &untracked_files, notes)?;
            Ok(Self {
                folder: Folder::Own(Some(folder)),
                commit,
            })
        });
        let copied = copying
            .await
            .unwrap_or_else(|error| Err::<Self, io::Error>(error.into()));
        copied
            .inspect_err(|error| tracing::warn!(%error, "a prepared checkout could not be kept"))
            .ok()
    }

    /// Returns what pre-flight's set-up left on a commit, if it is only packages. `seen` is the path at which commands
    /// see every checkout.
    pub(crate) async fn of_packages(
        context: &GateContext,
        (mirror, commit): (&Mirror, &Sha),
        chosen: &Chosen,
        seen: &Path,
    ) -> Result<Option<Self>, GateError> {
        let key = Key::of(mirror, commit, chosen, seen).await?;
        let entry = key.entry(&context.caches, commit);
        let is_packages = Notes::read(&entry).is_ok_and(|notes| notes.made == Made::Packages);
        Ok(is_packages.then(|| Self {
            folder: Folder::Kept(entry),
            commit: commit.clone(),
        }))
    }

    /// Returns its folder if a checkout that was filled from it can be used twice. With Cargo's fingerprints it cannot,
    /// since Cargo relies on times that only a fresh checkout has.
    pub(crate) fn entry(&self) -> Option<PathBuf> {
        let entry = match &self.folder {
            Folder::Kept(entry) => entry.clone(),
            Folder::Own(folder) => folder.as_ref()?.path().join(self.commit.as_str()),
        };
        let notes = Notes::read(&entry).ok()?;
        notes.fingerprints.is_empty().then_some(entry)
    }

    /// Returns the entry's copy of a path, which is relative to the folder around a checkout; `None` if there is none.
    pub(crate) fn has(entry: &Path, path: &Path) -> Option<PathBuf> {
        let left = match (path.strip_prefix("work"), path.strip_prefix("home")) {
            (Ok(inside), _) => entry.join(CHECKOUT).join(inside),
            (_, Ok(inside)) => entry.join(HOME).join(inside),
            (Err(_), Err(_)) => return None,
        };
        std::fs::symlink_metadata(&left).is_ok().then_some(left)
    }

    /// Replaces whatever is at `to` by a copy of a file.
    pub(crate) fn copy_back(left: &Path, to: &Path) -> io::Result<()> {
        match std::fs::symlink_metadata(to) {
            Ok(meta) if meta.is_dir() => std::fs::remove_dir_all(to)?,
            Ok(_) => std::fs::remove_file(to)?,
            Err(_) => {}
        }
        Copier::default().copy(left, to)
    }

    /// Fills a fresh checkout of this or another commit with a copy.
    pub(crate) async fn fill(
        &self,
        mirror: &Mirror,
        overlay: Option<&Overlay>,
        place: &SandboxedCheckout,
    ) -> Result<Warmed, GateError> {
        match &self.folder {
            Folder::Kept(entry) => fill(mirror, entry.clone(), overlay, place).await,
            Folder::Own(Some(folder)) => fill(mirror, folder.path().join(self.commit.as_str()), overlay, place).await,
            Folder::Own(None) => Ok(Warmed::No),
        }
    }
}

impl Drop for Snapshot {
    fn drop(&mut self) {
        let Folder::Own(folder) = &mut self.folder else { return };
        let folder = folder.take();
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            drop(runtime.spawn_blocking(move || drop(folder)));
        }
    }
}

/// Writes an entry to a temporary folder and moves it into place as a whole.
fn put_in(
    folder: &Path,
    entry: &Path,
    (work, home): (&Path, &Path),
    untracked_files: &[PathBuf],
    notes: Notes,
) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let making = tempfile::Builder::new().prefix(".making-").tempdir_in(folder)?;
    let checkout = making.path().join(CHECKOUT);
    std::fs::create_dir(&checkout)?;
    let mut copier = Copier::default();
    for left in untracked_files {
        let to = checkout.join(left);
        if let Some(above) = to.parent() {
            std::fs::create_dir_all(above)?;
        }
        copier.copy(&work.join(left), &to)?;
    }
    copier.copy(home, &making.path().join(HOME))?;
    let bytes = copier.bytes();
    Notes { bytes, ..notes }.write(making.path())?;
    // From here on, the folder's time says when it was made: later uses only rewrite this file.
    room::touch(making.path());
    std::fs::rename(making.path(), entry)?;
    // The folder was renamed, so the guard must not delete it.
    drop(making.keep());
    Ok(())
}
