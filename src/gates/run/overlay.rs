//! Files of one commit put into a checkout of another, before anything runs there.

use crate::gates::{
    files,
    run::context::{GateError, host},
};
use git::{Blob, Mirror, RawChange, blocking};
use sha2::{Digest, Sha256};
use std::{io, path::Path};

/// The largest file that is put in place.
const MAX_FILE: u64 = 64 * 1024 * 1024;

/// The bytes of a file, its mode, and a name for these bytes: git's, or a digest of them.
type Content = (Vec<u8>, u32, String);

/// What is put where. An entry without content takes the file away.
pub(crate) struct Overlay {
    entries: Vec<(String, Option<Content>)>,
}

/// Which of the two versions of a changed file is put in place.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Before,
    After,
}

impl Overlay {
    /// These files as they are on one side of a change.
    pub(crate) async fn of(mirror: &Mirror, changes: &[&RawChange], side: Side) -> Result<Self, GateError> {
        let version = |change: &RawChange| match side {
            Side::Before => (change.old_mode, change.old_oid.clone()),
            Side::After => (change.new_mode, change.new_oid.clone()),
        };
        let versions: Vec<(u32, String)> = changes.iter().map(|change| version(change)).collect();
        let there = versions.iter().filter(|(mode, _)| *mode != 0);
        let oids: Vec<&str> = there.map(|(_, oid)| oid.as_str()).collect();
        let mut blobs = mirror.blobs(&oids, MAX_FILE).await?.into_iter();
        let mut entries = Vec::new();
        for (change, (mode, oid)) in changes.iter().zip(versions) {
            // A path that is not text cannot be named to a test runner either.
            let Some(path) = change.path.to_str().map(str::to_owned) else {
                continue;
            };
            match mode {
                0 => entries.push((path, None)),
                mode => {
                    if let Some(Blob::Bytes(bytes)) = blobs.next() {
                        entries.push((path, Some((bytes, mode, oid))));
                    }
                }
            }
        }
        // Taken away first: a file may have become a folder, or the other way round.
        entries.sort_by_key(|(_, content)| content.is_some());
        Ok(Self { entries })
    }

    /// These files, each with its bytes and mode.
    pub(crate) fn of_bytes(files: Vec<(String, Vec<u8>, u32)>) -> Self {
        let entries = files.into_iter().map(|(path, bytes, mode)| {
            let digest = format!("{:x}", Sha256::digest(&bytes));
            (path, Some((bytes, mode, digest)))
        });
        Self {
            entries: entries.collect(),
        }
    }

    /// The same without these files.
    pub(crate) fn without(mut self, paths: &[String]) -> Self {
        let gone = paths.iter().map(|path| (path.clone(), None));
        self.entries.splice(0..0, gone);
        self
    }

    /// These, and then those of `other`.
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.entries.extend(other.entries);
        self
    }

    /// Every path that it writes or takes away.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|(path, _)| path.as_str())
    }

    /// Every path with the mode and the name of what is put there; none: it is taken away.
    pub(crate) fn versions(&self) -> impl Iterator<Item = (&str, Option<(u32, &str)>)> {
        self.entries.iter().map(|(path, content)| {
            let version = content.as_ref().map(|(_, mode, name)| (*mode, name.as_str()));
            (path.as_str(), version)
        })
    }

    /// Every path with the bytes and the mode of what is put there.
    pub(crate) fn contents(&self) -> impl Iterator<Item = (&str, Option<(&[u8], u32)>)> {
        self.entries.iter().map(|(path, content)| {
            let content = content.as_ref().map(|(bytes, mode, _)| (bytes.as_slice(), *mode));
            (path.as_str(), content)
        })
    }

    /// Puts everything in its place.
    pub(crate) async fn lay(&self, work: &Path) -> Result<(), GateError> {
        let (root, entries) = (work.to_path_buf(), self.entries.clone());
        let laying = blocking(move || {
            for (path, content) in entries {
                let done = match content {
                    None => files::clear(&root, &path),
                    Some((bytes, mode, _)) => files::put(&root, &path, &bytes, mode),
                };
                done.map_err(|error| io::Error::other(format!("{path}: {error}")))?;
            }
            Ok(())
        });
        let laid = laying.await.unwrap_or_else(|error| Err(error.into()));
        laid.map_err(host("putting files of another commit in place"))
    }
}
