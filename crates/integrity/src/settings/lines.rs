//! Scripts, make files and CI that do less: compared line by line, because each has a language of its own.

use super::{
    codecov,
    command::{runs_checks, runs_less, runs_tests, weakness},
    kinds::{is_ci, is_script},
};
use crate::{
    Version, finding,
    language::{file_name, outline::quoted},
    reading::ReadFile,
};
use domain::integrity::{IntegrityFinding, Rule};
use std::borrow::Cow;

/// What makes CI tolerate, or not run at all.
const TOLERANT: [&str; 21] = [
    "continue-on-error: true",
    "allow_failure: true",
    "allow_failures:",
    "if: false",
    "if: ${{ false }}",
    "when: never",
    "when: manual",
    "soft_fail",
    "ignorefailures",
    "ignore_failure",
    "continueonerror: true",
    "ignore_error: true",
    "ignore_outcome = true",
    "skip_tests",
    "-dskiptests",
    "-x test",
    "catcherror",
    "informational: true",
    "failure: ignore",
    "exit 0",
    "set +e",
];

/// Everything that scripts and CI no longer do.
pub(super) fn find(files: &[ReadFile<'_>]) -> Vec<IntegrityFinding> {
    let mut findings = Vec::new();
    let moved_to: Vec<Cow<'_, str>> = files
        .iter()
        .filter(|file| is_ci(file.path) && file.file.before == Version::Absent)
        .map(|file| text(&file.file.after))
        .collect();
    for file in files {
        if is_ci(file.path) {
            findings.extend(in_ci(file, &moved_to));
        } else if is_script(file.path) {
            findings.extend(in_script(file));
        } else if matches!(
            file_name(file.path),
            "codecov.yml" | ".codecov.yml" | "codecov.yaml" | ".codecov.yaml"
        ) {
            findings.extend(codecov::in_file(file));
        }
    }
    findings
}

/// What a file says; nothing where it is not there.
pub(super) fn text(version: &Version) -> Cow<'_, str> {
    version.bytes().map(String::from_utf8_lossy).unwrap_or_default()
}

/// The lines of `one` that `other` has not, with their numbers; layout and comments do not count.
pub(super) fn more<'l>(one: &'l str, other: &str) -> Vec<(u32, &'l str)> {
    let known: std::collections::BTreeSet<&str> = other.lines().map(plain).collect();
    (1_u32..)
        .zip(one.lines())
        .filter(|(_, line)| !plain(line).is_empty() && !known.contains(plain(line)))
        .collect()
}

fn plain(line: &str) -> &str {
    let line = line.trim().trim_start_matches("- ").trim_start_matches("run: ").trim();
    if line.starts_with('#') { "" } else { line }
}

/// New lines of a CI file that let failures pass.
fn tolerant_lines(file: &ReadFile<'_>, new: &[(u32, &str)]) -> Vec<IntegrityFinding> {
    if file.file.before == Version::Absent {
        return Vec::new();
    }
    let tolerates = |line: &str| {
        let small = line.to_lowercase();
        let tolerant = TOLERANT.iter().find(|word| small.contains(*word)).copied();
        let weak = tolerant.or_else(|| weakness(line).filter(|_| runs_checks(line) || small.contains("|| true")))?;
        Some(format!(
            "{} in {} lets failures pass or leaves work out",
            quoted(weak),
            quoted(line)
        ))
    };
    new.iter()
        .filter_map(|(number, line)| {
            let what = tolerates(line)?;
            Some(finding(Rule::CiWeakened, file.path, Some(*number), what))
        })
        .collect()
}

fn in_ci(file: &ReadFile<'_>, moved_to: &[Cow<'_, str>]) -> Vec<IntegrityFinding> {
    let (before, after) = (text(&file.file.before), text(&file.file.after));
    let at = |what: String| finding(Rule::CiWeakened, file.path, None, what);
    let (gone, new) = (more(&before, &after), more(&after, &before));
    let mut findings = tolerant_lines(file, &new);
    let elsewhere = |line: &str| {
        moved_to
            .iter()
            .any(|text| text.lines().any(|other| plain(other) == plain(line)))
    };
    let lost: Vec<&str> = gone
        .iter()
        .map(|(_, line)| *line)
        .filter(|line| runs_checks(plain(line)) && !line.contains("name:") && !elsewhere(line))
        .collect();
    let tests = |text: &str| {
        text.lines()
            .any(|line| runs_tests(plain(line)) && !line.contains("name:"))
    };
    if tests(&before)
        && !tests(&after)
        && lost.iter().any(|line| runs_tests(plain(line)))
        && file.file.after != Version::Absent
    {
        findings.push(at("CI no longer runs any tests".to_owned()));
    }
    let replaced = new
        .iter()
        .filter(|(_, line)| runs_checks(line) && !line.contains("name:"))
        .count();
    if file.file.after == Version::Absent && !before.trim().is_empty() && moved_to.is_empty() {
        findings.push(at("the file is gone, and what it ran with it".to_owned()));
    } else if let Some(line) = lost.first().filter(|_| lost.len() > replaced) {
        findings.push(at(format!("CI no longer runs {}", quoted(plain(line)))));
    }
    findings.extend(starts_less(file, &gone, &new));
    findings
}

