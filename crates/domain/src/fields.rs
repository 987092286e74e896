//! Takes values out of what someone wrote, noting every wrong type with its key, so that one answer names all mistakes.

use crate::{
    mistake::Mistakes,
    node::{Key, Node, Shape},
    shorten,
};

/// The most names of unknown keys that are kept, and how much of each.
const MOST_IGNORED: usize = 20;
const LONGEST_IGNORED: usize = 80;

/// Names of unknown keys, as far as they are shown.
pub fn ignored(keys: Vec<String>) -> Vec<String> {
    let kept = keys.into_iter().take(MOST_IGNORED);
    kept.map(|key| shorten::middle(&key, LONGEST_IGNORED)).collect()
}

/// The keys of one map. Every key that is asked for counts as known.
pub struct Fields<'a> {
    /// What stands before a key in a sentence: nothing, `issues[0].` or `TASK-001: `.
    prefix: String,
    node: &'a Node,
    entries: &'a [(Key, Node)],
    known: Vec<&'static str>,
}

impl<'a> Fields<'a> {
    /// The keys of `node`, or a mistake if it is not a map. `name` is what the map is called in a sentence.
    pub fn of(node: &'a Node, name: &str, prefix: &str, mistakes: &mut Mistakes) -> Option<Self> {
        match &node.value {
            Shape::Map(entries) => Some(Self {
                prefix: prefix.to_owned(),
                node,
                entries,
                known: Vec::new(),
            }),
            Shape::Null | Shape::Flag(_) | Shape::Whole(_) | Shape::Number(_) | Shape::Text(_) | Shape::List(_) => {
                mistakes.add(
                    format!("{name} must be a map with keys, not {}", node.kind()),
                    node.place,
                );
                None
            }
        }
    }

    /// The value of `key`; a null is as good as none.
    pub fn optional(&mut self, key: &'static str) -> Option<Field<'a>> {
        self.known.push(key);
        let (_, node) = self.entries.iter().find(|(known, _)| known.name == key)?;
        let name = format!("{}{key}", self.prefix);
        (node.value != Shape::Null).then_some(Field { name, node })
    }

    /// The value of `key`, or a mistake.
    pub fn required(&mut self, key: &'static str, mistakes: &mut Mistakes) -> Option<Field<'a>> {
        let found = self.optional(key);
        if found.is_none() {
            mistakes.add(format!("{}{key} is missing", self.prefix), self.node.place);
        }
        found
    }

    /// The keys that nobody asked for.
    pub fn unknown(&self) -> Vec<(String, &'a Key)> {
        let keys = self.entries.iter().map(|(key, _)| key);
        keys.filter(|key| !self.known.contains(&key.name.as_str()))
            .map(|key| (format!("{}{}", self.prefix, key.name), key))
            .collect()
    }

    /// The names of those keys, as far as they are shown.
    pub fn ignored(&self) -> Vec<String> {
        ignored(self.unknown().into_iter().map(|(key, _)| key).collect())
    }

    /// The keys that were asked for, for a sentence.
    pub fn known(&self) -> String {
        self.known.join(", ")
    }
}

/// A value with the name that sentences give it.
pub struct Field<'a> {
    /// For example `issues[0].line`.
    pub name: String,
    /// The value.
    pub node: &'a Node,
}

impl<'a> Field<'a> {
    /// Notes that this value should have been something else.
    pub fn wrong(&self, expected: &str, mistakes: &mut Mistakes) {
        let hint = match &self.node.value {
            Shape::Flag(_) | Shape::Whole(_) | Shape::Number(_) if expected == TEXT => "; put it in quotes",
            Shape::Null
            | Shape::Flag(_)
            | Shape::Whole(_)
            | Shape::Number(_)
            | Shape::Text(_)
            | Shape::List(_)
            | Shape::Map(_) => "",
        };
        let sentence = format!("{} must be {expected}, not {}{hint}", self.name, self.node.kind());
        mistakes.add(sentence, self.node.place);
    }

    /// Notes a mistake about this value: `rule` goes on after its name.
    pub fn refuse(&self, rule: &str, mistakes: &mut Mistakes) {
        mistakes.add(format!("{} {rule}", self.name), self.node.place);
    }

    /// The value as text.
    pub fn text(&self, mistakes: &mut Mistakes) -> Option<String> {
        match &self.node.value {
            Shape::Text(text) => Some(text.clone()),
            Shape::Null | Shape::Flag(_) | Shape::Whole(_) | Shape::Number(_) | Shape::List(_) | Shape::Map(_) => {
                self.none(TEXT, mistakes)
            }
        }
    }

    /// The value as a boolean.
    pub fn flag(&self, mistakes: &mut Mistakes) -> Option<bool> {
        match &self.node.value {
            Shape::Flag(flag) => Some(*flag),
            Shape::Null | Shape::Whole(_) | Shape::Number(_) | Shape::Text(_) | Shape::List(_) | Shape::Map(_) => {
                self.none("true or false", mistakes)
            }
        }
    }

    /// The value as a whole number.
    pub fn whole(&self, mistakes: &mut Mistakes) -> Option<i64> {
        match &self.node.value {
            Shape::Whole(number) => Some(*number),
            Shape::Null | Shape::Flag(_) | Shape::Number(_) | Shape::Text(_) | Shape::List(_) | Shape::Map(_) => {
                self.none("a whole number", mistakes)
            }
        }
    }

    /// The value as a number.
    pub fn number(&self, mistakes: &mut Mistakes) -> Option<f64> {
        match &self.node.value {
            Shape::Whole(number) => number.to_string().parse().ok(),
            Shape::Number(number) => Some(*number),
            Shape::Null | Shape::Flag(_) | Shape::Text(_) | Shape::List(_) | Shape::Map(_) => {
                self.none("a number", mistakes)
            }
        }
    }

    /// The items of a list.
    pub fn list(&self, mistakes: &mut Mistakes) -> Vec<Field<'a>> {
        match &self.node.value {
            Shape::List(items) => (0..)
                .zip(items)
                .map(|(index, node): (usize, _)| Field {
                    name: format!("{}[{index}]", self.name),
                    node,
                })
                .collect(),
            Shape::Null | Shape::Flag(_) | Shape::Whole(_) | Shape::Number(_) | Shape::Text(_) | Shape::Map(_) => {
                self.wrong("a list", mistakes);
                Vec::new()
            }
        }
    }

    /// The texts of a list of texts.
    pub fn texts(&self, mistakes: &mut Mistakes) -> Vec<String> {
        self.list(mistakes)
            .iter()
            .filter_map(|item| item.text(mistakes))
            .collect()
    }

    /// The value as one of `words`.
    pub fn word<T: Copy>(&self, words: &[(&str, T)], mistakes: &mut Mistakes) -> Option<T> {
        let Shape::Text(text) = &self.node.value else {
            return self.none(&choices(words), mistakes);
        };
        let found = words.iter().find(|(word, _)| word == text).map(|(_, value)| *value);
        if found.is_none() {
            self.wrong(&choices(words), mistakes);
        }
        found
    }

    /// The value as a map with keys of its own.
    pub fn map(&self, mistakes: &mut Mistakes) -> Option<Fields<'a>> {
        Fields::of(self.node, &self.name, &format!("{}.", self.name), mistakes)
    }

    fn none<T>(&self, expected: &str, mistakes: &mut Mistakes) -> Option<T> {
        self.wrong(expected, mistakes);
        None
    }
}

const TEXT: &str = "text";

fn choices<T>(words: &[(&str, T)]) -> String {
    let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
    match words.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}
