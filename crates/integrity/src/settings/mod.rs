//! Finds weakened settings of runners and coverage tools, scripts and CI, for the rules about them.

mod codecov;
mod command;
mod flat;
mod judge;
mod kinds;
mod lines;
mod make;
mod moved;
mod options;
mod runs;

use crate::{
    changed_file::{ChangedFile, Reading},
    language::{
        ALL, Role,
        outline::Setting,
        settings::{Purpose, Watched},
    },
    rules::rule::Violation,
};
use moved::Sides;
use std::collections::{BTreeMap, BTreeSet};

/// Finds settings that are weaker than before.
pub(crate) fn find(reading: &Reading<'_>, purpose: Purpose) -> Vec<Violation> {
    let of_settings = || reading.files.iter().filter(|file| is_settings(file));
    let all: Vec<Sides<'_>> = of_settings().map(Sides::read).collect();
    all.iter()
        .flat_map(|own| in_settings(reading, own, &all, purpose))
        .collect()
}

/// Finds what scripts and make files no longer do.
pub(crate) fn scripts(reading: &Reading<'_>) -> Vec<Violation> {
    [lines::scripts(reading), make::find(reading), runs::find(reading)]
        .into_iter()
        .flatten()
        .collect()
}

pub(crate) use codecov::codecov;
pub(crate) use lines::ci;

/// `true` if a file contains settings: by its role, or because its name says that it maps imports.
fn is_settings(file: &ChangedFile<'_>) -> bool {
    let name = crate::language::file_name(file.path);
    file.role == Role::Settings || name.starts_with("tsconfig") && name.ends_with(".json")
}

fn in_settings(reading: &Reading<'_>, own: &Sides<'_>, all: &[Sides<'_>], purpose: Purpose) -> Vec<Violation> {
    let (before, after) = (by_name(&own.before), by_name(&own.after));
    let names: BTreeSet<&str> = before.keys().chain(after.keys()).copied().collect();
    let mut found = Vec::new();
    for name in names {
        let (old, new) = (before.get(name).copied(), after.get(name).copied());
        if old.map(|old| &old.values) == new.map(|new| &new.values) {
            continue;
        }
        let watched = watched(name).filter(|watched| watched.purpose == purpose);
        let Some(watched) = watched.filter(|_| !is_of_other_tool(name)) else {
            continue;
        };
        let old = match (old, new) {
            // A moved setting is judged at its new place.
            (Some(_), None) if moved::to(name, all) => continue,
            (None, Some(_)) => moved::from(name, all),
            (old, _) => old,
        };
        if old.map(|old| &old.values) != new.map(|new| &new.values) {
            found.extend(judge::judge(reading.change, own, watched, old, new));
        }
    }
    found
}

/// Returns the settings of a file by name; of several with one name, the first.
fn by_name(settings: &[Setting]) -> BTreeMap<&str, &Setting> {
    let backwards = settings.iter().rev();
    backwards.map(|setting| (setting.name.as_str(), setting)).collect()
}

/// `true` if a setting belongs to a tool that runs no tests, such as a formatter or a packager.
fn is_of_other_tool(name: &str) -> bool {
    let others = ["tool.ruff.", "tool.black.", "tool.mypy.", "package.exclude"];
    others.iter().any(|start| name.starts_with(start))
}

/// Returns how a setting of this name can be weakened, if it can.
fn watched(name: &str) -> Option<&'static Watched> {
    let mut all = ALL.iter().flat_map(|language| language.settings.iter());
    all.find(|watched| {
        watched
            .names
            .split(", ")
            .any(|wanted| is_named(wanted, watched.purpose, name))
    })
}

/// `true` if a dotted name ends like a watched one.
fn is_named(wanted: &str, purpose: Purpose, name: &str) -> bool {
    let wanted: Vec<&str> = wanted.split('.').collect();
    // The names below these are paths and packages, which contain dots.
    if let (Purpose::Imports, [first, "*"]) = (purpose, wanted.as_slice()) {
        let tail = name.split_once(&format!("{first}."));
        return tail.is_some_and(|(_, tail)| !tail.is_empty());
    }
    let name: Vec<&str> = name.split('.').collect();
    let end = name.get(name.len().saturating_sub(wanted.len())..).unwrap_or_default();
    let same = |(wanted, part): (&&str, &&str)| match wanted.strip_suffix('*') {
        Some(start) => part.starts_with(start),
        None => wanted == part || wanted.len() > 3 && part.split(':').next() == Some(wanted),
    };
    end.len() == wanted.len() && wanted.iter().zip(end).all(same)
}
