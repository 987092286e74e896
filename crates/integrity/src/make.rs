//! Make files: their rules, and the targets by which people run tests.

/// The files that make looks for, the first of them first.
pub const FILES: [&str; 3] = ["GNUmakefile", "makefile", "Makefile"];

/// Targets by which people run tests.
pub const TARGETS: [&str; 5] = ["test", "tests", "check", "ci", "verify"];

/// What a rule makes, and from what.
pub struct MakeRule<'a> {
    /// Its line, from 1.
    pub line: u32,
    /// What it makes.
    pub targets: Vec<&'a str>,
    /// What it is made from.
    pub needs: Vec<&'a str>,
}

/// The rules of a make file, one for each line that has one. Continued lines are read as far as their first line goes.
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
