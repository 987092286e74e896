//! The input of the rules: the files of one task's change, before and after.

use domain::{plan::PlannedTask, protected_paths::ProtectedPaths};
use std::collections::BTreeSet;
use text::secret::Secrets;

pub struct Change<'a> {
    /// Every file that differs; a rename is a deletion and an addition.
    pub files: &'a [FileChange],
    /// All paths of the commit from which the work started.
    pub base: &'a BTreeSet<String>,
    /// All paths of the change's commit.
    pub head: &'a BTreeSet<String>,
    pub task: &'a PlannedTask,
    pub protected: &'a ProtectedPaths,
    pub known_secrets: &'a Secrets,
    /// The files that the settings name as output of the test run: the report and the coverage file.
    pub results: &'a [String],
    /// The largest file that a change may add, in bytes.
    pub max_file_bytes: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// Its path, relative to the root.
    pub path: String,
    pub before: FileContent,
    pub after: FileContent,
}

/// The content of a file at one of the two commits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileContent {
    /// The file does not exist.
    Absent,
    /// The file's bytes.
    Bytes(Vec<u8>),
    /// The file is too large to be read, or is not a regular file: only its size is known.
    Unread(u64),
}

impl FileContent {
    /// Returns the bytes if the file exists and was read.
    pub fn bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            Self::Absent | Self::Unread(_) => None,
        }
    }

    /// Returns the size in bytes; 0 if the file does not exist.
    pub fn size(&self) -> u64 {
        match self {
            Self::Absent => 0,
            Self::Bytes(bytes) => u64::try_from(bytes.len()).unwrap_or(u64::MAX),
            Self::Unread(size) => *size,
        }
    }
}
