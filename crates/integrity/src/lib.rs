//! Integrity: what a Player could do to look finished, found in the difference between two commits, without a model.
//!
//! Pure: bytes in, findings out. The rules are a table ([`rules::ALL`]), the languages too ([`language::ALL`]). What a
//! finding weighs is decided in the domain; what only a run can show is found by the Gates that run.

#![warn(clippy::wildcard_enum_match_arm)]

mod change;
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

pub use change::{Change, FileChange, Version};
pub use snapshots::{is_snapshot, loses_lines};

use changed_file::{ChangedFile, Reading};
use domain::integrity::IntegrityFinding;

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
