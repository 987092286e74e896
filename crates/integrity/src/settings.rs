//! Reads settings files of several formats into one list of names and values.

use crate::language::{file_name, outline::Setting};

/// The deepest nesting and the most values; no settings file that people write has more.
const DEEPEST: usize = 12;
const MOST: usize = 20_000;

/// Returns every value of a TOML, JSON, INI or simple YAML file; empty if it cannot be parsed.
pub(crate) fn flatten(path: &str, text: &str) -> Vec<Setting> {
    let name = file_name(path);
    let is_toml = name.ends_with(".toml") || name == "config";
    let value: Option<serde_json::Value> =
        if is_toml { toml::from_str(text).ok() } else { text::json::read(text.as_bytes()).ok() };
    let extension = name.rsplit('.').next().unwrap_or_default();
    let mut settings = Vec::new();
    if let Some(value) = value {
        walk("", &value, 0, &mut settings);
    } else if !is_toml && !matches!(extension, "js" | "cjs" | "mjs" | "ts" | "cts" | "mts") {
        settings = by_lines(text);
    }
    settings.truncate(MOST);
    settings
}

fn walk(name: &str, value: &serde_json::Value, depth: usize, settings: &mut Vec<Setting>) {
    use serde_json::Value;
    if depth > DEEPEST || settings.len() > MOST {
        return;
    }
    let mut walk_below = |key: &str, value: &Value| {
        walk(&dotted_name(name, key), value, depth.saturating_add(1), settings);
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
    settings.push(Setting { name: name.to_owned(), values });
}

fn dotted_name(section: &str, key: &str) -> String {
    match section {
        "" => key.to_owned(),
        section => format!("{section}.{key}"),
    }
}

fn plain(value: &serde_json::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Reads `[section]`, `key = value` or `key: value`, and indented continuation lines.
fn by_lines(text: &str) -> Vec<Setting> {
    let mut section = String::new();
    let mut settings: Vec<Setting> = Vec::new();
    for line in text.lines() {
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
                    name: dotted_name(&section, key.trim()),
                    values: value.into_iter().map(str::to_owned).collect(),
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

    fn flatten_to_lines(path: &str, text: &str) -> Vec<String> {
        flatten(path, text)
            .into_iter()
            .map(|setting| format!("{}={}", setting.name, setting.values.join("|")))
            .collect()
    }

    #[test]
    fn every_format_becomes_the_same_list() {
        assert_eq!(
            flatten_to_lines(
                "pyproject.toml",
                "[tool.x]\na = [\"b\", \"c\"]\n[[test]]\nname = \"t\"\nharness = false\n"
            ),
            ["test.t.harness=false", "test.t.name=t", "tool.x.a=b|c"]
        );
        assert_eq!(
            flatten_to_lines("package.json", "{\n \"scripts\": {\n  \"test\": \"jest\"\n }\n}"),
            ["scripts.test=jest"]
        );
        assert_eq!(flatten_to_lines("tox.ini", "[pytest]\naddopts =\n  -q\n  -x\n"), ["pytest.addopts=-q|-x"]);
        assert_eq!(flatten_to_lines("pyproject.toml", "= ["), Vec::<String>::new());
    }
}
