//! What is looked at: the files of one task's change, before and after.

use domain::{plan::PlannedTask, secret::Secrets};
use std::collections::BTreeSet;

/// One task's change, as far as integrity looks at it.
pub struct Change<'a> {
    /// Every file that differs, renames not looked for.
    pub files: &'a [FileChange],
    /// All paths of the fork.
    pub base: &'a BTreeSet<String>,
    /// All paths of the head.
    pub head: &'a BTreeSet<String>,
    /// The task that the change is for.
    pub task: &'a PlannedTask,
    /// Patterns of paths that no Player may change, as in a `.gitignore`.
    pub protected: &'a [String],
    /// Secrets that the service itself holds.
    pub known_secrets: &'a Secrets,
    /// Files that the settings name as written by the test run: its report, its coverage.
    pub results: &'a [String],
    /// The largest file that a change may bring.
    pub max_file_bytes: u64,
}

/// One file of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// Its path, relative to the root.
    pub path: String,
    /// What it was.
    pub before: Version,
    /// What it is.
    pub after: Version,
}

/// What a file is at one of the two commits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Version {
    /// There is none.
    Absent,
    /// These bytes.
    Bytes(Vec<u8>),
    /// Too large to be looked at, or no regular file: only its size is known.
    Unread(u64),
}

impl Version {
    /// Its bytes, if it is there and was read.
    #[must_use]
    pub fn bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            Self::Absent | Self::Unread(_) => None,
        }
    }

    /// Its size; nothing has none.
    #[must_use]
    pub fn size(&self) -> u64 {
        match self {
            Self::Absent => 0,
            Self::Bytes(bytes) => u64::try_from(bytes.len()).unwrap_or(u64::MAX),
            Self::Unread(size) => *size,
        }
    }
}
