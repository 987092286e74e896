//! Bare repositories that a forge serves: refs, merges, diffs, imports, and git's own HTTP back end.
//!
//! Every process runs with an empty environment, no configuration of the machine or its users, no hooks but those given
//! by path, and never asks anything. It never touches a work tree and never writes to a repository it imports from.

mod diff;
mod http;
mod merge;
mod process;
mod refs;
mod write;

pub use diff::{ChangeKind, Comparison, FileChange};
pub use http::{BackendRequest, ServedProcess};
pub use merge::{Merged, Replayed};
pub use process::BareError;
pub use refs::CommitFacts;
pub use write::{Ident, NewCommit};

use std::path::{Path, PathBuf};

/// One bare repository on disk.
#[derive(Clone, Debug)]
pub struct BareRepo {
    dir: PathBuf,
}

impl BareRepo {
    /// Names the repository at `dir`, which may not exist yet.
    #[must_use]
    pub fn at(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into() }
    }

    /// Where the repository lies.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }
}

#[cfg(test)]
mod tests;
