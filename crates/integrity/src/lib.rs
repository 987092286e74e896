//! Integrity: what a Player could do to look finished, found in the difference between two commits, without a model.
//!
//! Pure: bytes in, findings out. The rules are a table ([`rules::ALL`]), the languages too ([`language::ALL`]). What a
//! finding weighs is decided in the domain; what only a run can show is found by the Gates that run.

#![warn(clippy::wildcard_enum_match_arm)]

mod changed_file;
pub mod language;
pub mod make;
mod marks;
mod pairs;
pub mod rules;
mod settings;
mod snapshots;
mod task;
mod words;

pub use snapshots::{is_snapshot, loses_lines};

use changed_file::{ChangedFile, Reading};
use domain::{integrity::IntegrityFinding, plan::PlannedTask, secret::Secrets};
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

/// The most findings that one change is told; more say nothing more.
const MOST: usize = 200;

/// Everything that the change does to look finished, in the order of path and line.
#[must_use]
pub fn inspect(change: &Change<'_>) -> Vec<IntegrityFinding> {
    let files = ChangedFile::all(change);
    let reading = Reading::new(change, &files);
    let mut findings: Vec<IntegrityFinding> = rules::ALL.iter().flat_map(|rule| rule.findings(&reading)).collect();
    findings.sort_by(|one, other| (&one.path, one.line, one.rule).cmp(&(&other.path, other.line, other.rule)));
    findings.dedup_by(|one, other| (&one.path, one.line, one.rule) == (&other.path, other.line, other.rule));
    findings.truncate(MOST);
    findings
}
