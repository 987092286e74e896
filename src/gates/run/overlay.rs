//! Puts files of one commit into a checkout of another, before anything runs there.

use crate::gates::run::{
    checkout::SandboxedCheckout,
    context::{GateError, blocking_io, host},
};
use domain::ids::Sha;
use git::{Blob, Mirror, RawChange, RepoPath, write_or_remove};
use sha2::{Digest, Sha256};
use std::{
    collections::BTreeSet,
    io,
    path::{Component, Path, PathBuf},
};

/// The largest file that is put in place, in bytes.
const MAX_FILE: u64 = 64 * 1024 * 1024;

/// The intended bytes and mode of a file; `None` if it should not exist.
pub(crate) type IntendedFile = Option<(Vec<u8>, u32)>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileToWrite {
    pub(crate) path: String,
    pub(crate) bytes: Vec<u8>,
    pub(crate) mode: u32,
}

#[derive(Clone)]
pub(crate) struct Overlay {
    entries: Vec<OverlayEntry>,
}

#[derive(Clone)]
struct OverlayEntry {
    path: String,
    meant: IntendedFile,
    /// An id for the bytes: git's object id or a digest.
    id: String,
}

/// Before or after the change.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Revision {
    Base,
    Head,
}

impl Overlay {
    pub(crate) async fn of(mirror: &Mirror, changes: &[&RawChange], revision: Revision) -> Result<Self, GateError> {
        let version = |change: &RawChange| match revision {
            Revision::Base => (change.old_mode, change.old_oid.clone()),
            Revision::Head => (change.new_mode, change.new_oid.clone()),
        };
        let versions: Vec<(u32, String)> = changes.iter().map(|change| version(change)).collect();
        let there = versions.iter().filter(|(mode, _)| *mode != 0);
        let oids: Vec<&str> = there.map(|(_, oid)| oid.as_str()).collect();
        let blobs = mirror.blobs(&oids, MAX_FILE).await?;
        let paths = changes.iter().map(|change| change.path.to_str());
        Ok(Self::of_blobs(paths.zip(versions), blobs))
    }

    /// Builds the overlay from paths with their modes and object ids, and the blobs of those whose mode is not 0.
    fn of_blobs<'a>(files: impl Iterator<Item = (Option<&'a str>, (u32, String))>, blobs: Vec<Blob>) -> Self {
        let mut blobs = blobs.into_iter();
        let mut entries = Vec::new();
        for (path, (mode, id)) in files {
            let meant = match (mode, (mode != 0).then(|| blobs.next()).flatten()) {
                (0, _) => None,
                (_, Some(Blob::Bytes(bytes))) => Some((bytes, mode)),
                (_, Some(Blob::Large(_) | Blob::None) | None) => continue,
            };
            // A test runner cannot be given a path that is not text either.
            if let Some(path) = path.map(str::to_owned) {
                entries.push(OverlayEntry { path, meant, id });
            }
        }
        // Deletions come first, since a file may have become a folder, or a folder a file.
        entries.sort_by_key(|entry| entry.meant.is_some());
        Self { entries }
    }

    pub(crate) fn of_bytes(files: Vec<FileToWrite>) -> Self {
        let entries = files.into_iter().map(|FileToWrite { path, bytes, mode }| OverlayEntry {
            path,
            id: format!("{:x}", Sha256::digest(&bytes)),
            meant: Some((bytes, mode)),
        });
        Self { entries: entries.collect() }
    }

    /// Appends the files of `other`, which replace those of the same path.
    pub(crate) fn and(mut self, other: Self) -> Self {
        let replaced: BTreeSet<&str> = other.paths().collect();
        self.entries.retain(|entry| !replaced.contains(entry.path.as_str()));
        self.entries.extend(other.entries);
        self
    }

    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| entry.path.as_str())
    }

    /// Returns every path with the mode and id of its content; `None` means that it is deleted.
    pub(crate) fn versions(&self) -> impl Iterator<Item = (&str, Option<(u32, &str)>)> {
        self.entries.iter().map(|entry| {
            let version = entry.meant.as_ref().map(|(_, mode)| (*mode, entry.id.as_str()));
            (entry.path.as_str(), version)
        })
    }

    pub(crate) fn contents(&self) -> impl Iterator<Item = (&str, &IntendedFile)> {
        self.entries.iter().map(|entry| (entry.path.as_str(), &entry.meant))
    }

    /// Writes and deletes the files in a checkout.
    pub(crate) async fn lay(&self, mirror: &Mirror, checkout: &SandboxedCheckout) -> Result<(), GateError> {
        let contents = self.contents().map(|(path, meant)| (PathBuf::from(path), meant.clone()));
        lay_files(checkout.path(), in_work_tree(mirror, checkout.head(), contents).await?).await
    }
}

