//! Integrity: what a Player could do to look finished, found in the difference between two commits, without a model.
//!
//! Pure: bytes in, findings out. What a finding weighs is decided in the domain; what only a run can show is found by the
//! Gates that run.

mod anywhere;
mod bare;
mod borrowed;
mod checks;
mod constants;
mod examples;
mod forgiving;
mod fresh;
mod gone;
pub mod language;
mod less;
mod lookup;
mod loosened;
pub mod make;
mod marks;
mod orphans;
mod pairs;
mod places;
mod reading;
mod replaced;
mod results;
mod rows;
mod settings;
mod shadow;
mod snapshots;
mod substitutes;
mod tests_changed;
mod unknown;
mod words;

pub use snapshots::{is_snapshot, loses_lines};

use domain::{
    integrity::{Author, IntegrityFinding, Rule},
    plan::PlannedTask,
    secret::Secrets,
};
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
    let files = reading::read(change);
    let gone = gone::Gone::new(&files, change.task);
    let mut findings = anywhere::find(change);
    findings.extend(reading::unreadable(&files));
    findings.extend(tests_changed::find(&files, &gone));
    findings.extend(examples::find(&files));
    findings.extend(rows::in_data(&files, &gone));
    findings.extend(orphans::find(change, &files));
    findings.extend(unknown::find(&files, &gone));
    findings.extend(marks::find(&files));
    findings.extend(constants::find(change, &files, &gone));
    findings.extend(lookup::find(change, &files));
    findings.extend(forgiving::find(&files));
    findings.extend(borrowed::find(change, &files));
    findings.extend(bare::find(&files));
    findings.extend(settings::find(change, &files));
    findings.extend(replaced::find(change, &files));
    findings.extend(substitutes::find(change, &files));
    findings.extend(results::find(change));
    findings.extend(snapshots::find(change));
    findings.extend(shadow::find(change));
    findings.sort_by(|one, other| (&one.path, one.line, one.rule).cmp(&(&other.path, other.line, other.rule)));
    findings.dedup_by(|one, other| (&one.path, one.line, one.rule) == (&other.path, other.line, other.rule));
    findings.truncate(MOST);
    findings
}

/// A finding about lines that count as the Player's until the caller knows better.
fn finding(rule: Rule, path: &str, line: Option<u32>, what: impl Into<String>) -> IntegrityFinding {
    IntegrityFinding {
        rule,
        path: path.to_owned(),
        line,
        what: what.into(),
        by: Author::Player,
    }
}

#[cfg(test)]
mod tests;
