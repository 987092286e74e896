//! Reading a settings file by a table of its keys: every name, its shape and its valid values stand there once.

use crate::config::{offer::Offer, shapes, shapes::Shape};
use domain::{
    mistake::SettingsMistake,
    nearest::nearest,
    node::{Node, Shape as Value},
};
use serde_json::Value as Json;

const MAX_MISTAKES: usize = 50;

/// One key of a settings file.
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) shape: Shape,
}

/// What reading found, besides the value itself.
pub(crate) struct Reading<'a> {
    /// What the server offers by name.
    pub(crate) offered: &'a Offer,
    /// Everything that is wrong.
    pub(crate) mistakes: Vec<SettingsMistake>,
}

impl Reading<'_> {
    /// Reads a table of `keys`; keys that are left out, or hold nothing, are left out of the result.
    pub(crate) fn table(&mut self, path: &str, keys: &'static [Key], node: &Node) -> Json {
        let mut found = serde_json::Map::new();
        let Some(entries) = node.entries() else {
            self.wrong(path, node, &names(keys));
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

    fn value(&mut self, path: &str, key: &'static Key, node: &Node) -> Option<Json> {
        match &key.shape {
            Shape::Table(keys) => Some(self.table(path, keys, node)),
            Shape::Each(keys) if node.entries().is_some() => Some(self.table(path, keys, node)),
            Shape::Each(keys) => {
                let first = keys.first()?;
                let value = self.value(path, first, node)?;
                Some(
                    keys.iter()
                        .map(|key| (key.name.to_owned(), value.clone()))
                        .collect::<serde_json::Map<_, _>>()
                        .into(),
                )
            }
            shape @ (Shape::Text(_)
            | Shape::Command
            | Shape::Whole(..)
            | Shape::Number(..)
            | Shape::OneOf(_)
            | Shape::Approval
            | Shape::Agent
            | Shape::Model
            | Shape::Duration
            | Shape::Path
            | Shape::Paths
            | Shape::Hosts) => match shapes::read(shape, node, self.offered) {
                Ok(json) => Some(json),
                Err(problem) => {
                    self.push(SettingsMistake::Invalid {
                        place: problem.place,
                        key: path.to_owned(),
                        said: problem.text,
                        valid: shapes::valid(shape, self.offered),
                    });
                    None
                }
            },
        }
    }

    fn wrong(&mut self, path: &str, node: &Node, valid: &str) {
        self.push(SettingsMistake::Invalid {
            place: node.at(),
            key: path.to_owned(),
            said: format!("expected a table, found {}", node.kind()),
            valid: valid.to_owned(),
        });
    }

    fn unknown(&mut self, path: &str, key: &domain::node::Key, keys: &'static [Key]) {
        let meant = nearest(&key.name, keys.iter().map(|key| key.name));
        self.push(SettingsMistake::Invalid {
            place: key.at(),
            key: path.chars().take(100).collect(),
            said: match meant {
                Some(name) => format!("there is no such setting, did you mean `{name}`?"),
                None => "there is no such setting".to_owned(),
            },
            valid: names(keys),
        });
    }

    fn push(&mut self, mistake: SettingsMistake) {
        if self.mistakes.len() < MAX_MISTAKES {
            self.mistakes.push(mistake);
        }
    }
}

fn join(path: &str, name: &str) -> String {
    match path {
        "" => name.to_owned(),
        path => format!("{path}.{name}"),
    }
}

fn names(keys: &[Key]) -> String {
    keys.iter().map(|key| key.name).collect::<Vec<_>>().join(", ")
}