/// A trigger of the CI that is gone with none in its place.
fn starts_less(file: &ReadFile<'_>, gone: &[(u32, &str)], new: &[(u32, &str)]) -> Option<IntegrityFinding> {
    let is_trigger = |line: &&str| {
        ["push:", "pull_request:", "pull_request"].contains(&plain(line))
            || line.contains("on: [push")
            || line.contains("on: push")
    };
    let starts = new
        .iter()
        .any(|(_, line)| line.contains("push") || line.contains("pull_request"));
    if starts || file.file.after == Version::Absent {
        return None;
    }
    let line = gone.iter().map(|(_, line)| *line).find(is_trigger)?;
    let what = format!("CI no longer starts by {}", quoted(plain(line)));
    Some(finding(Rule::CiWeakened, file.path, None, what))
}

/// Whether a line of a script lets the failure of what it or another line runs go unheard.
fn hides_failures(file: &ReadFile<'_>, line: &str, after: &str) -> bool {
    let ignored =
        line.trim().trim_start_matches('@').starts_with('-') && runs_tests(line) && !line.trim().starts_with("- ");
    let leaves = file.file.before != Version::Absent
        && (matches!(
            plain(line),
            "exit 0" | "set +e" | "exit" | ".IGNORE: test" | ".IGNORE:" | "ignore_error: true"
        ) || ends_well_anyway(plain(line)));
    let heard = |weak: &&str| !after.contains("pipefail") || weak.contains(['|', '-', ' ']);
    // After `set -e` the first failure ends the script.
    let ends = |weak: &&str| *weak != ";" || !(after.contains("set -e") && file.path.ends_with("sh"));
    let weak = weakness(line).filter(|_| runs_tests(line)).filter(heard).filter(ends);
    let weak = weak.or_else(|| is_caught(plain(line), after).then_some("if"));
    ignored || leaves || weak.is_some()
}

fn in_script(file: &ReadFile<'_>) -> Vec<IntegrityFinding> {
    let (before, after) = (text(&file.file.before), text(&file.file.after));
    let at = |line, what: String| finding(Rule::RunnerWeakened, file.path, line, what);
    if !before.lines().any(runs_tests) && file.file.before != Version::Absent {
        return Vec::new();
    }
    let (gone, new) = (more(&before, &after), more(&after, &before));
    let mut findings = Vec::new();
    for (number, line) in &new {
        if hides_failures(file, line, &after) && !goes_on(&after, *number) {
            findings.push(at(
                Some(*number),
                format!("{} lets failures pass or leaves tests out", quoted(line)),
            ));
        }
    }
    if findings.is_empty() {
        let lost: Vec<&str> = gone
            .iter()
            .map(|(_, line)| *line)
            .filter(|line| runs_tests(line))
            .collect();
        let found: Vec<&(u32, &str)> = new.iter().filter(|(_, line)| runs_tests(line)).collect();
        let narrowed = lost
            .first()
            .zip(found.first())
            .and_then(|(old, (number, new))| Some((*number, runs_less(Some(old), Some(before_pipe(new, &after)))?)));
        if let Some((number, what)) = narrowed {
            findings.push(at(Some(number), format!("the command {what}")));
        } else if let Some(line) = lost
            .first()
            .filter(|_| found.is_empty() && !after.lines().any(runs_tests))
        {
            findings.push(at(None, format!("{} is gone", quoted(line))));
        } else if let Some(line) = lost.first().filter(|_| found.is_empty()) {
            findings.push(at(
                new.first().map(|(number, _)| *number),
                format!("{} is not run any more", quoted(line)),
            ));
        }
    }
    findings
}

/// Whether a line is the rest of the command before it: options of what is run.
fn goes_on(text: &str, number: u32) -> bool {
    let before = usize::try_from(number).unwrap_or_default().checked_sub(2);
    let before = before.and_then(|at| text.lines().nth(at));
    before.is_some_and(|line| line.ends_with('\\'))
}

/// What stands before a pipe, where the script fails if any part of a pipe does.
fn before_pipe<'l>(line: &'l str, script: &str) -> &'l str {
    match script.contains("pipefail") {
        true => line.split(" | ").next().unwrap_or(line),
        false => line,
    }
}

/// Tests as a condition, or with their end kept in a variable, in a script that never leaves with another code than 0.
fn is_caught(line: &str, script: &str) -> bool {
    let condition = line.starts_with("if ") || line.contains("=$?") || line.contains("|| ");
    let leaves = script.lines().map(plain).any(|line| {
        let exits = ["exit ", "return ", "false"].iter().any(|word| line.contains(word));
        exits && !line.contains("exit 0") && !line.contains("return 0")
    });
    runs_tests(line) && condition && !leaves
}

/// A trap that leaves with success, or another shell under every line of a make file.
fn ends_well_anyway(line: &str) -> bool {
    let trap = line.starts_with("trap ") && line.contains("exit 0");
    let name: String = line
        .split(['=', ':', '+', '?'])
        .next()
        .unwrap_or_default()
        .trim()
        .to_lowercase();
    let shell = matches!(
        name.as_str(),
        "shell" | ".shellflags" | "export shell" | "override shell"
    ) && !["bash", "/sh", "= sh", "pipefail"]
        .iter()
        .any(|known| line.contains(known));
    trap || shell
}
