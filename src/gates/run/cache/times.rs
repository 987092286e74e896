//! Times of a checkout's files: those of packages that are as they were look as old as they are.

use crate::gates::cache::packages::Packages;
use rustix::fs::{AtFlags, CWD, Timespec, Timestamps};
use std::{collections::BTreeSet, fs, io, os::unix::fs::MetadataExt, path::Path};

/// The one time that every unchanged file has, where a cache is filled and where it is used: before any cache, and after
/// the first that archives can name.
const OLD: i64 = 1_000_000_000;

/// Cargo's own list of packages, which it compares by what it says.
const LOCK: &str = "Cargo.lock";

/// Gives the files and folders of these packages the old time.
pub(super) fn settle(work: &Path, packages: &Packages, folders: &BTreeSet<&str>) -> io::Result<()> {
    for path in packages.files(folders) {
        make_old(&work.join(path))?;
    }
    for package in folders {
        for folder in packages.folders_in(package) {
            make_old(&work.join(folder))?;
        }
    }
    Ok(())
}

fn make_old(path: &Path) -> io::Result<()> {
    let old = Timespec {
        tv_sec: OLD,
        tv_nsec: 0,
    };
    let times = Timestamps {
        last_access: old,
        last_modification: old,
    };
    Ok(rustix::fs::utimensat(CWD, path, &times, AtFlags::SYMLINK_NOFOLLOW)?)
}

/// Files of a settled checkout that are not as they were settled: commands wrote or removed them.
pub(super) fn disturbed(work: &Path, packages: &Packages) -> BTreeSet<String> {
    let folders = packages.folders();
    let is_disturbed = |path: &&str| {
        // Cargo writes it again in a newer form, there as here.
        if path.ends_with(LOCK) {
            return false;
        }
        let meta = fs::symlink_metadata(work.join(path));
        meta.map_or(true, |meta| (meta.mtime(), meta.mtime_nsec()) != (OLD, 0))
    };
    packages
        .files(&folders)
        .filter(is_disturbed)
        .map(str::to_owned)
        .collect()
}

/// When the file system made this checkout, by its own clock.
pub(super) fn made(work: &Path) -> io::Result<(i64, i64)> {
    let meta = fs::symlink_metadata(work.join(".git/HEAD"))?;
    Ok((meta.mtime(), meta.mtime_nsec()))
}
