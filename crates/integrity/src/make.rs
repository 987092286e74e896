//! Parses make files: their rules, and the usual targets for tests.

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
    let outside = (1_u32..)
        .zip(text.lines())
        .filter(|(_, line)| !line.starts_with(['\t', ' ', '#']));
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
