//! The key of a cache: the repository, its lock files, the commands, the path where they ran, and the commit.

use crate::gates::{commands, commands::CommandChoice, run::context::GateError};
use domain::ids::Sha;
use git::Mirror;
use sha2::{Digest, Sha256};
use std::{
    fs,
    path::{Path, PathBuf},
};
use text::hex;

/// Files that pin the packages used.
pub(super) const LOCKS: [&str; 19] = [
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
    "mix.lock",
    "packages.lock.json",
    "deno.lock",
];

/// The most lock files that are read, and the largest size of one in bytes.
const MOST_LOCKS: usize = 50;
const MAX_LOCK: usize = 16 * 1024 * 1024;

/// The folder of a repository's entries with the same lock files and commands.
pub(super) struct CacheKey {
    folder: PathBuf,
}

/// Returns the folder of all caches of the repository with this mirror.
pub(super) fn folder_of(caches: &Path, mirror: &Path) -> PathBuf {
    caches.join(name(&Sha256::digest(mirror.as_os_str().as_encoded_bytes())))
}

/// Returns the name of a folder for a hash.
fn name(hash: &[u8]) -> String {
    hex::encode(hash.iter().take(16))
}

impl CacheKey {
    /// Computes the key of a commit for these commands, which see the checkout at the path `seen`.
    pub(super) async fn of(
        caches: &Path,
        mirror: &Mirror,
        commit: &Sha,
        chosen: &CommandChoice,
        seen: &Path,
    ) -> Result<Self, GateError> {
        let mut hash = Sha256::new();
        for command in [&chosen.setup, &chosen.test] {
            hash.update(command.as_ref().map_or("", |command| command.text()));
            hash.update([0]);
        }
        // Build results contain the path where they were built.
        hash.update(seen.as_os_str().as_encoded_bytes());
        hash.update([0]);
        let paths = commands::paths(mirror, commit).await?;
        let is_lock = |path: &&String| {
            LOCKS.contains(&path.rsplit('/').next().unwrap_or(path))
                || path.ends_with(".txt") && path.contains("requirement")
        };
        for path in paths.iter().filter(is_lock).take(MOST_LOCKS) {
            let content = mirror.read_file(commit, path, MAX_LOCK).await?;
            hash.update(path);
            hash.update([0]);
            hash.update(Sha256::digest(content.map(|content| content.bytes).unwrap_or_default()));
        }
        let folder = folder_of(caches, mirror.dir()).join(name(&hash.finalize()));
        Ok(Self { folder })
    }

    pub(super) fn entry(&self, commit: &Sha) -> PathBuf {
        self.folder.join(commit.as_str())
    }

    /// Returns the entry to start from: the commit's own, else the newest.
    pub(super) fn find(&self, commit: &Sha) -> Option<PathBuf> {
        let own = self.entry(commit);
        if own.is_dir() {
            return Some(own);
        }
        let all = fs::read_dir(&self.folder).ok()?.flatten();
        let entries = all.map(|entry| entry.path()).filter(|path| filled_on(path).is_some());
        entries.max_by_key(|path| fs::metadata(path).and_then(|meta| meta.modified()).ok())
    }
}

/// Returns the commit on which an entry was filled; `None` if it is incomplete.
pub(super) fn filled_on(entry: &Path) -> Option<Sha> {
    entry.file_name()?.to_str()?.parse().ok()
}
