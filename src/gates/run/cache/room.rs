//! Limits the number and total size of the caches: the least recently used are removed first.

use crate::gates::run::cache::{
    Notes,
    copy::MOST_BYTES,
    key::{filled_on, folder_of},
};
use std::{
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

/// The most entries of all repositories together.
const MOST_ENTRIES: usize = 24;

/// The most bytes of all entries together: five of the largest size.
const MOST_BYTES_OF_ALL: u64 = 5 * MOST_BYTES;

/// The age, in seconds, after which an incomplete entry counts as abandoned.
const LEFT: i64 = 24 * 60 * 60;

/// Removes the least recently used entries until there is room, but never the one just made.
pub(super) fn make(caches: &Path, newest: &Path) {
    make_within(caches, newest, MOST_ENTRIES, MOST_BYTES_OF_ALL);
}

/// Removes the entries that nobody used since `before`, in seconds since the epoch.
pub fn forget_unused_caches(caches: &Path, before: i64) {
    for ((used, _), entry) in entries(caches) {
        if used < before {
            remove(&entry);
        }
    }
}

/// Removes everything that was built of the repository with this mirror.
pub fn forget_caches_of(caches: &Path, mirror: &Path) {
    let folder = folder_of(caches, mirror);
    if folder.exists() {
        remove(&folder);
    }
}

fn make_within(caches: &Path, newest: &Path, most: usize, most_bytes: u64) {
    let mut entries = entries(caches);
    sweep(&mut entries, newest);
    entries.retain(|(_, path)| path != newest);
    entries.sort_by(|one, other| other.cmp(one));
    let (mut number, mut bytes) = (1_usize, size(newest));
    for (_, entry) in entries {
        bytes = bytes.saturating_add(size(&entry));
        if number >= most || bytes > most_bytes {
            // Every older entry is removed too, even a small one.
            bytes = u64::MAX;
            remove(&entry);
        }
        number = number.saturating_add(1);
    }
}

/// Removes incomplete entries that were abandoned long before the newest entry was made. Younger ones may still be in
/// progress.
fn sweep(entries: &mut Vec<((i64, i64), PathBuf)>, newest: &Path) {
    let now = entries.iter().find(|(_, path)| path == newest).map(|(now, _)| now.0);
    entries.retain(|((used, _), path)| {
        let is_whole = filled_on(path).is_some();
        if !is_whole && now.is_some_and(|now| now.saturating_sub(*used) > LEFT) {
            remove(path);
        }
        is_whole
    });
}

/// Returns an entry's size; without notes, the largest possible size.
fn size(entry: &Path) -> u64 {
    Notes::read(entry).map_or(MOST_BYTES, |notes| notes.bytes)
}

pub(super) fn touch(entry: &Path) {
    let _ = fs::write(entry.join("used"), b"");
}

/// Renames an entry before deleting it, so that nobody uses a half-deleted one.
fn remove(entry: &Path) {
    let gone = entry.with_extension("gone");
    if fs::rename(entry, &gone).is_ok()
        && let Err(error) = fs::remove_dir_all(&gone)
    {
        tracing::warn!(%error, "an old build cache could not be removed");
    }
}

/// Returns every entry with the time of its last use.
fn entries(caches: &Path) -> Vec<((i64, i64), PathBuf)> {
    let folders = |path: &Path| -> Vec<PathBuf> {
        let read = fs::read_dir(path).into_iter().flatten().flatten();
        read.map(|entry| entry.path()).filter(|path| path.is_dir()).collect()
    };
    let locks = folders(caches).into_iter().flat_map(|repository| folders(&repository));
    let all = locks.flat_map(|locks| folders(&locks));
    all.map(|entry| {
        let used = fs::metadata(entry.join("used")).or_else(|_| fs::metadata(&entry));
        (used.map_or((0, 0), |meta| (meta.mtime(), meta.mtime_nsec())), entry)
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gates::run::cache::put_in;

    /// Creates entries of these sizes in bytes, the least recently used first.
    fn caches(sizes: &[u64]) -> (tempfile::TempDir, Vec<PathBuf>) {
        let dir = tempfile::tempdir().unwrap();
        let make = |(at, bytes): (usize, &u64)| {
            let entry = dir.path().join(format!("repository/locks-{at}/{at:040x}"));
            fs::create_dir_all(&entry).unwrap();
            let notes = Notes { bytes: *bytes, ..Notes::default() };
            notes.write(&entry).unwrap();
            touch(&entry);
            let used = std::time::UNIX_EPOCH + std::time::Duration::from_secs(u64::try_from(at).unwrap());
            let file = fs::File::options().write(true).open(entry.join("used")).unwrap();
            file.set_modified(used).unwrap();
            entry
        };
        let entries = sizes.iter().enumerate().map(make).collect();
        (dir, entries)
    }

    fn list_kept(sizes: &[u64], most: usize, most_bytes: u64) -> Vec<bool> {
        let (dir, entries) = caches(sizes);
        make_within(dir.path(), entries.last().unwrap(), most, most_bytes);
        entries.iter().map(|entry| entry.exists()).collect()
    }

    #[test]
    fn the_longest_unused_go_until_number_and_bytes_fit() {
        assert_eq!(list_kept(&[1, 1, 1], 2, 100), [false, true, true]);
        assert_eq!(list_kept(&[40, 40, 40], 9, 100), [false, true, true]);
        assert_eq!(list_kept(&[1, 90, 40], 9, 100), [false, false, true]);
        assert_eq!(list_kept(&[40, 40, 400], 9, 100), [false, false, true]);
        assert_eq!(list_kept(&[40, 40], 9, 100), [true, true]);
    }

    #[test]
    fn what_nobody_used_for_long_goes() {
        let (dir, entries) = caches(&[1, 1, 1]);
        forget_unused_caches(dir.path(), 1);
        assert_eq!(entries.iter().map(|entry| entry.exists()).collect::<Vec<_>>(), [false, true, true]);
    }

    #[test]
    fn what_is_half_made_is_no_entry_and_goes_after_a_day() {
        let (dir, entries) = caches(&[1, 1]);
        let half = |name: &str, seconds: u64| {
            let path = dir.path().join("repository/locks-0").join(name);
            fs::create_dir_all(&path).unwrap();
            let made = std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
            fs::File::open(&path).unwrap().set_modified(made).unwrap();
            path
        };
        let (old, new) = (half(".making-a", 1), half(".making-b", 200_000));
        let used = fs::File::options().write(true).open(entries[1].join("used")).unwrap();
        used.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(200_001)).unwrap();
        make_within(dir.path(), &entries[1], 2, 100);
        assert_eq!([&entries[0], &entries[1], &old, &new].map(|path| path.exists()), [true, true, false, true]);
    }

    #[test]
    fn using_an_entry_does_not_make_it_newer() {
        let dir = tempfile::tempdir().unwrap();
        let [work, home, folder] = ["work", "home", "entries"].map(|name| dir.path().join(name));
        fs::create_dir_all(&work).unwrap();
        fs::create_dir_all(&home).unwrap();
        let entry = folder.join("a".repeat(40));
        put_in(&entry, &work, &home, &[], Notes::default()).unwrap();
        let made = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1);
        fs::File::open(&entry).unwrap().set_modified(made).unwrap();
        touch(&entry);
        assert_eq!(fs::metadata(&entry).unwrap().modified().unwrap(), made);
    }
}
