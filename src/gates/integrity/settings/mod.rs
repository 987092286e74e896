//! Settings of runners and coverage tools that are made to do less.

mod codecov;
mod command;
mod flat;
mod judge;
mod kinds;
mod lines;
mod make;
mod runs;

use crate::domain::integrity::IntegrityFinding;
use crate::gates::integrity::Change;
use crate::gates::integrity::Version;
use crate::gates::integrity::reading::ReadFile;
use crate::gates::language::ALL;
use crate::gates::language::Role;
use crate::gates::language::outline::Setting;
use crate::gates::language::settings::Watched;
use flat::flatten;

/// Everything that settings, scripts and CI no longer do.
pub(super) fn find(change: &Change<'_>, files: &[ReadFile<'_>]) -> Vec<IntegrityFinding> {
    let mut findings = Vec::new();
    for file in files.iter().filter(|file| file.role == Role::Settings) {
        findings.extend(in_settings(change, file));
    }
    findings.extend(lines::find(files));
    findings.extend(make::find(change, files));
    findings.extend(runs::find(change, files));
    findings
}

fn in_settings(change: &Change<'_>, file: &ReadFile<'_>) -> Vec<IntegrityFinding> {
    let read = |version: &Version, of_code: &[Setting]| {
        let text = version.bytes().map(String::from_utf8_lossy).unwrap_or_default();
        let mut settings = flatten(file.path, &text);
        settings.extend(of_code.iter().cloned());
        settings
    };
    let before = read(&file.file.before, &file.before.settings);
    let after = read(&file.file.after, &file.after.settings);
    let mut findings = Vec::new();
    let mut names: Vec<&str> = before
        .iter()
        .chain(&after)
        .map(|setting| setting.name.as_str())
        .collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        let value = |settings: &[Setting]| settings.iter().find(|setting| setting.name == name).cloned();
        let (old, new) = (value(&before), value(&after));
        if old.as_ref().map(|old| &old.values) == new.as_ref().map(|new| &new.values) {
            continue;
        }
        let watched = ALL
            .iter()
            .flat_map(|language| language.watched.iter())
            .find(|watched| is_named(watched, name));
        if let Some(watched) = watched {
            findings.extend(judge::judge(change, file, watched, old.as_ref(), new.as_ref()));
        }
    }
    findings
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
