//! Integrity: finds ways in which a Player fakes success, from the difference between two commits and without a model.
//!
//! The crate is pure: it gets bytes and returns findings. The rules are a table ([`rules::ALL`]), and so are the
//! languages ([`language::ALL`]). The domain decides the weight of a finding. Findings that need a run come from the
//! Gates.

#![allow(missing_docs, reason = "a name and a type that say what an item is need no comment")]
#![warn(clippy::wildcard_enum_match_arm)]

pub mod asserts_less;
mod attributes;
mod change;
mod changed_file;
pub mod language;
pub mod make;
mod marks;
pub mod rules;
mod settings;
pub mod side;
mod snapshots;
mod words;

pub use change::{Change, FileChange, FileContent};
pub use snapshots::{first_changed_line, is_snapshot};

use changed_file::{ChangedFile, Reading};
use domain::integrity::IntegrityFinding;

/// The most findings of one change; more would add nothing.
const MOST: usize = 200;

/// Returns all findings in a change, ordered by path and line.
pub fn inspect(change: &Change<'_>) -> Vec<IntegrityFinding> {
    let files = ChangedFile::all(change);
    let reading = Reading { change, files: &files };
    let mut findings: Vec<IntegrityFinding> = rules::ALL.iter().flat_map(|rule| rule.findings(&reading)).collect();
    findings.sort_by(|one, other| (&one.path, one.line, one.rule).cmp(&(&other.path, other.line, other.rule)));
    findings.dedup_by(|one, other| (&one.path, one.line, one.rule) == (&other.path, other.line, other.rule));
    findings.truncate(MOST);
    findings
}

#[cfg(test)]
mod tests;
