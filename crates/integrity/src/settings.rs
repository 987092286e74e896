//! Reads settings files of several formats into one list of names and values.

use crate::language::{file_name, outline::Setting};
use std::collections::HashMap;

/// The deepest nesting and the most values; files beyond these are of no use to people.
const DEEPEST: usize = 12;
const MOST: usize = 20_000;

/// Returns every value of a TOML, JSON, INI or simple YAML file; empty if it cannot be parsed.
pub(crate) fn flatten(path: &str, text: &str) -> Vec<Setting> {
    let name = file_name(path);
    let is_toml = name.ends_with(".toml") || name == "config";
    let value: Option<serde_json::Value> = if is_toml {
        toml::from_str(text).ok()
    } else {
        text::json::read(text.as_bytes()).ok()
    };
    let extension = name.rsplit('.').next().unwrap_or_default();
    let mut settings = Vec::new();
    if let Some(value) = value {
        walk("", &value, &Lines::of(text), 0, &mut settings);
    } else if !is_toml && !matches!(extension, "js" | "cjs" | "mjs" | "ts" | "cts" | "mts") {
        settings = by_lines(text);
    }
    settings.truncate(MOST);
    settings
}

fn walk(name: &str, value: &serde_json::Value, lines: &Lines<'_>, depth: usize, settings: &mut Vec<Setting>) {
    use serde_json::Value;
    if depth > DEEPEST || settings.len() > MOST {
        return;
    }
    let mut walk_below = |key: &str, value: &Value| {
        walk(&below(name, key), value, lines, depth.saturating_add(1), settings);
    };
    let values: Vec<String> = match value {
        Value::Object(map) => return map.iter().for_each(|(key, value)| walk_below(key, value)),
        Value::Array(items) if items.iter().any(Value::is_object) => {
            for (at, item) in items.iter().enumerate() {
                let own = item.get("name").and_then(Value::as_str);
                let key = own.map_or_else(|| at.to_string(), str::to_owned);
                walk_below(&key.replace('.', "_"), item);
            }
            return;
        }
        Value::Array(items) => items.iter().map(plain).collect(),
        other @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => vec![plain(other)],
    };
    settings.push(Setting {
        line: lines.line_of(name, &values),
        name: name.to_owned(),
        values,
    });
}

/// Returns the dotted name of a key in a section, or outside of any.
fn below(section: &str, key: &str) -> String {
    match section {
        "" => key.to_owned(),
        section => format!("{section}.{key}"),
    }
}

fn plain(value: &serde_json::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The number of bytes around `:` or `=` that are read, since a line may be as long as the file.
const NEAR: usize = 200;

/// The first line for each key before `:` or `=`, and for each pair of key and value.
#[derive(Default)]
struct Lines<'t> {
    of_keys: HashMap<&'t str, u32>,
    of_both: HashMap<(&'t str, &'t str), u32>,
}

impl<'t> Lines<'t> {
    fn of(text: &'t str) -> Self {
        let mut lines = Self::default();
        for (number, line) in (1_u32..).zip(text.lines()) {
            for (at, _) in line.match_indices([':', '=']) {
                let from = line.ceil_char_boundary(at.saturating_sub(NEAR));
                let to = line.floor_char_boundary(at.saturating_add(NEAR));
                let key = key_before(line.get(from..at).unwrap_or_default());
                let value = line.get(at.saturating_add(1)..to).unwrap_or_default();
                let value = value.trim_matches([' ', '\t', ',', '"', '\'']);
                lines.of_keys.entry(key).or_insert(number);
                lines.of_both.entry((key, value)).or_insert(number);
            }
        }
        lines
    }

    /// Returns the line of a value: one with its key and value, else one with its key.
    fn line_of(&self, name: &str, values: &[String]) -> u32 {
        let key = name.rsplit('.').next().unwrap_or(name);
        let value = values.last().map_or("", String::as_str);
        let both = self.of_both.get(&(key, value));
        both.or_else(|| self.of_keys.get(key)).copied().unwrap_or(1)
    }
}

/// Returns the last part of the key that ends before `:` or `=`: a quoted key, or one word.
fn key_before(start: &str) -> &str {
    let start = start.trim_end();
    let key = match start.strip_suffix(['"', '\'']) {
        Some(inside) => inside.rsplit(['"', '\'']).next(),
        None => start.rsplit([' ', '\t', '{', ',']).next(),
    };
    key.and_then(|key| key.rsplit('.').next()).unwrap_or_default()
}

/// Reads `[section]`, `key = value` or `key: value`, and indented continuation lines.
fn by_lines(text: &str) -> Vec<Setting> {
    let mut section = String::new();
    let mut settings: Vec<Setting> = Vec::new();
    for (number, line) in (1_u32..).zip(text.lines()) {
        let plain = line.trim();
        if plain.is_empty() || plain.starts_with(['#', ';']) {
            continue;
        }
        if let Some(name) = plain.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            name.clone_into(&mut section);
            continue;
        }
        let goes_on = line.starts_with([' ', '\t']) || plain.starts_with("- ");
        let split = plain.split_once(['=', ':']).filter(|_| !goes_on);
        match (split, settings.last_mut()) {
            (Some((key, value)), _) => {
                let value = Some(value.trim().trim_matches(['"', '\''])).filter(|value| !value.is_empty());
                settings.push(Setting {
                    name: below(&section, key.trim()),
                    values: value.into_iter().map(str::to_owned).collect(),
                    line: number,
                });
            }
            (None, Some(last)) => {
                let value = plain.trim_start_matches("- ").trim_matches(['"', '\'']);
                last.values.push(value.to_owned());
            }
            (None, None) => {}
        }
    }
    settings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(path: &str, text: &str) -> Vec<String> {
        flatten(path, text)
            .into_iter()
            .map(|setting| format!("{}={}@{}", setting.name, setting.values.join("|"), setting.line))
            .collect()
    }

    #[test]
    fn every_format_becomes_the_same_list() {
        assert_eq!(
            shown(
                "pyproject.toml",
                "[tool.x]\na = [\"b\", \"c\"]\n[[test]]\nname = \"t\"\nharness = false\n"
            ),
            ["test.t.harness=false@5", "test.t.name=t@4", "tool.x.a=b|c@2"]
        );
        assert_eq!(
            shown("package.json", "{\n \"scripts\": {\n  \"test\": \"jest\"\n }\n}"),
            ["scripts.test=jest@3"]
        );
        assert_eq!(
            shown("tox.ini", "[pytest]\naddopts =\n  -q\n  -x\n"),
            ["pytest.addopts=-q|-x@2"]
        );
        assert_eq!(shown("pyproject.toml", "= ["), Vec::<String>::new());
    }
}
