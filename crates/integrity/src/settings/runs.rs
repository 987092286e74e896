//! Finds test scripts that run less, or report fewer failures.

use super::{judge, lines::more};
use crate::{
    change::Change,
    changed_file::{ChangedFile, Reading},
    language::{Role, file_name, role},
    rules::rule::{Violation, at, at_line, in_file},
    words::is_one_of,
};
use domain::integrity::Detail;

/// Finds everything that test scripts no longer do.
pub(super) fn find(reading: &Reading<'_>) -> Vec<Violation> {
    let kept = reading.files.iter().filter(|file| file.is_kept() && is_of_tests(file));
    let mut found = Vec::new();
    for file in kept {
        found.extend(narrower(reading.change, file));
        found.extend(passed_over(file));
        found.extend(another_script(reading.change, file));
    }
    found
}

fn is_of_tests(file: &ChangedFile<'_>) -> bool {
    let name = file_name(file.path);
    let shell = [".sh", ".bash", ".bats", ".mk"].iter().any(|end| name.ends_with(end));
    let make = is_one_of("Makefile makefile GNUmakefile justfile Justfile", name);
    let by_name = ["test", "check", "ci"].iter().any(|word| name.contains(word));
    make || shell && (file.role == Role::Test || by_name)
}

/// Finds loops over test files that cover fewer files.
fn narrower(change: &Change<'_>, file: &ChangedFile<'_>) -> Vec<Violation> {
    let (before, after) = file.texts();
    let over = |line: &str| -> Option<Vec<String>> {
        let (_, list) = line.trim().strip_prefix("for ")?.split_once(" in ")?;
        Some(list.split(';').next()?.split_whitespace().map(str::to_owned).collect())
    };
    let takes_in = |patterns: &[String], path: &str| {
        let last = |pattern: &str| file_name(pattern.trim_matches(['"', '\''])).to_owned();
        patterns
            .iter()
            .any(|pattern| judge::matches(&last(pattern), file_name(path)))
    };
    let loops = |one: &str, other: &str| -> Vec<(u32, Vec<String>)> {
        let lines = more(one, other).into_iter();
        lines.filter_map(|(number, line)| Some((number, over(line)?))).collect()
    };
    let lost = |((_, old), (number, new)): ((u32, Vec<String>), (u32, Vec<String>))| {
        let written = old.iter().chain(&new).all(|item| !item.contains('$'));
        let of_tests = change.head.iter().filter(|path| role(path) == Role::Test);
        let mut lost = of_tests.filter(|path| takes_in(&old, path) && !takes_in(&new, path));
        let path = lost.next().filter(|_| written)?;
        Some(at(file.path, number, Detail::Path(path.clone())))
    };
    let (old, new) = (loops(&before, &after), loops(&after, &before));
    old.into_iter().zip(new).filter_map(lost).collect()
}

/// Returns the place where a loop over tests now skips one, for another reason than a missing file.
fn passed_over(file: &ChangedFile<'_>) -> Option<Violation> {
    let (before, after) = file.texts();
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
    let mut numbered = (1_u32..).zip(after.lines());
    let (number, line) = numbered.find(|(number, line)| is_next(line) && !is_guard(*number))?;
    (times(&after) > times(&before)).then(|| at_line(file.path, number, line))
}

/// Returns the place where a test script that still exists is no longer run.
fn another_script(change: &Change<'_>, file: &ChangedFile<'_>) -> Option<Violation> {
    let (before, after) = file.texts();
    let scripts = |line: &str| -> Vec<String> {
        let bare = |word: &str| {
            let word = word.trim_start_matches('@').trim_start_matches("./");
            word.trim_matches(['"', '\'']).to_owned()
        };
        let words = line.split_whitespace().map(bare);
        words
            .filter(|word| change.head.contains(word) && role(word) == Role::Test)
            .collect()
    };
    let mut lost = more(&before, &after).into_iter().flat_map(|(_, line)| scripts(line));
    let script = lost.find(|script| !after.contains(script.as_str()))?;
    Some(match more(&after, &before).first() {
        Some((line, _)) => at(file.path, *line, Detail::Path(script)),
        None => in_file(file.path, Detail::Path(script)),
    })
}
