//! Scripts that run tests or are tests: what they no longer run, and failures that they no longer tell.

use super::{
    judge,
    lines::{more, text},
};
use crate::{
    Change, Version, finding, language,
    language::{Role, file_name, outline::quoted, role},
    reading::ReadFile,
};
use domain::integrity::{IntegrityFinding, Rule};

/// Programs that tests are run and judged with: one of the repository's own with such a name is taken for the real one.
const REAL: [&str; 20] = [
    "sh", "bash", "dash", "test", "[", "diff", "cmp", "grep", "true", "false", "make", "cargo", "rustc", "python",
    "python3", "pytest", "node", "npm", "npx", "go",
];

/// Everything that scripts of tests no longer do.
pub(super) fn find(change: &Change<'_>, files: &[ReadFile<'_>]) -> Vec<IntegrityFinding> {
    let mut findings = Vec::new();
    for file in files {
        findings.extend(in_place_of_a_tool(file));
        if is_of_tests(file) && file.file.before.bytes().is_some() && file.file.after.bytes().is_some() {
            findings.extend(narrower(change, file));
            findings.extend(passed_over(file));
            findings.extend(another_script(change, file));
        }
    }
    findings
}

fn is_of_tests(file: &ReadFile<'_>) -> bool {
    let shell = [".sh", ".bash", ".bats", ".mk"]
        .iter()
        .any(|end| file.path.ends_with(end));
    let make = matches!(
        file_name(file.path),
        "Makefile" | "makefile" | "GNUmakefile" | "justfile" | "Justfile"
    );
    let by_name = ["test", "check", "ci"]
        .iter()
        .any(|word| file_name(file.path).contains(word));
    make || shell && (file.role == Role::Test || by_name)
}

fn in_place_of_a_tool(file: &ReadFile<'_>) -> Option<IntegrityFinding> {
    let is_new =
        file.file.before == Version::Absent && file.file.after.bytes().is_some_and(|bytes| bytes.starts_with(b"#!"));
    let name = file_name(file.path);
    let what = format!("this program is called like the real {}", quoted(name));
    (is_new && REAL.contains(&name)).then(|| finding(Rule::ShadowModule, file.path, Some(1), what))
}

/// A loop over files of tests that takes in fewer of them.
fn narrower(change: &Change<'_>, file: &ReadFile<'_>) -> Vec<IntegrityFinding> {
    let (before, after) = (text(&file.file.before), text(&file.file.after));
    let over = |line: &str| -> Option<Vec<String>> {
        let (_, list) = line.trim().strip_prefix("for ")?.split_once(" in ")?;
        Some(list.split(';').next()?.split_whitespace().map(str::to_owned).collect())
    };
    let takes_in = |patterns: &[String], path: &str| {
        patterns.iter().any(|pattern| {
            let last = file_name(pattern.trim_matches(['"', '\'']));
            judge::matches(last, file_name(path))
        })
    };
    let old: Vec<Vec<String>> = more(&before, &after)
        .into_iter()
        .filter_map(|(_, line)| over(line))
        .collect();
    let new: Vec<(u32, Vec<String>)> = more(&after, &before)
        .into_iter()
        .filter_map(|(number, line)| Some((number, over(line)?)))
        .collect();
    let lost = |(old, (number, new)): (&Vec<String>, &(u32, Vec<String>))| {
        let written = [old, new]
            .iter()
            .all(|list| list.iter().all(|item| !item.contains('$')));
        let of_tests = change.head.iter().filter(|path| role(path) == Role::Test);
        let mut lost = of_tests.filter(|path| takes_in(old, path) && !takes_in(new, path));
        let path = lost.next().filter(|_| written)?;
        let what = format!("the loop over {} no longer takes in `{path}`", quoted(&new.join(" ")));
        Some(finding(Rule::RunnerWeakened, file.path, Some(*number), what))
    };
    old.iter().zip(&new).filter_map(lost).collect()
}

/// A loop over tests that goes on to the next, other than where there is no such file.
fn passed_over(file: &ReadFile<'_>) -> Option<IntegrityFinding> {
    let (before, after) = (text(&file.file.before), text(&file.file.after));
    let runs = |line: &str| ["sh ", "./", "bash ", "$"].iter().any(|word| line.contains(word));
    if !before.lines().any(|line| line.trim_start().starts_with("for ")) || !before.lines().any(runs) {
        return None;
    }
    let lines: Vec<&str> = after.lines().collect();
    let is_guard = |number: u32| {
        let at = usize::try_from(number).unwrap_or(usize::MAX);
        let around = lines.get(at.saturating_sub(2)..at.min(lines.len())).unwrap_or_default();
        around.iter().any(|line| line.contains(" -e ") || line.contains(" -f "))
    };
    let is_next = |line: &str| {
        line.split(|c: char| !c.is_alphanumeric())
            .any(|word| word == "continue")
    };
    let times = |text: &str| text.lines().filter(|line| is_next(line)).count();
    let (number, line) = (1_u32..)
        .zip(after.lines())
        .find(|(number, line)| is_next(line) && !is_guard(*number))?;
    let what = format!("{} passes over tests", quoted(line));
    (times(&after) > times(&before)).then(|| finding(Rule::RunnerWeakened, file.path, Some(number), what))
}

/// A script that was run and is still there, but is not run any more.
fn another_script(change: &Change<'_>, file: &ReadFile<'_>) -> Option<IntegrityFinding> {
    let (before, after) = (text(&file.file.before), text(&file.file.after));
    let scripts = |line: &str| -> Vec<String> {
        let words = line.split_whitespace().map(|word| {
            word.trim_start_matches('@')
                .trim_start_matches("./")
                .trim_matches(['"', '\''])
        });
        words
            .filter(|word| change.head.contains(*word) && language::role(word) == Role::Test)
            .map(str::to_owned)
            .collect()
    };
    let mut lost = more(&before, &after).into_iter().flat_map(|(_, line)| scripts(line));
    let script = lost.find(|script| !after.contains(script.as_str()))?;
    let line = more(&after, &before).into_iter().map(|(number, _)| number).next();
    let what = format!("`{script}` is not run any more");
    Some(finding(Rule::RunnerWeakened, file.path, line, what))
}
