//! Build caches: copies of the files that pre-flight built on a commit of the default branch, for every later run with
//! the same lock files.
//!
//! Only [`keep`] writes here, and only pre-flight calls it. Runs get a copy, so nothing that a Player or a Gate wrote
//! ever gets back into the cache. A missing, damaged or unsuitable cache only costs time. A [`Snapshot`] is the same
//! for the runs of a single turn.
//!
//! [`times`] lets Cargo detect changes since then.

mod copy;
mod key;
mod made;
mod room;
mod times;
mod untracked_files;

pub(crate) use made::SetUpFiles;
pub use room::{forget_caches_of, forget_unused_caches};
pub(crate) use times::{age, matter as times_matter};
pub(crate) use untracked_files::UntrackedFiles;

use crate::gates::{
    commands::CommandChoice,
    run::{
        cache::{copy::Copier, key::CacheKey},
        checkout::SandboxedCheckout,
        context::{GateContext, GateError, blocking_io},
        overlay::Overlay,
    },
};
use domain::ids::Sha;
use git::{Mirror, write_or_remove};
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};
use tempfile::TempDir;

/// The folders of an entry.
const CHECKOUT: &str = "checkout";
const HOME: &str = "home";

/// The result of filling a checkout from a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CacheFill {
    /// It was filled.
    Yes,
    /// It was left as it was, since no cache fits.
    No,
    /// The copy failed half-way, so the checkout is unusable.
    InPart,
}

/// Copies the files that pre-flight built into a fresh checkout, if an entry fits: that of this commit, else the newest
/// with the same lock files and commands.
pub(crate) async fn warm(
    context: &GateContext,
    mirror: &Mirror,
    chosen: &CommandChoice,
    overlay: Option<&Overlay>,
    place: &SandboxedCheckout,
) -> Result<CacheFill, GateError> {
    let commit = place.head();
    let key = CacheKey::of(&context.caches, mirror, commit, chosen, &place.visible_path()).await?;
    let Some(entry) = key.find(commit) else {
        return Ok(CacheFill::No);
    };
    Snapshot { entry, own: None }.fill(mirror, overlay, place).await
}

async fn changed(mirror: &Mirror, entry: &Path, commit: &Sha, overlay: Option<&Overlay>) -> Option<BTreeSet<PathBuf>> {
    let changes = mirror.diff_raw(&key::filled_on(entry)?, commit).await.ok()?;
    let paths = changes.iter().map(|change| change.path.as_path().to_path_buf());
    let laid = overlay.into_iter().flat_map(Overlay::paths).map(PathBuf::from);
    Some(paths.chain(laid).collect())
}

fn take_out(
    entry: &Path,
    work: &Path,
    home: &Path,
    changed: Option<BTreeSet<PathBuf>>,
    tracked: &[PathBuf],
) -> io::Result<()> {
    room::touch(entry);
    let notes = Notes::read(entry)?;
    let mut copier = Copier::default();
    copier.merge(&entry.join(CHECKOUT), work)?;
    copier.merge(&entry.join(HOME), home)?;
    let differing: Option<BTreeSet<PathBuf>> = changed.map(|paths| paths.into_iter().chain(notes.rewritten).collect());
    times::renew(work, tracked, differing.as_ref(), copier.newest)
}

/// Caches the files that set-up and tests made in a checkout of a default-branch commit. A failure only costs time
/// later.
pub(crate) async fn keep(
    context: &GateContext,
    mirror: &Mirror,
    chosen: &CommandChoice,
    place: &SandboxedCheckout,
    untracked_files: Vec<PathBuf>,
    made: SetUpFiles,
) -> Result<(), GateError> {
    let commit = place.head().clone();
    let key = CacheKey::of(&context.caches, mirror, &commit, chosen, &place.visible_path()).await?;
    let caches = context.caches.clone();
    let (work, home, tracked) = (place.path().to_path_buf(), place.home(), place.tracked());
    let keeping = blocking_io(move || {
        let entry = key.entry(&commit);
        if entry.exists() {
            return Ok(());
        }
        let rewritten = times::rewritten(&work, &tracked)?;
        let notes = Notes { made, rewritten, ..Notes::default() };
        put_in(&entry, &work, &home, &untracked_files, notes)?;
        room::make(&caches, &entry);
        Ok(())
    });
    if let Err(error) = keeping.await {
        tracing::warn!(%error, "a build cache could not be kept");
    }
    Ok(())
}

/// Returns the kind of files that set-up left in a checkout; `Made::OfFiles` if that cannot be examined.
pub(crate) async fn inspect(
    place: &SandboxedCheckout,
    left: &UntrackedFiles,
    tracked: &BTreeSet<String>,
) -> SetUpFiles {
    let (work, home) = (place.path().to_path_buf(), place.home());
    let (left, tracked) = (left.clone(), tracked.clone());
    let looking = blocking_io(move || SetUpFiles::look(&work, &home, &left, &tracked));
    looking.await.unwrap_or_else(|error| {
        tracing::debug!(%error, "what set-up left could not be looked through");
        SetUpFiles::OfFiles
    })
}

/// The files that set-up left on one commit. Every run of a turn starts from a copy of them.
pub(crate) struct Snapshot {
    pub(crate) entry: PathBuf,
    /// The folder around the entry, which is deleted with the snapshot; `None` for a cache entry of pre-flight.
    own: Option<TempDir>,
}

