//! Finds scripts, make files and CI that do less. They are compared line by line, because each has its own language.

use super::{
    command::{runs_checks, runs_less, runs_tests, weakness},
    kinds::{is_ci, is_script},
};
use crate::{
    change::Version,
    changed_file::{ChangedFile, Reading},
    language::outline::quoted,
    rules::rule::{Violation, at, at_line, in_file},
};
use domain::integrity::Detail;
use std::collections::BTreeSet;

/// Words that make CI ignore failures, or not run at all, with commas between them.
const TOLERANT: &str = "\
    continue-on-error: true, allow_failure: true, allow_failures:, if: false, if: ${{ false }}, when: never, \
    when: manual, soft_fail, ignorefailures, ignore_failure, continueonerror: true, ignore_error: true, \
    ignore_outcome = true, skip_tests, -dskiptests, -x test, catcherror, informational: true, failure: ignore, \
    exit 0, set +e";

/// Finds what CI no longer does.
pub(crate) fn ci(reading: &Reading<'_>) -> Vec<Violation> {
    let files = || reading.files.iter().filter(|file| is_ci(file.path));
    let new = files().filter(|file| file.file.before == Version::Absent);
    let moved_to: Vec<String> = new.map(|file| file.texts().1).collect();
    files().flat_map(|file| in_ci(file, &moved_to)).collect()
}

/// Finds what scripts no longer do.
pub(super) fn scripts(reading: &Reading<'_>) -> Vec<Violation> {
    let is_plain = |file: &&ChangedFile<'_>| is_script(file.path) && !is_ci(file.path);
    reading.files.iter().filter(is_plain).flat_map(in_script).collect()
}

/// Returns the lines of `one` that `other` does not have, with their numbers; layout and comments do not count.
pub(super) fn more<'l>(one: &'l str, other: &str) -> Vec<(u32, &'l str)> {
    let known: BTreeSet<&str> = other.lines().map(plain).collect();
    (1_u32..)
        .zip(one.lines())
        .filter(|(_, line)| !plain(line).is_empty() && !known.contains(plain(line)))
        .collect()
}

fn plain(line: &str) -> &str {
    let line = line.trim().trim_start_matches("- ").trim_start_matches("run: ").trim();
    if line.starts_with('#') { "" } else { line }
}

/// Returns the new lines of a CI file that ignore failures.
fn tolerant_lines(file: &ChangedFile<'_>, new: &[(u32, &str)]) -> Vec<Violation> {
    let tolerates = |line: &str| {
        let small = line.to_lowercase();
        let is_weak = weakness(line).is_some() && (runs_checks(line) || small.contains("|| true"));
        file.file.before != Version::Absent && (is_weak || TOLERANT.split(", ").any(|word| small.contains(word)))
    };
    let tolerant = new.iter().filter(|(_, line)| tolerates(line));
    tolerant
        .map(|(number, line)| at_line(file.path, *number, line))
        .collect()
}

fn in_ci(file: &ChangedFile<'_>, moved_to: &[String]) -> Vec<Violation> {
    let (before, after) = file.texts();
    let (gone, new) = (more(&before, &after), more(&after, &before));
    let mut found = tolerant_lines(file, &new);
    if file.file.after == Version::Absent {
        let is_gone = !before.trim().is_empty() && moved_to.is_empty();
        found.extend(is_gone.then(|| in_file(file.path, Detail::Nothing)));
        return found;
    }
    let others: BTreeSet<&str> = moved_to.iter().flat_map(|text| text.lines()).map(plain).collect();
    let runs = |line: &str, what: fn(&str) -> bool| what(plain(line)) && !line.contains("name:");
    let is_lost = |line: &&str| runs(line, runs_checks) && !others.contains(&plain(line));
    let lost: Vec<&str> = gone.iter().map(|(_, line)| *line).filter(is_lost).collect();
    let tests = |text: &str| text.lines().any(|line| runs(line, runs_tests));
    let no_tests = tests(&before) && !tests(&after) && lost.iter().any(|line| runs_tests(plain(line)));
    let replaced = new.iter().filter(|(_, line)| runs(line, runs_checks)).count();
    let no_longer = lost.first().filter(|_| no_tests || lost.len() > replaced).copied();
    let no_longer = no_longer.or_else(|| trigger(&gone, &new));
    found.extend(no_longer.map(|line| in_file(file.path, Detail::Code(quoted(plain(line))))));
    found
}

