//! Parses make files: their rules, and the usual targets for tests.

use std::collections::BTreeSet;

/// The names of make files, in the order in which make looks for them.
pub const FILES: [&str; 3] = ["GNUmakefile", "makefile", "Makefile"];

/// The targets that people use to run tests.
pub const TARGETS: [&str; 5] = ["test", "tests", "check", "ci", "verify"];

/// A rule: targets and their prerequisites.
pub struct MakeRule<'a> {
    /// Its line; the first is 1.
    pub line: u32,
    /// The targets.
    pub targets: Vec<&'a str>,
    /// The prerequisites.
    pub needs: Vec<&'a str>,
}

/// Returns the rules of a make file, one per line that begins a rule. Continuation lines are not read.
pub fn rules(text: &str) -> impl Iterator<Item = MakeRule<'_>> {
    let outside = (1_u32..).zip(text.lines()).filter(|(_, line)| !line.starts_with(['\t', ' ', '#']));
    outside.filter_map(|(number, line)| {
        let line = line.split('#').next().unwrap_or_default();
        let (targets, rest) = line.split_once(':')?;
        let is_variable = targets.contains('=') || rest.trim_start_matches(':').starts_with('=');
        let needs = rest.split(';').next().unwrap_or_default().trim_start_matches(':');
        (!is_variable).then(|| MakeRule {
            line: number,
            targets: targets.split_whitespace().collect(),
            needs: needs.split_whitespace().collect(),
        })
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
