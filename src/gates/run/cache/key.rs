//! The key of a cache: the repository, its lock files, the commands, the path where they ran, and the commit.

use crate::gates::{commands, commands::Chosen, run::context::GateError};
use domain::ids::Sha;
use git::Mirror;
use sha2::{Digest, Sha256};
use std::{
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

/// Files that pin the packages used.
pub(super) const LOCKS: [&str; 16] = [
    "Cargo.lock",
    "package-lock.json",
    "npm-shrinkwrap.json",
    "pnpm-lock.yaml",
    "yarn.lock",
    "bun.lock",
    "uv.lock",
    "poetry.lock",
    "Pipfile.lock",
    "pdm.lock",
    "requirements.txt",
    "requirements-dev.txt",
    "go.sum",
    "Gemfile.lock",
    "composer.lock",
    "gradle.lockfile",
];

/// The most lock files that are read, and the largest size of one in bytes.
const MOST_LOCKS: usize = 50;
const MAX_LOCK: usize = 16 * 1024 * 1024;

/// The part of the key that all entries of a folder share.
pub(super) struct Key {
    repository: String,
    locks: String,
}

impl Key {
    /// Computes the key of a commit for these commands, which see the checkout at the path `seen`.
    pub(super) async fn of(mirror: &Mirror, commit: &Sha, chosen: &Chosen, seen: &Path) -> Result<Self, GateError> {
        let mut hash = Sha256::new();
        let commands = [&chosen.setup, &chosen.test];
        for command in commands {
            hash.update(command.as_ref().map_or("", |command| command.text()));
            hash.update([0]);
        }
        // Build results contain the path where they were built.
        hash.update(seen.as_os_str().as_encoded_bytes());
        hash.update([0]);
        let paths = commands::paths(mirror, commit).await?;
        let is_lock = |path: &&String| LOCKS.contains(&path.rsplit('/').next().unwrap_or(path));
        for path in paths.iter().filter(is_lock).take(MOST_LOCKS) {
            let content = mirror.read_file(commit, path, MAX_LOCK).await?;
            hash.update(path);
            hash.update([0]);
            hash.update(Sha256::digest(content.map(|content| content.bytes).unwrap_or_default()));
        }
        let hex = |bytes: &[u8]| bytes.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        Ok(Self {
            repository: hex(&Sha256::digest(mirror.dir().as_os_str().as_encoded_bytes())),
            locks: hex(&hash.finalize()),
        })
    }

    /// Returns the folder of the repository's entries with these lock files.
    pub(super) fn folder(&self, caches: &Path) -> PathBuf {
        caches.join(&self.repository).join(&self.locks)
    }

    /// Returns the folder of a commit's entry.
    pub(super) fn entry(&self, caches: &Path, commit: &Sha) -> PathBuf {
        self.folder(caches).join(commit.as_str())
    }

    /// Returns the entry to start from: the commit's own, else the newest.
    pub(super) fn find(&self, caches: &Path, commit: &Sha) -> Option<PathBuf> {
        let own = self.entry(caches, commit);
        if own.is_dir() {
            return Some(own);
        }
        let entries = std::fs::read_dir(self.folder(caches)).ok()?.flatten();
        let is_entry = |name: &std::ffi::OsStr| name.to_str().is_some_and(|name| name.parse::<Sha>().is_ok());
        entries
            .filter(|entry| is_entry(&entry.file_name()))
            .max_by_key(|entry| {
                entry
                    .metadata()
                    .map_or((0, 0), |meta| (meta.mtime(), meta.mtime_nsec()))
            })
            .map(|entry| entry.path())
    }
}
