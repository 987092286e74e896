//! Takes values out of what someone wrote, noting every wrong type with its key, so that one answer names all mistakes.

use crate::{
    mistake::{Mistakes, Place},
    node::{Key, Node, Shape},
    shorten,
};
use std::cell::RefCell;

/// The most names of unknown keys that are kept, and how much of each.
const MOST_IGNORED: usize = 20;
const LONGEST_IGNORED: usize = 80;

/// What is found while a text is read, besides its values.
#[derive(Default)]
pub struct Reading {
    mistakes: RefCell<Mistakes>,
    unknown: RefCell<Vec<UnknownKey>>,
}

/// A key that nobody asked for.
pub struct UnknownKey {
    /// Its name with what stands before it, for example `issues[0].mood`.
    pub name: String,
    /// The keys that are known there.
    pub known: String,
    /// Where it stands.
    pub place: Option<Place>,
}

impl Reading {
    /// Notes a mistake.
    pub fn note(&self, sentence: impl Into<String>, place: Option<Place>) {
        self.mistakes.borrow_mut().add(sentence, place);
    }

    /// How many mistakes were noted so far.
    pub fn noted(&self) -> usize {
        self.mistakes.borrow().0.len()
    }

    /// The keys of `node`, or a mistake if it is not a map. `name` is what the map is called in a sentence, `prefix` what
    /// stands before its keys there: nothing, `issues[0].` or `TASK-001: `.
    pub fn fields<'a>(&'a self, node: &'a Node, name: &str, prefix: &str) -> Option<Fields<'a>> {
        let Some(entries) = node.entries() else {
            let sentence = format!("{name} must be a map with keys, not {}", node.kind());
            self.note(sentence, node.place);
            return None;
        };
        Some(Fields {
            reading: self,
            prefix: prefix.to_owned(),
            node,
            entries,
            known: Vec::new(),
        })
    }

    /// Every mistake, and every key that nobody asked for.
    pub fn end(self) -> (Mistakes, Vec<UnknownKey>) {
        (self.mistakes.into_inner(), self.unknown.into_inner())
    }

    /// What was read, given the names of unknown keys as far as they are shown; or every mistake.
    pub fn value<T>(self, read: Option<T>, ignored: impl FnOnce(&mut T, Vec<String>)) -> Result<T, Mistakes> {
        let (mistakes, unknown) = self.end();
        let Some(mut read) = read.filter(|_| mistakes.0.is_empty()) else {
            return Err(mistakes);
        };
        let names = unknown.iter().take(MOST_IGNORED);
        let names = names.map(|key| shorten::middle(&key.name, LONGEST_IGNORED));
        ignored(&mut read, names.collect());
        Ok(read)
    }
}

/// The keys of one map. Every key that is asked for counts as known.
pub struct Fields<'a> {
    reading: &'a Reading,
    prefix: String,
    node: &'a Node,
    entries: &'a [(Key, Node)],
    known: Vec<&'static str>,
}

impl<'a> Fields<'a> {
    /// The value of `key`; a null is as good as none.
    pub fn optional(&mut self, key: &'static str) -> Option<Field<'a>> {
        self.known.push(key);
        let (_, node) = self.entries.iter().find(|(known, _)| known.name == key)?;
        let name = format!("{}{key}", self.prefix);
        (node.value != Shape::Null).then_some(Field {
            reading: self.reading,
            name,
            node,
        })
    }

    /// The value of `key`, or a mistake.
    pub fn required(&mut self, key: &'static str) -> Option<Field<'a>> {
        let found = self.optional(key);
        if found.is_none() {
            let sentence = format!("{}{key} is missing", self.prefix);
            self.reading.note(sentence, self.node.place);
        }
        found
    }

    /// The text of `key`; empty where there is none.
    pub fn text(&mut self, key: &'static str) -> String {
        self.optional(key).and_then(|field| field.text()).unwrap_or_default()
    }

    /// The texts of `key`; none where there is no list.
    pub fn texts(&mut self, key: &'static str) -> Vec<String> {
        self.optional(key).map(|field| field.texts()).unwrap_or_default()
    }

    /// Notes the keys that nobody asked for, once every known key was.
    pub fn end(self) {
        let keys = self.entries.iter().map(|(key, _)| key);
        let unknown = keys.filter(|key| !self.known.contains(&key.name.as_str()));
        let unknown = unknown.map(|key| UnknownKey {
            name: format!("{}{}", self.prefix, key.name),
            known: self.known.join(", "),
            place: key.place,
        });
        self.reading.unknown.borrow_mut().extend(unknown);
    }
}

/// A value with the name that sentences give it.
pub struct Field<'a> {
    reading: &'a Reading,
    /// For example `issues[0].line`.
    pub name: String,
    /// The value.
    pub node: &'a Node,
}

impl<'a> Field<'a> {
    /// What reading found so far.
    pub fn reading(&self) -> &'a Reading {
        self.reading
    }

    /// Notes that this value should have been something else.
    pub fn wrong(&self, expected: &str) {
        let is_scalar = matches!(self.node.value, Shape::Flag(_) | Shape::Whole(_) | Shape::Number(_));
        let hint = if is_scalar && expected == TEXT {
            "; put it in quotes"
        } else {
            ""
        };
        self.refuse(&format!("must be {expected}, not {}{hint}", self.node.kind()));
    }

    /// Notes a mistake about this value: `rule` goes on after its name.
    pub fn refuse(&self, rule: &str) {
        self.reading.note(format!("{} {rule}", self.name), self.node.place);
    }

    fn expect<T>(&self, found: Option<T>, expected: &str) -> Option<T> {
        if found.is_none() {
            self.wrong(expected);
        }
        found
    }

    /// The value as text.
    pub fn text(&self) -> Option<String> {
        self.expect(self.node.text().map(str::to_owned), TEXT)
    }

    /// The value as a boolean.
    pub fn flag(&self) -> Option<bool> {
        self.expect(self.node.flag(), "true or false")
    }

    /// The value as a whole number.
    pub fn whole(&self) -> Option<i64> {
        self.expect(self.node.whole(), "a whole number")
    }

    /// The value as a whole number from `least` to `most`.
    pub fn within(&self, least: u8, most: u8) -> Option<u8> {
        let fits = u8::try_from(self.whole()?).ok();
        let fits = fits.filter(|number| (least..=most).contains(number));
        self.expect(fits, &format!("a whole number from {least} to {most}"))
    }

    /// The value as a number.
    pub fn number(&self) -> Option<f64> {
        self.expect(self.node.number(), "a number")
    }

    /// The items of a list.
    pub fn list(&self) -> Vec<Field<'a>> {
        let items = self.expect(self.node.items(), "a list").unwrap_or_default();
        let item = |(index, node): (usize, &'a Node)| Field {
            reading: self.reading,
            name: format!("{}[{index}]", self.name),
            node,
        };
        items.iter().enumerate().map(item).collect()
    }

    /// The texts of a list of texts.
    pub fn texts(&self) -> Vec<String> {
        self.list().iter().filter_map(Field::text).collect()
    }

    /// The value as one of `words`.
    pub fn word<T: Copy>(&self, words: &[(&str, T)]) -> Option<T> {
        let text = self.node.text();
        let found = words.iter().find(|(word, _)| Some(*word) == text);
        self.expect(found.map(|(_, value)| *value), &choices(words))
    }

    /// The value as a map with keys of its own.
    pub fn map(&self) -> Option<Fields<'a>> {
        self.reading.fields(self.node, &self.name, &format!("{}.", self.name))
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
