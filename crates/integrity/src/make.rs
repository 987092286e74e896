//! Parses make files: their rules, and the usual targets for tests.

use std::collections::BTreeSet;

/// The names of make files, in the order in which make looks for them.
pub const FILES: [&str; 3] = ["GNUmakefile", "makefile", "Makefile"];

/// The targets that people use to run tests.
pub const TARGETS: [&str; 5] = ["test", "tests", "check", "ci", "verify"];

/// Returns the targets of each rule of a make file, one per line that begins a rule. Continuation lines are not read.
pub fn rules(text: &str) -> impl Iterator<Item = Vec<&str>> {
    let outside = text.lines().filter(|line| !line.starts_with(['\t', ' ', '#']));
    outside.filter_map(|line| {
        let line = line.split('#').next().unwrap_or_default();
        let (targets, rest) = line.split_once(':')?;
        let is_variable = targets.contains('=') || rest.trim_start_matches(':').starts_with('=');
        (!is_variable).then(|| targets.split_whitespace().collect())
    })
}

/// `true` if a new path takes the place of the base's make file, or has the name of a target for tests: make then takes the
/// target for done.
pub(crate) fn is_shadow(path: &str, base: &BTreeSet<String>) -> bool {
    let is_there = |name: &str| {
        let below = format!("{name}/");
        base.contains(name) || base.range(below.clone()..).next().is_some_and(|next| next.starts_with(&below))
    };
    let is_first = || {
        let later = FILES.iter().skip_while(|file| **file != path).skip(1);
        later.into_iter().any(|file| base.contains(*file))
    };
    let first = path.split('/').next().unwrap_or_default();
    let is_made = FILES.iter().any(|file| base.contains(*file));
    is_first() || is_made && TARGETS.contains(&first) && !is_there(first)
}
