//! Reads a settings file by a table of its keys: each key's name, the shape of its value, the valid values, and its
//! JSON Schema.

use domain::{network::HostRule, plan::path::within_repository, protected_paths::ProtectedPaths, titles::TitleForm};
use serde_json::{Value as Json, json};
use text::{
    mistake::{Position, SettingsMistake},
    nearest::nearest,
    node::{Node, Shape as Value},
    shell_command::{NotACommand, ShellCommand},
};

/// The largest amount of money or hours that is accepted.
pub(crate) const LARGEST_AMOUNT: f64 = 10_000_000.0;
const MAX_MISTAKES: usize = 50;
const MAX_LIST: usize = 200;
const MAX_ITEM: usize = 300;
const MAX_TITLES: usize = 100;
const MAX_SECONDS: i64 = 24 * 3_600;
/// A number, in seconds or with a unit.
const DURATION_PATTERN: &str = "^[0-9]+ ?[smh]?$";

#[derive(Clone, Copy)]
pub(crate) enum Shape {
    /// A text on one line with at most this many characters.
    Text(usize),
    /// A command: one line for a shell.
    Command,
    /// A whole number from 0 to this, which is the largest that its type holds. The server limits it.
    Whole(i64),
    /// A number from 0 to [`LARGEST_AMOUNT`]. The server limits it.
    Amount,
    /// A share in percent.
    Percent,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// `never`, `always` or a complexity.
    Approval,
    /// The name of an agent that the server offers.
    Agent,
    /// The name of a model that the server allows, or `fast` or `strong`.
    Model,
    /// A duration: a number of seconds, or a number with a unit.
    Duration,
    Titles,
    /// The path of a file within the repository.
    Path,
    /// A list of path patterns within the repository.
    Paths,
    /// A list of host names.
    Hosts,
    Table(&'static [SettingKey]),
    /// One value for all of these keys, or a table with them.
    Each(&'static [SettingKey]),
}

struct Problem {
    place: Position,
    text: String,
}

/// Converts one value to the JSON that the settings' type deserializes.
fn read(shape: &Shape, node: &Node, offered: &Offer) -> Result<Json, Problem> {
    match shape {
        Shape::Text(max) => text(node, *max).map(Json::from),
        Shape::Command => command(node),
        Shape::Whole(largest) => match node.whole() {
            Some(value) if (0..=*largest).contains(&value) => Ok(value.into()),
            Some(value) if value > *largest => Err(too_large(node)),
            None if digits(node).is_some_and(|value| value > 1e18) => Err(too_large(node)),
            Some(_) | None => Err(unfit(node)),
        },
        Shape::Amount if node.number().is_some_and(|value| value > LARGEST_AMOUNT) => Err(too_large(node)),
        Shape::Amount => fit(node, node.number().filter(|value| *value >= 0.0)),
        Shape::Percent => fit(node, node.number().filter(|value| (0.0..=100.0).contains(value))),
        Shape::OneOf(words) => fit(node, node.text().filter(|word| words.contains(word))),
        Shape::Approval => match (node.text(), node.whole()) {
            (Some(word @ ("never" | "always")), _) => Ok(word.into()),
            (_, Some(from @ 1..=10)) => Ok(json!({ "from": from })),
            _ => Err(unfit(node)),
        },
        Shape::Agent => agent(node, &offered.agents),
        Shape::Model => model(node, offered),
        Shape::Duration => fit(node, duration(node)),
        Shape::Titles => titles(node),
        Shape::Path => path(node),
        Shape::Paths => list(node, path_pattern),
        Shape::Hosts => list(node, host),
        // Tables are read by `keys`, key by key.
        Shape::Table(_) | Shape::Each(_) => Err(unfit(node)),
    }
}

/// Describes the valid values in words.
fn valid(shape: &Shape, offered: &Offer) -> String {
    match shape {
        Shape::Text(max) => format!("a text of 1 to {max} characters on one line"),
        Shape::Command => "a command on one line, as in a CI file".to_owned(),
        Shape::Whole(_) => "a whole number, at least 0".to_owned(),
        Shape::Amount => "a number, at least 0".to_owned(),
        Shape::Percent => "a number from 0 to 100".to_owned(),
        Shape::OneOf(words) => join_with_or(words),
        Shape::Approval => "never, always or a whole number from 1 to 10".to_owned(),
        Shape::Agent if offered.agents.is_empty() => "nothing: this server offers no agent by name".to_owned(),
        Shape::Agent => join_with_or(&offered.agents.iter().map(String::as_str).collect::<Vec<_>>()),
        Shape::Model => join_with_or(&offered.models()),
        Shape::Duration => "seconds, or a number with s, m or h, from 1s to 24h".to_owned(),
        Shape::Titles => "a text with `{name}` or `{subject}`, such as `{type}: {subject}`".to_owned(),
        Shape::Path => "the path of a file within the repository, such as `out/junit.xml`".to_owned(),
        Shape::Paths => {
            format!("a list of at most {MAX_LIST} patterns of paths within the repository, such as `docs/**`")
        }
        Shape::Hosts => format!("a list of at most {MAX_LIST} host names, such as `example.com` or `*.example.com`"),
        Shape::Table(keys) | Shape::Each(keys) => names(keys),
    }
}

pub(crate) fn schema(shape: &Shape) -> Json {
    match shape {
        Shape::Text(max) => json!({ "type": "string", "minLength": 1, "maxLength": max }),
        Shape::Command | Shape::Agent | Shape::Model => json!({ "type": "string", "minLength": 1 }),
        Shape::Whole(_) => json!({ "type": "integer", "minimum": 0 }),
        Shape::Amount => json!({ "type": "number", "minimum": 0.0 }),
        Shape::Percent => json!({ "type": "number", "minimum": 0.0, "maximum": 100.0 }),
        Shape::OneOf(words) => json!({ "enum": words }),
        Shape::Approval => json!({ "anyOf": [
            { "enum": ["never", "always"] },
            { "type": "integer", "minimum": 1, "maximum": 10 },
        ]}),
        Shape::Duration => json!({ "anyOf": [
            { "type": "integer", "minimum": 1, "maximum": MAX_SECONDS },
            { "type": "string", "pattern": DURATION_PATTERN },
        ]}),
        Shape::Titles => json!({ "type": "string", "minLength": 1, "maxLength": MAX_TITLES }),
        Shape::Path => json!({ "type": "string", "minLength": 1, "maxLength": MAX_ITEM }),
        Shape::Paths | Shape::Hosts => json!({
            "type": "array", "maxItems": MAX_LIST,
            "items": { "type": "string", "minLength": 1, "maxLength": MAX_ITEM },
        }),
        Shape::Table(keys) => json!({
            "type": "object", "additionalProperties": false,
            "properties": keys.iter().map(|key| {
                let mut inner = schema(&key.shape);
                if let Some(object) = inner.as_object_mut() {
                    object.insert("description".to_owned(), key.about.into());
                }
                (key.name.to_owned(), inner)
            }).collect::<serde_json::Map<_, _>>(),
        }),
        Shape::Each(keys) => json!({ "anyOf": [
            keys.first().map(|key| schema(&key.shape)),
            schema(&Shape::Table(keys)),
        ]}),
    }
}

fn problem(node: &Node, text: String) -> Problem {
    Problem { place: node.at(), text }
}

/// Returns the problem that a value has the wrong kind or is out of bounds. A short value is shown.
fn unfit(node: &Node) -> Problem {
    let shown = match (node.text().filter(|text| text.chars().count() <= 60), node.number()) {
        (Some(text), _) => format!("`{text}`"),
        (None, Some(_)) => node.render_short(60),
        (None, None) => node.kind(),
    };
    problem(node, format!("{shown} is not valid here"))
}

/// Returns the number of a node, also one that no integer holds. Such a number is read as text.
fn digits(node: &Node) -> Option<f64> {
    node.number().or_else(|| node.text()?.parse().ok())
}

fn too_large(node: &Node) -> Problem {
    problem(node, "the number is too large".to_owned())
}

/// Returns the value, or the problem of a node without a fitting one.
fn fit(node: &Node, value: Option<impl Into<Json>>) -> Result<Json, Problem> {
    value.map(Into::into).ok_or_else(|| unfit(node))
}

fn text(node: &Node, max: usize) -> Result<&str, Problem> {
    let Some(text) = node.text() else {
        let found = node.kind();
        return Err(problem(node, format!("expected a text, found {found}; put it in quotes if it is one")));
    };
    let text = text.trim();
    let wrong = match text {
        "" => "the text is empty",
        _ if text.chars().count() > max => "the text is too long",
        _ if text.contains(char::is_control) => "the text is not one plain line",
        _ => return Ok(text),
    };
    Err(problem(node, wrong.to_owned()))
}

fn command(node: &Node) -> Result<Json, Problem> {
    if let Some(Err(wrong @ NotACommand::SeveralLines)) = node.text().map(ShellCommand::of_one_line) {
        return Err(problem(node, wrong.to_string()));
    }
    ShellCommand::of_one_line(text(node, MAX_ITEM * 10)?)
        .map(|command| command.text().into())
        .map_err(|error| problem(node, error.to_string()))
}

fn titles(node: &Node) -> Result<Json, Problem> {
    let form = text(node, MAX_TITLES)?.parse::<TitleForm>();
    form.map(|form| form.to_string().into()).map_err(|error| problem(node, error.to_string()))
}

fn agent(node: &Node, offered: &[String]) -> Result<Json, Problem> {
    let name = text(node, MAX_ITEM)?;
    if offered.iter().any(|known| known == name) {
        return Ok(name.into());
    }
    let wrong = if name.contains(':') || name.contains(char::is_whitespace) {
        "a repository names one of the server's agents, never a command line"
    } else {
        "this server offers no agent of that name"
    };
    Err(problem(node, wrong.to_owned()))
}

fn model(node: &Node, offered: &Offer) -> Result<Json, Problem> {
    let name = text(node, MAX_ITEM)?;
    if offered.models().contains(&name) {
        Ok(name.into())
    } else {
        Err(problem(node, "this server allows no model of that name".to_owned()))
    }
}

fn duration(node: &Node) -> Option<i64> {
    let given = node.text().map(str::trim);
    let found = node.whole().or_else(|| given.and_then(seconds));
    found.filter(|seconds| (1..=MAX_SECONDS).contains(seconds))
}

pub(crate) fn seconds(text: &str) -> Option<i64> {
    let (number, unit) = [("s", 1), ("m", 60), ("h", 3_600)]
        .into_iter()
        .find_map(|(letter, unit)| Some((text.strip_suffix(letter)?, unit)))
        .unwrap_or((text, 1));
    number.trim_end().parse::<i64>().ok()?.checked_mul(unit)
}

fn list(node: &Node, check: fn(&str) -> Result<(), String>) -> Result<Json, Problem> {
    let Some(items) = node.items() else {
        return Err(problem(node, format!("expected a list, found {}", node.kind())));
    };
    if items.len() > MAX_LIST {
        return Err(problem(node, format!("the list has more than {MAX_LIST} entries")));
    }
    items
        .iter()
        .map(|item| {
            let entry = text(item, MAX_ITEM)?;
            check(entry).map_err(|text| problem(item, text))?;
            Ok(Json::from(entry))
        })
        .collect()
}

/// Reads a file's path and normalizes it, for example `./out//junit.xml` to `out/junit.xml`.
fn path(node: &Node) -> Result<Json, Problem> {
    let given = text(node, MAX_ITEM)?;
    within_repository(given).map(Json::from).map_err(|why| problem(node, format!("`{given}` {why}")))
}

fn path_pattern(pattern: &str) -> Result<(), String> {
    if pattern.starts_with('/') || pattern.starts_with('!') || pattern.contains('\\') {
        return Err(format!("`{pattern}` does not begin with a name within the repository"));
    }
    if pattern.split('/').any(|part| part == "..") {
        return Err(format!("`{pattern}` leaves the repository"));
    }
    ProtectedPaths::new(&[pattern.to_owned()]).map(|_| ()).map_err(|_| format!("`{pattern}` is not a pattern"))
}

fn host(name: &str) -> Result<(), String> {
    let read = name.parse::<HostRule>();
    read.map(|_| ()).map_err(|why| format!("`{name}`: {why}"))
}

fn join_with_or(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [word] => (*word).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

pub(crate) struct SettingKey {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) shape: Shape,
}

/// The state of reading: the server's offer, and the mistakes so far.
pub(crate) struct Reading<'a> {
    pub(crate) offered: &'a Offer,
    pub(crate) mistakes: Vec<SettingsMistake>,
}

impl Reading<'_> {
    /// Reads a table of `keys`; keys that are missing or empty are left out of the result.
    pub(crate) fn table(&mut self, path: &str, keys: &'static [SettingKey], node: &Node) -> Json {
        let mut found = serde_json::Map::new();
        let Some(entries) = node.entries() else {
            let said = format!("expected a table, found {}", node.kind());
            self.wrong(node.at(), path, said, names(keys));
            return Json::Object(found);
        };
        for (name, value) in entries {
            let inner = join(path, &name.name);
            let Some(key) = keys.iter().find(|key| key.name == name.name) else {
                self.unknown(&inner, name, keys);
                continue;
            };
            if value.value == Value::Null {
                continue;
            }
            if let Some(json) = self.value(&inner, key, value) {
                found.insert(key.name.to_owned(), json);
            }
        }
        Json::Object(found)
    }

