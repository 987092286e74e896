//! Build caches: what pre-flight built on a commit of the default branch, copied for every later run on the same lock files.
//!
//! Only [`keep`] writes here, and only pre-flight calls it. What is taken out is a copy: nothing that a Player or a Gate
//! wrote ever comes back. A cache that is missing, damaged or does not fit only costs time. A [`Snapshot`] is the same for
//! the runs of one turn alone.
//!
//! Cargo believes times, so files of packages that are as they were get one old time here and there; whatever may have
//! changed is new, and forgotten.

mod builds;
mod copy;
mod key;
mod leavings;
mod made;
mod notes;
mod packages;
mod room;
mod times;

pub(crate) use leavings::Leavings;
pub(crate) use made::Made;
pub(crate) use times::Times;

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
        context::{Bench, GateError, host},
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
/// same lock files and commands. What will be laid over the commit's files counts as changed.
pub(crate) async fn warm(
    bench: &Bench,
    mirror: &Mirror,
    chosen: &Chosen,
    overlay: Option<&Overlay>,
    place: &SandboxedCheckout,
) -> Result<Warmed, GateError> {
    let commit = place.head();
    let key = Key::of(mirror, commit, chosen, &place.seen()).await?;
    let Some(entry) = key.find(&bench.caches, commit) else {
        return Ok(Warmed::No);
    };
    fill(mirror, entry, overlay, place).await
}

/// Copies an entry into a fresh place.
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

/// What is not as it was on the commit that the entry was filled on.
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
        // What looks newer than this checkout would look newer than what was changed in it.
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

/// Makes a fresh place of a default-branch commit look as every later one will, before anything is built in it.
pub(crate) async fn prepare(mirror: &Mirror, commit: &Sha, place: &SandboxedCheckout) -> Result<(), GateError> {
    let packages = Packages::of(&commands::paths(mirror, commit).await?);
    let work = place.path().to_path_buf();
    let settling = blocking(move || times::settle(&work, &packages, &packages.folders(), &Times::new()));
    let settled = settling.await.unwrap_or_else(|error| Err(error.into()));
    settled.map_err(host("setting times in a checkout"))
}

/// The times that build tools go by, before anything is built in a place.
pub(crate) async fn times(mirror: &Mirror, place: &SandboxedCheckout) -> Result<Times, GateError> {
    let packages = Packages::of(&commands::paths(mirror, place.head()).await?);
    let work = place.path().to_path_buf();
    let reading = blocking(move || times::of(&work, &packages)).await;
    reading.map_err(|error| host("reading times in a checkout")(error.into()))
}

/// Keeps what set-up and tests left in a place of a default-branch commit. Failing to costs nothing but time later.
pub(crate) async fn keep(
    bench: &Bench,
    mirror: &Mirror,
    chosen: &Chosen,
    place: &SandboxedCheckout,
    (before, leavings, made): (Times, Vec<PathBuf>, Made),
) -> Result<(), GateError> {
    let commit = place.head().clone();
    let key = Key::of(mirror, &commit, chosen, &place.seen()).await?;
    let caches = bench.caches.clone();
    let (work, home) = (place.path().to_path_buf(), place.home());
    let keeping = blocking(move || {
        let entry = key.entry(&caches, &commit);
        if entry.exists() {
            return Ok(());
        }
        let notes = Notes::of(&work, before, &leavings, made)?;
        put_in(&key.folder(&caches), &entry, (&work, &home), &leavings, notes)?;
        room::make(&caches, &entry);
        Ok(())
    });
    if let Err(error) = keeping.await.unwrap_or_else(|error| Err::<(), io::Error>(error.into())) {
        tracing::warn!(%error, "a build cache could not be kept");
    }
    Ok(())
}

/// What set-up makes of the files of a place that it left this way; where that cannot be seen, it may be anything.
pub(crate) async fn made(place: &SandboxedCheckout, left: &Leavings, tracked: &BTreeSet<String>) -> Made {
    let (work, home) = (place.path().to_path_buf(), place.home());
    let (left, tracked) = (left.clone(), tracked.clone());
    let looking = blocking(move || Made::look(&work, &home, &left, &tracked));
    let looked = looking.await.unwrap_or_else(|error| Err(error.into()));
    looked.unwrap_or_else(|error| {
        tracing::debug!(%error, "what set-up left could not be looked through");
        Made::OfFiles
    })
}

