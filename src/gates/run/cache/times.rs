//! Sets the times of a checkout's files, so that unchanged packages look as old as they are.

use crate::gates::run::cache::packages::Packages;
use rustix::fs::{AtFlags, CWD, Timespec, Timestamps};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    fs::Metadata,
    io,
    os::unix::fs::MetadataExt,
    path::Path,
};

/// A time in seconds and nanoseconds.
pub(super) type Time = (i64, i64);

/// The modification times of files and folders by path.
pub(crate) type Times = BTreeMap<String, Time>;

/// The time that all unchanged files get, both when a cache is filled and when it is used. It is older than any cache,
/// but later than the earliest time that archive formats support.
pub(super) const OLD: Time = (1_000_000_000, 0);

/// Cargo's lock file, which Cargo compares by content.
const LOCK: &str = "Cargo.lock";

/// Returns the time when a file was last written.
pub(super) fn modified(meta: &Metadata) -> Time {
    (meta.mtime(), meta.mtime_nsec())
}

/// Returns the times of the packages' files and folders.
pub(super) fn of(work: &Path, packages: &Packages) -> Times {
    let folders = packages.folders();
    let time = |path: &str| {
        let meta = fs::symlink_metadata(work.join(path)).ok()?;
        Some((path.to_owned(), modified(&meta)))
    };
    let inside = folders.iter().flat_map(|package| packages.folders_in(package));
    packages.files(&folders).chain(inside).filter_map(time).collect()
}

/// Gives the files and folders of these packages their former times, or else the old one.
pub(super) fn settle(work: &Path, packages: &Packages, folders: &BTreeSet<&str>, times: &Times) -> io::Result<()> {
    let inside = folders.iter().flat_map(|package| packages.folders_in(package));
    for path in packages.files(folders).chain(inside) {
        let time = times.get(path).copied().unwrap_or(OLD);
        set(&work.join(path), time, time)?;
    }
    Ok(())
}

/// Sets the times of the last access and the last write.
pub(super) fn set(path: &Path, accessed: Time, modified: Time) -> io::Result<()> {
    let time = |(tv_sec, tv_nsec)| Timespec { tv_sec, tv_nsec };
    let times = Timestamps {
        last_access: time(accessed),
        last_modification: time(modified),
    };
    Ok(rustix::fs::utimensat(CWD, path, &times, AtFlags::SYMLINK_NOFOLLOW)?)
}

/// Returns the files whose times changed: commands wrote or removed them.
pub(super) fn disturbed(work: &Path, before: &Times) -> BTreeSet<String> {
    let is_disturbed = |(path, time): &(&String, &Time)| {
        let meta = fs::symlink_metadata(work.join(path));
        // A folder's time changes whenever something is added to it.
        let is_other = meta.map_or(true, |meta| !meta.is_dir() && modified(&meta) != **time);
        // Cargo may rewrite its lock file in a newer format, always in the same way.
        is_other && !path.ends_with(LOCK)
    };
    let disturbed = before.iter().filter(is_disturbed);
    disturbed.map(|(path, _)| path.clone()).collect()
}

/// Returns the time when this checkout was created, by the file system's clock.
pub(super) fn made(work: &Path) -> io::Result<Time> {
    fs::symlink_metadata(work.join(".git/HEAD")).map(|meta| modified(&meta))
}