/// Returns files with the bytes that they have in a work tree of the commit, deletions first, since a file may have
/// become a folder, or a folder a file.
pub(super) async fn in_work_tree(
    mirror: &Mirror,
    commit: &Sha,
    files: impl Iterator<Item = (PathBuf, IntendedFile)>,
) -> Result<Vec<(PathBuf, IntendedFile)>, GateError> {
    let (mut all, mut stored) = (Vec::new(), Vec::new());
    for (path, meant) in files {
        match meant {
            Some(content) => stored.push((RepoPath::new(path.as_os_str().as_encoded_bytes()), content)),
            None => all.push((path, None)),
        }
    }
    let files = mirror.in_work_tree(commit, stored).await?;
    let there = files.into_iter().map(|(path, content)| (path.as_path().to_path_buf(), Some(content)));
    all.extend(there);
    Ok(all)
}

pub(super) async fn lay_files(work: &Path, files: Vec<(PathBuf, IntendedFile)>) -> Result<(), GateError> {
    let root = work.to_path_buf();
    let laid = blocking_io(move || {
        for (path, meant) in files {
            let done = if is_inside(&path) {
                write_or_remove(&root, &path, meant.as_ref())
            } else {
                Err(io::Error::other("it is not a path inside the repository"))
            };
            done.map_err(|error| io::Error::other(format!("{}: {error}", path.display())))?;
        }
        Ok(())
    });
    laid.await.map_err(host("putting files of another commit in place"))
}

/// `true` if a path stays below its root.
fn is_inside(path: &Path) -> bool {
    let mut parts = path.components().peekable();
    parts.peek().is_some() && parts.all(|part| matches!(part, Component::Normal(_)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs, os::unix::fs::symlink};

    fn file(path: &str, text: &str, mode: u32) -> FileToWrite {
        FileToWrite { path: path.to_owned(), bytes: text.as_bytes().to_vec(), mode }
    }

    #[tokio::test]
    async fn files_are_laid_inside_whatever_stands_in_their_place() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("work");
        fs::create_dir_all(root.join("data/more")).unwrap();
        fs::write(root.join("data/more/a"), "a").unwrap();
        fs::write(folder.path().join("kept"), "k").unwrap();
        symlink("..", root.join("up")).unwrap();
        symlink("../kept", root.join("link")).unwrap();
        let files = vec![
            file("data", "elsewhere", 0o120_000),
            file("up/kept", "new", 0o100_644),
            file("link", "new", 0o100_755),
            file("a/b/c", "link", 0o120_000),
        ];
        let overlay = Overlay::of_bytes(files);
        let laid = |overlay: &Overlay| overlay.contents().map(|(path, meant)| (path.into(), meant.clone())).collect();
        lay_files(&root, laid(&overlay)).await.unwrap();
        assert!(fs::symlink_metadata(root.join("data")).unwrap().is_symlink());
        assert_eq!(fs::read(folder.path().join("kept")).unwrap(), b"k");
        assert_eq!(fs::read(root.join("up/kept")).unwrap(), b"new");
        assert_eq!(fs::read(root.join("link")).unwrap(), b"new");
        assert!(fs::symlink_metadata(root.join("a/b/c")).unwrap().is_symlink());
        let outside = Overlay::of_bytes(vec![file("../kept", "new", 0o100_644)]);
        assert!(lay_files(&root, laid(&outside)).await.is_err());
    }

    #[test]
    fn a_path_that_is_not_text_takes_its_content_along() {
        let mode = 0o100_644;
        let files =
            [(None, (mode, "x".to_owned())), (Some("gone"), (0, "0".to_owned())), (Some("a"), (mode, "y".to_owned()))];
        let blobs = vec![Blob::Bytes(b"x".to_vec()), Blob::Bytes(b"y".to_vec())];
        let overlay = Overlay::of_blobs(files.into_iter(), blobs);
        let found: Vec<_> = overlay.contents().collect();
        assert_eq!(found, [("gone", &None), ("a", &Some((b"y".to_vec(), mode)))]);
    }
}
