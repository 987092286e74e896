//! The change touches a path that no Player may change.

use crate::{
    changed_file::Reading,
    rules::rule::{ANYWHERE, ReadingRule, Violation, in_file},
};
use domain::integrity::{Detail, Rule};
use ignore::{
    Match,
    gitignore::{Gitignore, GitignoreBuilder},
};
use std::path::Path;

pub(super) static RULE: ReadingRule = ReadingRule {
    rule: Rule::ProtectedPath,
    applies: ANYWHERE,
    check,
};

fn check(reading: &Reading<'_>) -> Vec<Violation> {
    let protected = protected(reading.change.protected);
    let files = reading.change.files.iter();
    let found = files.filter_map(|file| {
        let path = file.path.trim_start_matches('/');
        match protected.matched_path_or_any_parents(path, false) {
            Match::Ignore(glob) => Some(in_file(&file.path, Detail::Code(format!("`{}`", glob.original())))),
            Match::None | Match::Whitelist(_) => None,
        }
    });
    found.collect()
}

/// Compiles the patterns. One that cannot be parsed protects nothing, but the settings were validated earlier.
fn protected(patterns: &[String]) -> Gitignore {
    let mut builder = GitignoreBuilder::new(Path::new(""));
    // On a file system that ignores case, `agents.md` would be read as `AGENTS.md`.
    let _infallible = builder.case_insensitive(true);
    for pattern in patterns {
        let _unreadable = builder.add_line(None, pattern);
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}
