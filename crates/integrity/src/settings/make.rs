//! Finds make files that do less: through a second make file, flags, conditions, or second recipes.

use super::lines::more;
use crate::{
    change::{Change, Version},
    changed_file::{ChangedFile, Reading},
    language::file_name,
    make::{FILES, TARGETS, rules},
    rules::rule::{Violation, at, at_line},
    words::is_one_of,
};
use domain::integrity::Detail;

/// Flags with which make continues after failures, or only shows what it would do.
const CALM: &str = "--ignore-errors --keep-going --dry-run --just-print --recon --touch --question i k n t q";

/// Finds everything that make no longer does.
pub(super) fn find(reading: &Reading<'_>) -> Vec<Violation> {
    let change = reading.change;
    let mut findings = Vec::new();
    for file in reading.files.iter().filter(|file| file.file.after != Version::Absent) {
        findings.extend(in_front(change, file));
        if is_make(file.path) {
            findings.extend(calmed(file));
            findings.extend(conditions(file));
            findings.extend(second_recipe(change, file));
        }
    }
    findings
}

fn is_make(path: &str) -> bool {
    FILES.contains(&file_name(path)) || path.ends_with(".mk")
}

fn is_new(file: &ChangedFile<'_>) -> bool {
    file.file.before == Version::Absent
}

/// Returns the place of a new make file that make reads instead of an existing one.
fn in_front(change: &Change<'_>, file: &ChangedFile<'_>) -> Option<Violation> {
    let name = file_name(file.path);
    let place = FILES.iter().position(|known| *known == name).filter(|_| is_new(file))?;
    let folder = file.path.strip_suffix(name)?;
    let later = FILES.iter().skip(place.checked_add(1)?);
    let mut paths = later.map(|later| format!("{folder}{later}"));
    let hidden = paths.find(|path| change.head.contains(path))?;
    Some(at(file.path, 1, Detail::Path(hidden)))
}

/// Finds make's flags that ignore failures.
fn calmed(file: &ChangedFile<'_>) -> Vec<Violation> {
    let (before, after) = file.texts();
    let is_calm = |line: &str| {
        let Some((name, flags)) = line.split_once('=') else {
            return false;
        };
        let name = name.trim_end_matches(['+', ':', '?', ' ']).trim();
        let named = ["MAKEFLAGS", "MFLAGS"].iter().any(|flags| name.ends_with(flags));
        let short = |word: &str| {
            let letters = word.trim_start_matches('-');
            let is_word = letters.len() < 5 && letters.chars().all(|c| c.is_ascii_alphabetic());
            is_word && !word.starts_with("--") && letters.chars().any(|c| is_one_of(CALM, &c.to_string()))
        };
        named
            && flags
                .split_whitespace()
                .any(|word| is_one_of(CALM, word) || short(word))
    };
    let new = more(&after, &before).into_iter();
    let calm = new.filter(|(_, line)| is_calm(line.trim()));
    calm.map(|(number, line)| at_line(file.path, number, line)).collect()
}

/// Finds new conditions around commands that ran without one.
fn conditions(file: &ChangedFile<'_>) -> Vec<Violation> {
    let (before, after) = file.texts();
    let begins = |line: &str| {
        ["ifdef", "ifndef", "ifeq", "ifneq"]
            .iter()
            .any(|word| line.starts_with(word))
    };
    let kept: Vec<&str> = before.lines().filter(|line| line.starts_with('\t')).collect();
    let holds_old = |number: u32| {
        let below = after.lines().skip(usize::try_from(number).unwrap_or(usize::MAX));
        let mut inside = below.take_while(|line| !line.trim_start().starts_with("endif"));
        inside.any(|line| kept.contains(&line))
    };
    let new = more(&after, &before).into_iter();
    let found = new.filter(|(number, line)| begins(line.trim()) && holds_old(*number));
    found.map(|(number, line)| at_line(file.path, number, line)).collect()
}

/// Returns the place of a new recipe for a test target, in another file than the make file.
fn second_recipe(change: &Change<'_>, file: &ChangedFile<'_>) -> Option<Violation> {
    let is_beside = is_new(file) && !FILES.contains(&file_name(file.path));
    let made = FILES.iter().any(|name| change.base.contains(*name));
    let (_, after) = file.texts();
    let (number, name) = rules(&after).find_map(|rule| {
        let name = rule.targets.iter().find(|name| TARGETS.contains(name))?;
        Some((rule.line, *name))
    })?;
    (is_beside && made).then(|| at_line(file.path, number, name))
}
