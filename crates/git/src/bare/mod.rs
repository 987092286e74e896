//! Bare repositories that a forge serves: refs, merges, diffs, imports, and git's own HTTP back end.
//!
//! Every process runs with a minimal environment, ignores the configuration of the machine and its users, runs no hooks
//! except those from a given folder, and never prompts. It never touches a work tree and never writes to a repository
//! that it imports from.

mod diff;
mod http;
mod merge;
mod process;
mod refs;
mod tree;
mod write;

pub use diff::{ChangeKind, Comparison, FileChange};
pub use domain::links::destination;
pub use http::{BackendRequest, ServedProcess};
pub use merge::BareMerge;
pub use process::BareError;
pub use refs::{CommitRecord, ExpectedRef};
pub use tree::TreeEntry;
pub use write::{Ident, NewCommit};

use std::path::{Path, PathBuf};

/// One bare repository on disk.
#[derive(Clone, Debug)]
pub struct BareRepo {
    dir: PathBuf,
}

impl BareRepo {
    /// Names the repository at `dir`, which may not exist yet.
    pub fn at(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into() }
    }

    /// Returns the repository's folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }
}

#[cfg(test)]
mod tests;
