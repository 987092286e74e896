//! Sets the times of a checkout's files, so that unchanged packages look as old as they are.

use crate::gates::run::cache::packages::Packages;
use rustix::fs::{AtFlags, CWD, Timespec, Timestamps};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    os::unix::fs::MetadataExt,
    path::Path,
};

/// The modification times of files and folders by path, in seconds and nanoseconds.
pub(crate) type Times = BTreeMap<String, (i64, i64)>;

/// The time that all unchanged files get, both when a cache is filled and when it is used. It is older than any cache,
/// but later than the earliest time that archive formats support.
pub(super) const OLD: (i64, i64) = (1_000_000_000, 0);

/// Cargo's lock file, which Cargo compares by content.
const LOCK: &str = "Cargo.lock";

/// Returns the times of the packages' files and folders.
pub(super) fn of(work: &Path, packages: &Packages) -> Times {
    let folders = packages.folders();
    let time = |path: &str| {
        let meta = fs::symlink_metadata(work.join(path)).ok()?;
        Some((path.to_owned(), (meta.mtime(), meta.mtime_nsec())))
    };
    let inside = folders.iter().flat_map(|package| packages.folders_in(package));
    packages.files(&folders).chain(inside).filter_map(time).collect()
}

/// Gives the files and folders of these packages their former times, or else the old one.
pub(super) fn settle(work: &Path, packages: &Packages, folders: &BTreeSet<&str>, times: &Times) -> io::Result<()> {
    let had = |path: &str| times.get(path).copied().unwrap_or(OLD);
    for path in packages.files(folders) {
        set(&work.join(path), had(path))?;
    }
    for package in folders {
        for folder in packages.folders_in(package) {
            set(&work.join(folder), had(folder))?;
        }
    }
    Ok(())
}

fn set(path: &Path, (tv_sec, tv_nsec): (i64, i64)) -> io::Result<()> {
    let time = Timespec { tv_sec, tv_nsec };
    let times = Timestamps {
        last_access: time,
        last_modification: time,
    };
    Ok(rustix::fs::utimensat(CWD, path, &times, AtFlags::SYMLINK_NOFOLLOW)?)
}

/// Returns the files whose times changed: commands wrote or removed them.
pub(super) fn disturbed(work: &Path, before: &Times) -> BTreeSet<String> {
    let is_disturbed = |(path, time): &(&String, &(i64, i64))| {
        // Cargo may rewrite it in a newer format, always in the same way.
        if path.ends_with(LOCK) {
            return false;
        }
        let meta = fs::symlink_metadata(work.join(path));
        // A folder's time changes whenever something is added to it.
        meta.map_or(true, |meta| {
            !meta.is_dir() && (meta.mtime(), meta.mtime_nsec()) != **time
        })
    };
    before
        .iter()
        .filter(is_disturbed)
        .map(|(path, _)| path.clone())
        .collect()
}

/// Returns the time when this checkout was created, by the file system's clock.
pub(super) fn made(work: &Path) -> io::Result<(i64, i64)> {
    let meta = fs::symlink_metadata(work.join(".git/HEAD"))?;
    Ok((meta.mtime(), meta.mtime_nsec()))
}
