//! What needs no knowledge of a language: protected paths, secrets, merge markers, sizes.

use crate::{Change, FileChange, Version, finding};
use domain::integrity::{IntegrityFinding, Rule};
use ignore::{
    Match,
    gitignore::{Gitignore, GitignoreBuilder},
};
use std::path::Path;

pub(super) fn find(change: &Change<'_>) -> Vec<IntegrityFinding> {
    let protected = protected(change.protected);
    let mut findings = Vec::new();
    for file in change.files {
        findings.extend(protected_path(&protected, file));
        findings.extend(secrets(change, file));
        findings.extend(merge_markers(file));
        findings.extend(too_large(change.max_file_bytes, file));
    }
    findings
}

/// A pattern that cannot be read protects nothing: the settings were checked where they were read.
fn protected(patterns: &[String]) -> Gitignore {
    let mut builder = GitignoreBuilder::new(Path::new(""));
    // Where letter case does not tell files apart, `agents.md` is read for `AGENTS.md`.
    let _infallible = builder.case_insensitive(true);
    for pattern in patterns {
        let _unreadable = builder.add_line(None, pattern);
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

fn protected_path(protected: &Gitignore, file: &FileChange) -> Option<IntegrityFinding> {
    let path = file.path.trim_start_matches('/');
    let Match::Ignore(glob) = protected.matched_path_or_any_parents(path, false) else {
        return None;
    };
    let what = format!(
        "the path is protected by the pattern `{}`; undo the change of this file",
        glob.original()
    );
    Some(finding(Rule::ProtectedPath, &file.path, None, what))
}

fn secrets(change: &Change<'_>, file: &FileChange) -> Vec<IntegrityFinding> {
    let Some(after) = file.after.bytes() else {
        return Vec::new();
    };
    let known = file
        .before
        .bytes()
        .map_or_else(Vec::new, |before| change.known_secrets.find(&file.path, before));
    let fresh = change
        .known_secrets
        .find(&file.path, after)
        .into_iter()
        .filter(|found| !found.is_among(&known));
    fresh
        .map(|found| {
            let line = u32::try_from(found.line).ok();
            finding(
                Rule::Secret,
                &file.path,
                line,
                format!("this line holds {}", found.kind),
            )
        })
        .collect()
}

/// Conflicts that were never resolved: an opening marker and, further on, its closing one, both at the start of a line; or a
/// closing one alone, as git writes it.
fn merge_markers(file: &FileChange) -> Vec<IntegrityFinding> {
    let before = file.before.bytes().map_or(0, |bytes| conflicts(bytes).len());
    let after = file.after.bytes().map_or_else(Vec::new, conflicts);
    if after.len() <= before {
        return Vec::new();
    }
    let found = |line| {
        finding(
            Rule::MergeMarker,
            &file.path,
            Some(line),
            "a conflict of a merge is not resolved here",
        )
    };
    after.into_iter().map(found).collect()
}

fn conflicts(bytes: &[u8]) -> Vec<u32> {
    let mut open = None;
    let mut found = Vec::new();
    for (number, line) in (1u32..).zip(bytes.split(|byte| *byte == b'\n')) {
        if line.starts_with(b"<<<<<<< ") {
            open = Some(number);
        } else if line.starts_with(b">>>>>>> ") {
            let alone = is_as_git_writes(line).then_some(number);
            found.extend(open.take().or(alone));
        }
    }
    found
}

/// `>>>>>>> 3f2a1b0 (what the commit says)`.
fn is_as_git_writes(line: &[u8]) -> bool {
    let text = String::from_utf8_lossy(line);
    let mut words = text.split_whitespace().skip(1);
    let is_id = |word: &str| (7..=40).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    words.next().is_some_and(is_id) && words.next().is_none_or(|word| word.starts_with('('))
}

fn too_large(limit: u64, file: &FileChange) -> Option<IntegrityFinding> {
    let (before, after) = (file.before.size(), file.after.size());
    let grew = after > limit && (before <= limit || file.before == Version::Absent);
    let what = format!("the file has {after} bytes, and {limit} are the most");
    grew.then(|| finding(Rule::FileTooLarge, &file.path, None, what))
}