impl Snapshot {
    /// Copies the files that set-up made in a checkout; `None` if that fails, which only costs more set-ups.
    pub(crate) async fn of(
        context: &GateContext,
        place: &SandboxedCheckout,
        untracked_files: Vec<PathBuf>,
    ) -> Option<Self> {
        let (below, commit) = (context.folder.clone(), place.head().clone());
        let (work, home, tracked) = (place.path().to_path_buf(), place.home(), place.tracked());
        let copying = blocking_io(move || {
            fs::create_dir_all(&below)?;
            let folder = tempfile::Builder::new().prefix("prepared-").tempdir_in(below)?;
            let rewritten = times::rewritten(&work, &tracked)?;
            let notes = Notes { rewritten, ..Notes::default() };
            let entry = folder.path().join(commit.as_str());
            put_in(&entry, &work, &home, &untracked_files, notes)?;
            let own = Some(folder);
            Ok(Self { entry, own })
        });
        let warn = |error: &io::Error| tracing::warn!(%error, "a prepared checkout could not be kept");
        copying.await.inspect_err(warn).ok()
    }

    /// Returns the files that pre-flight's set-up made on a commit, if they are only packages. `seen` is the path at
    /// which commands see every checkout.
    pub(crate) async fn of_packages(
        context: &GateContext,
        mirror: &Mirror,
        commit: &Sha,
        chosen: &CommandChoice,
        seen: &Path,
    ) -> Result<Option<Self>, GateError> {
        let key = CacheKey::of(&context.caches, mirror, commit, chosen, seen).await?;
        let entry = key.entry(commit);
        let is_packages = Notes::read(&entry).is_ok_and(|notes| notes.made == SetUpFiles::Packages);
        Ok(is_packages.then(|| Self { entry, own: None }))
    }

    /// Replaces the content of a path below `around`, the folder around a checkout, by the snapshot's copy. Returns
    /// `false` if there is none.
    pub(crate) fn copy_back(entry: &Path, around: &Path, path: &Path) -> io::Result<bool> {
        let left = match (path.strip_prefix("work"), path.strip_prefix("home")) {
            (Ok(inside), _) => entry.join(CHECKOUT).join(inside),
            (_, Ok(inside)) => entry.join(HOME).join(inside),
            (Err(_), Err(_)) => return Ok(false),
        };
        if fs::symlink_metadata(&left).is_err() {
            return Ok(false);
        }
        write_or_remove(around, path, None)?;
        Copier::default().copy(&left, &around.join(path))?;
        Ok(true)
    }

    /// Fills a fresh checkout of this or another commit with a copy. Files that the overlay will replace count as
    /// changed.
    pub(crate) async fn fill(
        &self,
        mirror: &Mirror,
        overlay: Option<&Overlay>,
        place: &SandboxedCheckout,
    ) -> Result<CacheFill, GateError> {
        let (entry, commit) = (self.entry.clone(), place.head());
        let changed = changed(mirror, &entry, commit, overlay).await;
        let (work, home, tracked) = (place.path().to_path_buf(), place.home(), place.tracked());
        match blocking_io(move || take_out(&entry, &work, &home, changed, &tracked)).await {
            Ok(()) => Ok(CacheFill::Yes),
            Err(error) => {
                tracing::warn!(%error, "a build cache could not be used");
                Ok(CacheFill::InPart)
            }
        }
    }
}

impl Drop for Snapshot {
    fn drop(&mut self) {
        let own = self.own.take();
        if let (Some(own), Ok(runtime)) = (own, tokio::runtime::Handle::try_current()) {
            drop(runtime.spawn_blocking(move || drop(own)));
        }
    }
}

const NOTES: &str = "notes.json";

#[derive(Debug, Default, Deserialize, Serialize)]
struct Notes {
    /// The entry's size.
    bytes: u64,
    /// Files that commands rewrote. Anything built from them counts as out of date.
    rewritten: BTreeSet<PathBuf>,
    /// The kind of files that set-up left.
    made: SetUpFiles,
}

impl Notes {
    fn read(entry: &Path) -> io::Result<Self> {
        Ok(serde_json::from_slice(&fs::read(entry.join(NOTES))?)?)
    }

    fn write(&self, entry: &Path) -> io::Result<()> {
        fs::write(entry.join(NOTES), serde_json::to_vec(self)?)
    }
}

/// Writes an entry to a temporary folder and moves it into place as a whole.
fn put_in(entry: &Path, work: &Path, home: &Path, untracked_files: &[PathBuf], notes: Notes) -> io::Result<()> {
    let folder = entry.parent().unwrap_or(entry);
    fs::create_dir_all(folder)?;
    let making = tempfile::Builder::new().prefix(".making-").tempdir_in(folder)?;
    let checkout = making.path().join(CHECKOUT);
    fs::create_dir(&checkout)?;
    let mut copier = Copier::default();
    for left in untracked_files {
        let to = checkout.join(left);
        if let Some(above) = to.parent() {
            fs::create_dir_all(above)?;
        }
        copier.copy(&work.join(left), &to)?;
    }
    copier.copy(home, &making.path().join(HOME))?;
    Notes { bytes: copier.bytes, ..notes }.write(making.path())?;
    // The folder's own time stays that of its making, since later uses only rewrite this file.
    room::touch(making.path());
    fs::rename(making.path(), entry)?;
    // The folder was renamed, so the guard must not delete it.
    drop(making.keep());
    Ok(())
}