/// What set-up left on one commit: every run of a turn starts from a copy of it.
pub(crate) struct Snapshot {
    folder: Folder,
    commit: Sha,
}

/// Where it lies.
enum Folder {
    /// In an entry that pre-flight keeps.
    Kept(PathBuf),
    /// In a folder that goes away with the turn.
    Own(Option<TempDir>),
}

impl Snapshot {
    /// Copies what set-up left in a place; none where that cannot be done, which costs set-ups.
    pub(crate) async fn of(
        bench: &Bench,
        place: &SandboxedCheckout,
        (before, leavings): (Times, Vec<PathBuf>),
    ) -> Option<Self> {
        let (below, commit) = (bench.folder.clone(), place.head().clone());
        let (work, home) = (place.path().to_path_buf(), place.home());
        let copying = blocking(move || {
            std::fs::create_dir_all(&below)?;
            let folder = tempfile::Builder::new().prefix("prepared-").tempdir_in(below)?;
            let notes = Notes::of(&work, before, &leavings, Made::OfFiles)?;
            let entry = folder.path().join(commit.as_str());
            put_in(folder.path(), &entry, (&work, &home), &leavings, notes)?;
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

    /// What pre-flight's set-up left on a commit, where that is packages alone, and where every place is seen here.
    pub(crate) async fn of_packages(
        bench: &Bench,
        (mirror, commit): (&Mirror, &Sha),
        chosen: &Chosen,
        seen: &Path,
    ) -> Result<Option<Self>, GateError> {
        let key = Key::of(mirror, commit, chosen, seen).await?;
        let entry = key.entry(&bench.caches, commit);
        let is_packages = Notes::read(&entry).is_ok_and(|notes| notes.made == Made::Packages);
        Ok(is_packages.then(|| Self {
            folder: Folder::Kept(entry),
            commit: commit.clone(),
        }))
    }

    /// Where it lies, if a place that was filled from it can be used twice: Cargo goes by times that only a fresh place has.
    pub(crate) fn entry(&self) -> Option<PathBuf> {
        let entry = match &self.folder {
            Folder::Kept(entry) => entry.clone(),
            Folder::Own(folder) => folder.as_ref()?.path().join(self.commit.as_str()),
        };
        let notes = Notes::read(&entry).ok()?;
        notes.fingerprints.is_empty().then_some(entry)
    }

    /// Where an entry has what stands at this path below the folder around a checkout.
    pub(crate) fn has(entry: &Path, path: &Path) -> Option<PathBuf> {
        let left = match (path.strip_prefix("work"), path.strip_prefix("home")) {
            (Ok(inside), _) => entry.join(CHECKOUT).join(inside),
            (_, Ok(inside)) => entry.join(HOME).join(inside),
            (Err(_), Err(_)) => return None,
        };
        std::fs::symlink_metadata(&left).is_ok().then_some(left)
    }

    /// Puts a copy of a file in place of whatever stands there.
    pub(crate) fn copy_back(left: &Path, to: &Path) -> io::Result<()> {
        match std::fs::symlink_metadata(to) {
            Ok(meta) if meta.is_dir() => std::fs::remove_dir_all(to)?,
            Ok(_) => std::fs::remove_file(to)?,
            Err(_) => {}
        }
        Copier::default().copy(left, to)
    }

    /// Fills a fresh place of this or another commit with a copy.
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

/// Writes an entry beside its place and moves it there whole.
fn put_in(
    folder: &Path,
    entry: &Path,
    (work, home): (&Path, &Path),
    leavings: &[PathBuf],
    notes: Notes,
) -> io::Result<()> {
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
    let bytes = copier.bytes();
    Notes { bytes, ..notes }.write(making.path())?;
    // From here on its time says when it was made: using it only writes this file again.
    room::touch(making.path());
    std::fs::rename(making.path(), entry)?;
    // The folder is not there any more under its first name, so there is nothing to take away.
    drop(making.keep());
    Ok(())
}
