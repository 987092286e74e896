//! How many caches there may be, and how large all of them together: the longest unused go.

use crate::gates::run::cache::{copy::MOST_BYTES, notes::Notes};
use std::{
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

/// The most entries of all repositories together.
const MOST_ENTRIES: usize = 24;

/// The most bytes of all of them: five of the largest.
const MOST_BYTES_OF_ALL: u64 = 5 * MOST_BYTES;

/// Takes entries away until there is room, the longest unused first; never the one just made.
pub(super) fn make(caches: &Path, newest: &Path) {
    make_within(caches, newest, MOST_ENTRIES, MOST_BYTES_OF_ALL);
}

fn make_within(caches: &Path, newest: &Path, most: usize, most_bytes: u64) {
    let mut entries = entries(caches);
    entries.retain(|(_, path)| path != newest);
    entries.sort_by(|one, other| other.cmp(one));
    let (mut number, mut bytes) = (1_usize, size(newest));
    for (_, entry) in entries {
        bytes = bytes.saturating_add(size(&entry));
        if number >= most || bytes > most_bytes {
            // What is older goes too, however small it is.
            bytes = u64::MAX;
            remove(&entry);
        }
        number = number.saturating_add(1);
    }
}

/// How large an entry is; one that does not say is as large as one may be.
fn size(entry: &Path) -> u64 {
    Notes::read(entry).map_or(MOST_BYTES, |notes| notes.bytes)
}

/// Notes that an entry was used.
pub(super) fn touch(entry: &Path) {
    let _ = fs::write(entry.join("used"), b"");
}

/// Moves an entry away before it is deleted, so that nobody finds half of it.
fn remove(entry: &Path) {
    let gone = entry.with_extension("gone");
    if fs::rename(entry, &gone).is_ok()
        && let Err(error) = fs::remove_dir_all(&gone)
    {
        tracing::warn!(%error, "an old build cache could not be removed");
    }
}

/// Every entry with the time of its last use.
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

    /// Entries of this many bytes, the first the longest unused.
    fn caches(sizes: &[u64]) -> (tempfile::TempDir, Vec<PathBuf>) {
        let dir = tempfile::tempdir().unwrap();
        let make = |(at, bytes): (usize, &u64)| {
            let entry = dir.path().join(format!("repository/locks-{at}/commit"));
            fs::create_dir_all(&entry).unwrap();
            let notes = Notes {
                bytes: *bytes,
                ..Notes::default()
            };
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

    fn left(sizes: &[u64], most: usize, most_bytes: u64) -> Vec<bool> {
        let (dir, entries) = caches(sizes);
        make_within(dir.path(), entries.last().unwrap(), most, most_bytes);
        entries.iter().map(|entry| entry.exists()).collect()
    }

    #[test]
    fn the_longest_unused_go_until_number_and_bytes_fit() {
        assert_eq!(left(&[1, 1, 1], 2, 100), [false, true, true]);
        assert_eq!(left(&[40, 40, 40], 9, 100), [false, true, true]);
        assert_eq!(left(&[1, 90, 40], 9, 100), [false, false, true]);
        assert_eq!(left(&[40, 40, 400], 9, 100), [false, false, true]);
        assert_eq!(left(&[40, 40], 9, 100), [true, true]);
    }
}