/// Returns a CI trigger that was removed without a replacement.
fn trigger<'l>(gone: &[(u32, &'l str)], new: &[(u32, &str)]) -> Option<&'l str> {
    let starts = |line: &str| ["push", "pull_request"].iter().any(|word| line.contains(word));
    let is_trigger = |line: &&str| {
        let is_one = matches!(plain(line), "push:" | "pull_request:" | "pull_request");
        is_one || line.contains("on: [push") || line.contains("on: push")
    };
    let mut gone = gone.iter().map(|(_, line)| *line);
    gone.find(is_trigger)
        .filter(|_| !new.iter().any(|(_, line)| starts(line)))
}

/// `true` if a line of a script ignores a failure of its own command or of another line.
fn hides_failures(file: &ChangedFile<'_>, line: &str, after: &str) -> bool {
    let is_marked = line.trim().trim_start_matches('@').starts_with('-') && !line.trim().starts_with("- ");
    let ignored = is_marked && runs_tests(line);
    let mut leaving = "exit 0, set +e, exit, .IGNORE: test, .IGNORE:, ignore_error: true".split(", ");
    let leaves = leaving.any(|one| one == plain(line)) || ends_well_anyway(plain(line));
    let leaves = leaves && file.file.before != Version::Absent;
    let heard = |weak: &&str| !after.contains("pipefail") || weak.contains(['|', '-', ' ']);
    // After `set -e` the first failure ends the script.
    let ends = |weak: &&str| *weak != ";" || !(after.contains("set -e") && file.path.ends_with("sh"));
    let weak = weakness(line).filter(|_| runs_tests(line)).filter(heard).filter(ends);
    let weak = weak.or_else(|| is_caught(plain(line), after).then_some("if"));
    ignored || leaves || weak.is_some()
}

fn in_script(file: &ChangedFile<'_>) -> Vec<Violation> {
    let (before, after) = file.texts();
    if !before.lines().any(runs_tests) && file.file.before != Version::Absent {
        return Vec::new();
    }
    let (gone, new) = (more(&before, &after), more(&after, &before));
    let code = |line: &str| Detail::Code(quoted(line));
    let hides = |(number, line): &&(u32, &str)| hides_failures(file, line, &after) && !goes_on(&after, *number);
    let hiding = new
        .iter()
        .filter(hides)
        .map(|(number, line)| at_line(file.path, *number, line));
    let hiding: Vec<Violation> = hiding.collect();
    if !hiding.is_empty() {
        return hiding;
    }
    let lost = gone.iter().map(|(_, line)| *line).find(|line| runs_tests(line));
    let found = new.iter().find(|(_, line)| runs_tests(line));
    let violation = match (lost, found) {
        (None, _) => None,
        (Some(old), Some((number, new))) => {
            runs_less(Some(old), Some(before_pipe(new, &after))).map(|_| at(file.path, *number, code(new)))
        }
        (Some(old), None) => Some(match new.first().filter(|_| after.lines().any(runs_tests)) {
            Some((number, _)) => at(file.path, *number, code(old)),
            None => in_file(file.path, code(old)),
        }),
    };
    violation.into_iter().collect()
}

/// `true` if a line continues the command on the line before.
fn goes_on(text: &str, number: u32) -> bool {
    let before = usize::try_from(number).unwrap_or_default().checked_sub(2);
    let before = before.and_then(|at| text.lines().nth(at));
    before.is_some_and(|line| line.ends_with('\\'))
}

/// Returns the part before a pipe, if the script fails as soon as any part of a pipe fails.
fn before_pipe<'l>(line: &'l str, script: &str) -> &'l str {
    match script.contains("pipefail") {
        true => line.split(" | ").next().unwrap_or(line),
        false => line,
    }
}

/// `true` if the tests run as a condition, or their exit code is stored, in a script that never exits with an error
/// code.
fn is_caught(line: &str, script: &str) -> bool {
    let condition = line.starts_with("if ") || line.contains("=$?") || line.contains("|| ");
    let leaves = script.lines().map(plain).any(|line| {
        let exits = ["exit ", "return ", "false"].iter().any(|word| line.contains(word));
        exits && !line.contains("exit 0") && !line.contains("return 0")
    });
    runs_tests(line) && condition && !leaves
}

/// `true` for a trap that exits with success, or for another shell for every line of a make file.
fn ends_well_anyway(line: &str) -> bool {
    let trap = line.starts_with("trap ") && line.contains("exit 0");
    let name = line.split(['=', ':', '+', '?']).next().unwrap_or_default().trim();
    let shells = ["shell", ".shellflags", "export shell", "override shell"];
    let usual = ["bash", "/sh", "= sh", "pipefail"];
    let shell = shells.contains(&name.to_lowercase().as_str()) && !usual.iter().any(|known| line.contains(known));
    trap || shell
}
