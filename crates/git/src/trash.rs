//! Unwanted folders: moved away at once, deleted in the background.

use std::{
    ffi::OsString,
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

/// A folder on the same disk into which unwanted folders are renamed.
#[derive(Debug)]
pub(crate) struct Trash {
    dir: PathBuf,
    count: AtomicU64,
}

impl Trash {
    pub(crate) fn new(dir: PathBuf) -> Self {
        Self { dir, count: AtomicU64::new(0) }
    }

    /// Moves `unwanted` away and deletes it in the background.
    pub(crate) fn take(&self, unwanted: &Path) {
        let mut name = OsString::from(format!("{}-", self.count.fetch_add(1, Ordering::Relaxed)));
        name.push(unwanted.file_name().unwrap_or_default());
        let target = self.dir.join(name);
        let moved = fs::create_dir_all(&self.dir).and_then(|()| fs::rename(unwanted, &target));
        let doomed = if moved.is_ok() { target } else { unwanted.to_owned() };
        delete_in_background(doomed);
    }

    /// Deletes everything that an earlier process left here.
    pub(crate) fn empty(&self) {
        for entry in fs::read_dir(&self.dir).into_iter().flatten().flatten() {
            delete_in_background(entry.path());
        }
    }
}

fn delete_in_background(doomed: PathBuf) {
    let again = doomed.clone();
    let named = std::thread::Builder::new().name("trash".to_owned());
    if named.spawn(move || delete(&doomed)).is_err() {
        delete(&again);
    }
}

/// Deletes a tree, even if an agent removed our permissions. Anything that cannot be deleted stays until the next
/// start.
pub fn delete(doomed: &Path) {
    if fs::remove_dir_all(doomed).is_err() {
        open_up(doomed, 0);
        if let Err(error) = fs::remove_dir_all(doomed)
            && error.kind() != std::io::ErrorKind::NotFound
        {
            tracing::warn!(folder = %doomed.display(), %error, "an unwanted folder could not be deleted");
        }
    }
}

/// Restores the owner's permissions on the folders of a tree, without following links.
fn open_up(dir: &Path, depth: usize) {
    let folder = fs::symlink_metadata(dir).is_ok_and(|meta| meta.is_dir());
    if !folder || depth > 512 {
        return;
    }
    let _ = fs::set_permissions(dir, fs::Permissions::from_mode(0o700));
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            open_up(&entry.path(), depth.saturating_add(1));
        }
    }
}
