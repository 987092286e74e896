//! How many caches there may be: the oldest go.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::path::PathBuf;

/// The most entries of all repositories together.
const MOST_ENTRIES: usize = 24;

/// Takes entries away until there is room, the longest unused first; never the one just made.
pub(super) fn make(caches: &Path, newest: &Path) {
    let mut entries = entries(caches);
    entries.retain(|(_, path)| path != newest);
    entries.sort();
    let too_many = entries.len().saturating_add(1).saturating_sub(MOST_ENTRIES);
    for (_, entry) in entries.iter().take(too_many) {
        remove(entry);
    }
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
