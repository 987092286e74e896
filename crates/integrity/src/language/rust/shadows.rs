//! Crates that take the place of real ones: patches, and dependencies that point elsewhere than before.

use crate::language::{
    glance::{Glance, Shadow},
    role,
};
use toml::{Table, Value};

pub(super) fn shadows(glance: &Glance<'_>) -> Vec<Shadow> {
    let name = role::file_name(glance.path);
    let settings = glance.path.ends_with(".cargo/config.toml") || glance.path.ends_with(".cargo/config");
    if name != "Cargo.toml" && !settings {
        return Vec::new();
    }
    let table = |text: &str| text.parse::<Table>().unwrap_or_default();
    let now = table(glance.after);
    let was = glance.before.map(table).unwrap_or_default();
    let mut found = patches(glance, &now, &was);
    for section in ["dependencies", "dev-dependencies", "build-dependencies"] {
        found.extend(moved(glance, section, &now, &was));
    }
    found
}

/// `[patch]`, `[replace]` and replaced sources, as far as they lead into the repository.
fn patches(glance: &Glance<'_>, now: &Table, was: &Table) -> Vec<Shadow> {
    let mut found = Vec::new();
    for section in ["patch", "replace", "source", "paths"] {
        let (Some(new), old) = (now.get(section), was.get(section)) else {
            continue;
        };
        if Some(new) == old || !leads_inside(new) {
            continue;
        }
        found.push(Shadow {
            line: glance.line_of(&format!("[{section}")),
            what: format!("`{section}` puts crates of this repository in the place of real ones"),
        });
    }
    found
}

fn leads_inside(value: &Value) -> bool {
    match value {
        Value::Table(table) => table.iter().any(|(key, value)| match value {
            Value::String(_) => matches!(key.as_str(), "path" | "directory" | "local-registry"),
            other => leads_inside(other),
        }),
        Value::Array(values) => values.iter().any(|value| value.is_str() || leads_inside(value)),
        _ => false,
    }
}

/// A dependency whose crate came from elsewhere, which is still there, and comes from a path now.
fn moved(glance: &Glance<'_>, section: &str, now: &Table, was: &Table) -> Vec<Shadow> {
    let entries = |table: &Table| {
        table
            .get(section)
            .and_then(Value::as_table)
            .cloned()
            .unwrap_or_default()
    };
    let (now, was) = (entries(now), entries(was));
    let path = |value: &Value| value.get("path").and_then(Value::as_str).map(str::to_owned);
    let folder = glance.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    now.iter()
        .filter_map(|(name, value)| {
            let (to, before) = (path(value)?, was.get(name)?);
            let from = path(before);
            let moved_away = from
                .as_ref()
                .is_some_and(|from| !glance.exists(format!("{folder}/{from}").trim_start_matches('/')));
            let is_new = from.as_ref() != Some(&to) && !moved_away;
            is_new.then(|| Shadow {
                line: glance.line_of(&format!("{name} ")),
                what: format!("the crate `{name}` is taken from `{to}` instead of where it was"),
            })
        })
        .collect()
}
