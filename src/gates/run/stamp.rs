//! Detects changes of files by metadata that no program can set.

use std::{fs::Metadata, io, os::unix::fs::MetadataExt, path::Path, time::Duration};

/// A file's metadata. Two equal stamps of a file mean that it was not written in between; of a folder, only that it is
/// the same folder.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    inode: (u64, u64),
    mode: u32,
    /// The size, the number of links, and the time of the last change; `None` for a folder.
    written: Option<(u64, u64, i64, i64)>,
}

impl Stamp {
    pub(super) fn of(meta: &Metadata) -> Self {
        let written = (meta.size(), meta.nlink(), meta.ctime(), meta.ctime_nsec());
        Self { inode: (meta.dev(), meta.ino()), mode: meta.mode(), written: (!meta.is_dir()).then_some(written) }
    }

    pub(super) fn is_of_folder(&self) -> bool {
        self.written.is_none()
    }
}

/// Waits until a file written in `folder` is newer than all these, so that every later write changes a stamp.
pub(super) fn outlive<'a>(stamps: impl Iterator<Item = &'a Stamp>, folder: &Path) -> io::Result<()> {
    let written = stamps.filter_map(|stamp| stamp.written);
    let latest = written.map(|(_, _, seconds, nanos)| (seconds, nanos)).max();
    for _ in 0..100 {
        let meta = tempfile::tempfile_in(folder)?.metadata()?;
        if latest.is_none_or(|latest| (meta.ctime(), meta.ctime_nsec()) > latest) {
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}
