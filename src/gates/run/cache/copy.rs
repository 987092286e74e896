//! Copies folders: shares blocks if the file system can, keeps times, and follows no link.

use crate::gates::run::cache::times;
use std::{
    fs,
    fs::{File, Metadata, OpenOptions},
    io,
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::Path,
};

/// The most files, and bytes, of one copy.
const MOST_FILES: u64 = 400_000;
pub(super) const MOST_BYTES: u64 = 8 * 1024 * 1024 * 1024;

/// The deepest level of folders.
pub(super) const DEEPEST: usize = 120;

/// A running copy, which counts the copied files.
#[derive(Debug, Default)]
pub(super) struct Copier {
    files: u64,
    pub(super) bytes: u64,
    /// The latest modification time of a copied file.
    pub(super) newest: times::Time,
    /// `true` once this file system refused to share blocks between files.
    refuses_sharing: bool,
}

impl Copier {
    /// Copies the file or folder at `from` to `to`, which does not exist.
    pub(super) fn copy(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        self.entry(from, to, 0)
    }

    /// Copies the content of a folder into another; existing files there stay as they are.
    pub(super) fn merge(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        self.inside(from, to, 0)
    }

    fn inside(&mut self, from: &Path, to: &Path, depth: usize) -> io::Result<()> {
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            self.entry(&entry.path(), &to.join(entry.file_name()), depth.saturating_add(1))?;
        }
        Ok(())
    }

    fn entry(&mut self, from: &Path, to: &Path, depth: usize) -> io::Result<()> {
        let meta = fs::symlink_metadata(from)?;
        self.files = self.files.saturating_add(1);
        if self.files > MOST_FILES || depth > DEEPEST {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let kind = meta.file_type();
        let there = fs::symlink_metadata(to).ok();
        if kind.is_dir() {
            match there {
                // A link in place of the folder would lead the copy elsewhere.
                Some(there) if !there.is_dir() => return Ok(()),
                Some(_) => {}
                None => fs::create_dir(to)?,
            }
            self.inside(from, to, depth)?;
            return keep_times(&meta, to);
        }
        if there.is_some() {
            return Ok(());
        }
        if kind.is_symlink() {
            // Links are copied and never followed. A virtual environment, for example, links to the system's Python.
            return std::os::unix::fs::symlink(fs::read_link(from)?, to);
        }
        if kind.is_file() {
            return self.file(from, to, &meta);
        }
        // Sockets, fifos and devices are not worth caching.
        Ok(())
    }

    fn file(&mut self, from: &Path, to: &Path, meta: &Metadata) -> io::Result<()> {
        self.bytes = self.bytes.saturating_add(meta.len());
        if self.bytes > MOST_BYTES {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.newest = self.newest.max(times::modified(meta));
        let nofollow = i32::try_from(rustix::fs::OFlags::NOFOLLOW.bits()).unwrap_or(0);
        let mut source = OpenOptions::new().read(true).custom_flags(nofollow).open(from)?;
        let rights = meta.mode() & 0o777 | 0o600;
        let mut target = OpenOptions::new().write(true).create_new(true).mode(rights).open(to)?;
        if !self.share(&source, &target) {
            io::copy(&mut source, &mut target)?;
        }
        drop(target);
        keep_times(meta, to)
    }

    /// Makes both files share blocks until one of them is written. Returns `false` if that is impossible.
    fn share(&mut self, source: &File, target: &File) -> bool {
        self.refuses_sharing = self.refuses_sharing || rustix::fs::ioctl_ficlone(target, source).is_err();
        !self.refuses_sharing
    }
}

/// Copies the times, because build tools use them to find outdated files.
fn keep_times(meta: &Metadata, to: &Path) -> io::Result<()> {
    times::set(to, (meta.atime(), meta.atime_nsec()), times::modified(meta))
}

#[cfg(test)]
mod tests {
    use super::{Copier, times};
    use std::{
        fs,
        os::unix::fs::{MetadataExt, symlink},
    };

    #[test]
    fn a_copy_keeps_times_and_follows_no_link() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        fs::create_dir_all(from.join("a/b")).unwrap();
        fs::write(folder.path().join("secret"), "s").unwrap();
        fs::write(from.join("a/b/file"), "text").unwrap();
        times::set(&from.join("a/b/file"), (1_000, 0), (1_000, 0)).unwrap();
        symlink("b/file", from.join("a/inside")).unwrap();
        symlink(folder.path().join("secret"), from.join("a/outside")).unwrap();
        Copier::default().copy(&from, &to).unwrap();
        assert_eq!(fs::read(to.join("a/inside")).unwrap(), b"text");
        assert_eq!(fs::metadata(to.join("a/b/file")).unwrap().mtime(), 1_000);
        assert!(fs::symlink_metadata(to.join("a/outside")).unwrap().is_symlink());
    }

    #[test]
    fn what_stands_there_stays_and_leads_nothing_astray() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        let elsewhere = folder.path().join("elsewhere");
        for dir in [&from.join("kept"), &from.join("led"), &to.join("kept"), &elsewhere] {
            fs::create_dir_all(dir).unwrap();
        }
        fs::write(from.join("kept/file"), "cache").unwrap();
        fs::write(from.join("kept/more"), "cache").unwrap();
        fs::write(from.join("led/file"), "cache").unwrap();
        fs::write(to.join("kept/file"), "commit").unwrap();
        symlink(&elsewhere, to.join("led")).unwrap();
        Copier::default().merge(&from, &to).unwrap();
        assert_eq!(fs::read(to.join("kept/file")).unwrap(), b"commit");
        assert_eq!(fs::read(to.join("kept/more")).unwrap(), b"cache");
        assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
    }
}
