//! Detects changes that make `make` skip its tests. Make runs nothing for a target if a file of that name exists and
//! none of its prerequisites is newer.
//!
//! Which file is newer depends on when the checkout was written, so it proves nothing. Therefore the make file and the
//! paths are read, and make's output is used only for cases that reading cannot decide.

use crate::gates::{run::context::GateError, said, turn::Run};
use domain::{
    evidence::Evidence,
    ids::Sha,
    integrity::{IntegrityFinding, Rule},
};
use git::Mirror;
use integrity::make::{FILES, TARGETS, rules};
use std::collections::BTreeSet;

/// The largest make file that is read, in bytes.
const LARGEST: usize = 256 * 1024;

/// The paths and the make file of a commit.
struct Tree<'a> {
    /// The make file's text; empty if there is none, or none that can be read.
    text: String,
    paths: &'a BTreeSet<String>,
}

/// Returns findings if the change put a file or folder at the name of a test target, so that make no longer runs it.
pub(crate) async fn idle(run: &Run<'_>, tests: &Evidence) -> Result<Vec<IntegrityFinding>, GateError> {
    let (mirror, change) = (run.subject.mirror, run.change);
    let before = Tree::read(mirror, run.subject.fork, &change.base).await?;
    let after = Tree::read(mirror, run.subject.head, &change.head).await?;
    let taken = TARGETS
        .into_iter()
        .filter(|target| after.stops_at(target) && !before.stops_at(target));
    let mut findings: Vec<IntegrityFinding> = taken.map(|target| after.finding(target)).collect();
    if findings.is_empty() {
        findings.extend(up_to_date(&before, &after, tests));
    }
    Ok(findings)
}

impl<'a> Tree<'a> {
    async fn read(mirror: &Mirror, commit: &Sha, paths: &'a BTreeSet<String>) -> Result<Self, GateError> {
        let text = match FILES.iter().find(|name| paths.contains(**name)) {
            Some(name) => mirror.read_file(commit, name, LARGEST).await?,
            None => None,
        };
        let text = text.filter(|file| !file.truncated).map(|file| file.bytes);
        let text = text.and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default();
        Ok(Self { text, paths })
    }

    /// `true` if a path has the target's name and make may therefore skip the target.
    fn stops_at(&self, target: &str) -> bool {
        stands(self.paths, target) && goes_by_files(&self.text, target, self.paths)
    }

    fn finding(&self, target: &str) -> IntegrityFinding {
        let first = first_below(self.paths, target).filter(|_| !self.paths.contains(target));
        let what = format!("make takes this for its target `{target}` and may run no test: name the target in .PHONY");
        said::finding(Rule::RunnerWeakened, first.unwrap_or(target), None, what)
    }
}

/// `true` if a file or folder of this name exists.
fn stands(paths: &BTreeSet<String>, name: &str) -> bool {
    paths.contains(name) || first_below(paths, name).is_some()
}

fn first_below<'a>(paths: &'a BTreeSet<String>, folder: &str) -> Option<&'a str> {
    let below = format!("{folder}/");
    let first = paths.range(below.clone()..).next()?;
    first.starts_with(&below).then_some(first)
}

/// `true` if make checks for a file of the target's name before it runs the recipe. Reading cannot decide this for
/// included files and variables: then it returns `false`, and make's output at run time decides.
fn goes_by_files(text: &str, target: &str, paths: &BTreeSet<String>) -> bool {
    let is_include = |line: &str| line.trim_start_matches(['-', 's']).starts_with("include ");
    let mut is_made = false;
    for rule in rules(text) {
        let is_phony = rule.targets.contains(&".PHONY");
        let is_own = rule.targets.contains(&target);
        let unsure = (is_phony || is_own) && rule.needs.iter().any(|need| need.contains(['$', '%', '*', '\\']));
        // Make always remakes a prerequisite that does not exist, and then the target that needs it.
        let is_always = is_own && rule.needs.iter().any(|need| *need != "|" && !stands(paths, need));
        if unsure || is_always || is_phony && rule.needs.contains(&target) {
            return false;
        }
        is_made |= is_own;
    }
    is_made && !text.lines().any(is_include)
}

/// Returns a finding if make's whole output says that a test target is up to date.
fn up_to_date(before: &Tree<'_>, after: &Tree<'_>, tests: &Evidence) -> Option<IntegrityFinding> {
    let Evidence::Passed(result) = tests else { return None };
    let is_warning = |line: &&str| line.to_ascii_lowercase().contains("warning: ");
    let lines = result.output.lines().map(str::trim);
    let mut said = lines.filter(|line| !line.is_empty() && !is_warning(line));
    let line = said.next().filter(|_| said.next().is_none())?;
    let is_idle = line.starts_with("make") && (line.ends_with("is up to date.") || line.contains("Nothing to be done"));
    let target = line.split(['\'', '`', '"']).nth(1).unwrap_or_default();
    // A path that already existed kept the tests from running before the change too.
    let is_old = stands(before.paths, target) && before.text == after.text;
    (is_idle && !is_old).then(|| said::finding(Rule::RunnerWeakened, "", None, format!("no test ran: {line}")))
}

#[cfg(test)]
mod tests {
    use super::goes_by_files;

    #[test]
    fn a_file_in_the_place_of_a_target_stops_make_only_where_make_goes_by_files() {
        let paths = ["test", "tests/run.sh", "src/a.c"].map(str::to_owned).into();
        let table = [
            ("test:\n\tsh tests/run.sh\n", true),
            ("test: tests/run.sh # all\n\tsh tests/run.sh\n", true),
            ("all test: src\n\tsh tests/run.sh\n", true),
            ("test:; sh tests/run.sh\n", true),
            ("test: | tests\n\tsh tests/run.sh\n", true),
            (".PHONY: clean test\ntest:\n\tsh tests/run.sh\n", false),
            ("test: build\n\tsh tests/run.sh\n\nbuild:\n\tcc src/a.c\n", false),
            ("test: $(OBJECTS)\n\tsh tests/run.sh\n", false),
            (".PHONY: $(ALL)\ntest:\n\tsh tests/run.sh\n", false),
            (".PHONY: clean \\\n  test\ntest:\n\tsh tests/run.sh\n", false),
            ("-include rules.mk\ntest:\n\tsh tests/run.sh\n", false),
            ("test := sh tests/run.sh\ncheck:\n\t$(test)\n", false),
            ("check:\n\tsh tests/run.sh\n", false),
            ("", false),
        ];
        for (text, expected) in table {
            assert_eq!(goes_by_files(text, "test", &paths), expected, "{text}");
        }
    }
}
