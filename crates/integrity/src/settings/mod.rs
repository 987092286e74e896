//! Settings of runners and coverage tools that are made to do less.

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
    Change,
    language::{ALL, Role, outline::Setting, settings::Watched},
    reading::ReadFile,
};
use domain::integrity::IntegrityFinding;
use moved::Sides;

/// Everything that settings, scripts and CI no longer do.
pub(super) fn find(change: &Change<'_>, files: &[ReadFile<'_>]) -> Vec<IntegrityFinding> {
    let mut findings = Vec::new();
    let of_settings = || files.iter().filter(|file| file.role == Role::Settings);
    let all: Vec<Sides<'_>> = of_settings().map(Sides::read).collect();
    for file in of_settings() {
        findings.extend(in_settings(change, file, &all));
    }
    findings.extend(lines::find(files));
    findings.extend(make::find(change, files));
    findings.extend(runs::find(change, files));
    findings
}

fn in_settings(change: &Change<'_>, file: &ReadFile<'_>, all: &[Sides<'_>]) -> Vec<IntegrityFinding> {
    let Some(own) = all.iter().find(|sides| sides.path == file.path) else {
        return Vec::new();
    };
    let mut findings = Vec::new();
    let mut names: Vec<&str> = own
        .before
        .iter()
        .chain(&own.after)
        .map(|setting| setting.name.as_str())
        .collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        let Some(watched) = watched(name).filter(|_| !is_of_other_tool(name)) else {
            continue;
        };
        let (old, new) = match (named(&own.before, name), named(&own.after, name)) {
            // What another file says now is judged there.
            (Some(_), None) if moved::to_another(own, name, all) => continue,
            (None, Some(new)) => (moved::from_another(own, name, all), Some(new)),
            both => both,
        };
        if old.map(|old| &old.values) != new.map(|new| &new.values) {
            findings.extend(judge::judge(change, file, watched, old, new));
        }
    }
    findings
}

fn named<'s>(settings: &'s [Setting], name: &str) -> Option<&'s Setting> {
    settings.iter().find(|setting| setting.name == name)
}

/// Whether a setting belongs to a tool that runs no tests: a formatter, or what packs a release.
fn is_of_other_tool(name: &str) -> bool {
    ["tool.ruff.", "tool.black.", "tool.mypy.", "package.exclude"]
        .iter()
        .any(|start| name.starts_with(start))
}

/// How a setting of this name can be made to do less, if it can.
fn watched(name: &str) -> Option<&'static Watched> {
    let mut all = ALL.iter().flat_map(|language| language.watched.iter());
    all.find(|watched| is_named(watched, name))
}

/// Whether a dotted name ends as a watched one does.
fn is_named(watched: &Watched, name: &str) -> bool {
    let name: Vec<&str> = name.split('.').collect();
    let wanted: Vec<&str> = watched.name.split('.').collect();
    let end = name.get(name.len().saturating_sub(wanted.len())..).unwrap_or_default();
    let same = |(wanted, part): (&&str, &&str)| match wanted.strip_suffix('*') {
        Some(start) => part.starts_with(start),
        None => wanted == part || wanted.len() > 3 && part.split(':').next() == Some(wanted),
    };
    end.len() == wanted.len() && wanted.iter().zip(end).all(same)
}