    fn value(&mut self, path: &str, key: &'static SettingKey, node: &Node) -> Option<Json> {
        if let Shape::Table(keys) = key.shape {
            return Some(self.table(path, keys, node));
        }
        if let Shape::Each(keys) = key.shape {
            if node.entries().is_some() {
                return Some(self.table(path, keys, node));
            }
            let value = self.value(path, keys.first()?, node)?;
            let for_each = keys.iter().map(|key| (key.name.to_owned(), value.clone()));
            return Some(Json::Object(for_each.collect()));
        }
        let found = read(&key.shape, node, self.offered);
        found.map_err(|Problem { place, text }| self.wrong(place, path, text, valid(&key.shape, self.offered))).ok()
    }

    fn unknown(&mut self, path: &str, key: &text::node::Key, keys: &'static [SettingKey]) {
        let said = match nearest(&key.name, keys.iter().map(|key| key.name)) {
            Some(name) => format!("there is no such setting, did you mean `{name}`?"),
            None => "there is no such setting".to_owned(),
        };
        let path: String = path.chars().take(100).collect();
        self.wrong(key.at(), &path, said, names(keys));
    }

    fn wrong(&mut self, place: Position, path: &str, said: String, valid: String) {
        if self.mistakes.len() < MAX_MISTAKES {
            let key = path.to_owned();
            self.mistakes.push(SettingsMistake::Invalid { place, key, said, valid });
        }
    }
}

fn join(path: &str, name: &str) -> String {
    match path {
        "" => name.to_owned(),
        path => format!("{path}.{name}"),
    }
}

fn names(keys: &[SettingKey]) -> String {
    keys.iter().map(|key| key.name).collect::<Vec<_>>().join(", ")
}

/// The names of agents and models that the server offers to repositories.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Offer {
    pub agents: Vec<String>,
    /// The models' names, besides `fast` and `strong`.
    pub models: Vec<String>,
}

impl Offer {
    /// Returns the names of models that a repository may use.
    pub(crate) fn models(&self) -> Vec<&str> {
        let named = self.models.iter().map(String::as_str);
        ["fast", "strong"].into_iter().chain(named).collect()
    }
}
