//! Times of a checkout's files: those of packages that are as they were look as old as they are.

use crate::gates::run::cache::packages::Packages;
use rustix::fs::{AtFlags, CWD, Timespec, Timestamps};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    os::unix::fs::MetadataExt,
    path::Path,
};

/// When files and folders were written, by their paths: seconds and nanoseconds.
pub(crate) type Times = BTreeMap<String, (i64, i64)>;

/// The one time that every unchanged file has, where a cache is filled and where it is used: before any cache, and after
/// the first that archives can name.
pub(super) const OLD: (i64, i64) = (1_000_000_000, 0);

/// Cargo's own list of packages, which it compares by what it says.
const LOCK: &str = "Cargo.lock";

/// The files and folders of these packages with their times.
pub(super) fn of(work: &Path, packages: &Packages) -> Times {
    let folders = packages.folders();
    let time = |path: &str| {
        let meta = fs::symlink_metadata(work.join(path)).ok()?;
        Some((path.to_owned(), (meta.mtime(), meta.mtime_nsec())))
    };
    let inside = folders.iter().flat_map(|package| packages.folders_in(package));
    packages.files(&folders).chain(inside).filter_map(time).collect()
}

/// Gives the files and folders of these packages the times that they had, or the old one.
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

/// Files that do not have the times any more that they had before: commands wrote or removed them.
pub(super) fn disturbed(work: &Path, before: &Times) -> BTreeSet<String> {
    let is_disturbed = |(path, time): &(&String, &(i64, i64))| {
        // Cargo writes it again in a newer form, there as here.
        if path.ends_with(LOCK) {
            return false;
        }
        let meta = fs::symlink_metadata(work.join(path));
        // A folder is written whenever something is put into it.
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

/// When the file system made this checkout, by its own clock.
pub(super) fn made(work: &Path) -> io::Result<(i64, i64)> {
    let meta = fs::symlink_metadata(work.join(".git/HEAD"))?;
    Ok((meta.mtime(), meta.mtime_nsec()))
}
