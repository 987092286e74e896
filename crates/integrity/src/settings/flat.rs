//! Reads settings files of several formats into one list of names and values.

use crate::language::outline::Setting;
use std::collections::HashMap;

/// The deepest nesting and the most values; files beyond these are of no use to people.
const DEEPEST: usize = 12;
const MOST: usize = 20_000;

/// Returns every value of a TOML, JSON, INI or simple YAML file; empty if it cannot be parsed.
pub(super) fn flatten(path: &str, text: &str) -> Vec<Setting> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let mut settings = Vec::new();
    if name.ends_with(".toml") || name == "config" {
        if let Ok(table) = toml::from_str::<serde_json::Value>(text) {
            walk("", &table, &Lines::of(text), 0, &mut settings);
        }
    } else if let Ok(value) = serde_json::from_str::<serde_json::Value>(text) {
        walk("", &value, &Lines::of(text), 0, &mut settings);
    } else if !matches!(
        name.rsplit('.').next(),
        Some("js" | "cjs" | "mjs" | "ts" | "cts" | "mts")
    ) {
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
    let below = |key: &str| {
        if name.is_empty() {
            key.to_owned()
        } else {
            format!("{name}.{key}")
        }
    };
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                walk(&below(key), value, lines, depth.saturating_add(1), settings);
            }
        }
        Value::Array(items) if items.iter().any(Value::is_object) => {
            for (at, item) in items.iter().enumerate() {
                let key = item
                    .get("name")
                    .and_then(Value::as_str)
                    .map_or_else(|| at.to_string(), str::to_owned);
                walk(
                    &below(&key.replace('.', "_")),
                    item,
                    lines,
                    depth.saturating_add(1),
                    settings,
                );
            }
        }
        Value::Array(items) => {
            let values: Vec<String> = items.iter().map(plain).collect();
            settings.push(Setting {
                line: lines.line_of(name, &values),
                name: name.to_owned(),
                values,
            });
        }
        other @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => {
            let values = vec![plain(other)];
            settings.push(Setting {
                line: lines.line_of(name, &values),
                name: name.to_owned(),
                values,
            });
        }
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
    let quoted = start.strip_suffix(['"', '\'']);
    let key = match quoted {
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
                let name = if section.is_empty() {
                    key.trim().to_owned()
                } else {
                    format!("{section}.{}", key.trim())
                };
                let value = value.trim().trim_matches(['"', '\'']);
                let values = if value.is_empty() {
                    Vec::new()
                } else {
                    vec![value.to_owned()]
                };
                settings.push(Setting {
                    name,
                    values,
                    line: number,
                });
            }
            (None, Some(last)) => last
                .values
                .push(plain.trim_start_matches("- ").trim_matches(['"', '\'']).to_owned()),
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
