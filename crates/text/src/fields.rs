//! Reads typed values from JSON or YAML that a person or an agent wrote. Every wrong type is recorded with its key, so
//! that one reply names all mistakes.

use crate::{
    mistake::{Mistakes, Position},
    node::{Key, Node, Shape},
    shorten,
};
use std::cell::RefCell;

/// Limits of the list of unknown keys: how many are kept, and how many characters of each.
const MOST_IGNORED: usize = 20;
const LONGEST_IGNORED: usize = 80;

/// The mistakes and unknown keys that were found while reading.
#[derive(Default)]
pub struct Reading {
    mistakes: RefCell<Mistakes>,
    unknown: RefCell<Vec<UnknownKey>>,
}

/// A key that is not known.
pub struct UnknownKey {
    /// The key with its prefix, for example `issues[0].mood`.
    pub name: String,
    /// The keys that are known at this place.
    pub known: String,
    pub place: Option<Position>,
}

impl Reading {
    /// Records a mistake.
    pub fn note(&self, sentence: impl Into<String>, place: Option<Position>) {
        self.mistakes.borrow_mut().add(sentence, place);
    }

    /// Returns the number of mistakes so far.
    pub fn noted(&self) -> usize {
        self.mistakes.borrow().0.len()
    }

    /// Returns the keys of `node`, or notes a mistake if it is not a map. `name` is the map's name in a sentence.
    /// `prefix` precedes its keys there: nothing, `issues[0].` or `TASK-001: `.
    pub fn fields<'a>(&'a self, node: &'a Node, name: &str, prefix: &str) -> Option<Fields<'a>> {
        let Some(entries) = node.entries() else {
            let sentence = format!("{name} must be a map with keys, not {}", node.kind());
            self.note(sentence, node.place);
            return None;
        };
        Some(Fields { reading: self, prefix: prefix.to_owned(), node, entries, known: Vec::new() })
    }

    /// Returns every mistake and every unknown key.
    pub fn end(self) -> (Mistakes, Vec<UnknownKey>) {
        (self.mistakes.into_inner(), self.unknown.into_inner())
    }

    /// Returns the value that was read, or every mistake. `ignored` receives the names of the unknown keys, at most 20
    /// of them.
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

/// The keys of one map. Every key that is read counts as known.
pub struct Fields<'a> {
    reading: &'a Reading,
    prefix: String,
    node: &'a Node,
    entries: &'a [(Key, Node)],
    known: Vec<&'static str>,
}

impl<'a> Fields<'a> {
    /// Returns the value of `key`; a null counts as missing.
    pub fn optional(&mut self, key: &'static str) -> Option<Field<'a>> {
        self.known.push(key);
        let (_, node) = self.entries.iter().find(|(known, _)| known.name == key)?;
        let name = format!("{}{key}", self.prefix);
        (node.value != Shape::Null).then_some(Field { reading: self.reading, name, node })
    }

    /// Returns the value of `key`, or notes a mistake if it is missing.
    pub fn required(&mut self, key: &'static str) -> Option<Field<'a>> {
        let found = self.optional(key);
        if found.is_none() {
            let sentence = format!("{}{key} is missing", self.prefix);
            self.reading.note(sentence, self.node.place);
        }
        found
    }

    /// Returns the text of `key`, or an empty text.
    pub fn text(&mut self, key: &'static str) -> String {
        self.optional(key).and_then(|field| field.text()).unwrap_or_default()
    }

    /// Returns the texts of `key`, or an empty list.
    pub fn texts(&mut self, key: &'static str) -> Vec<String> {
        self.optional(key).map(|field| field.texts()).unwrap_or_default()
    }

    /// Notes the unknown keys. Call it once every known key has been read.
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

/// A value and the name that sentences give it.
pub struct Field<'a> {
    pub reading: &'a Reading,
    /// The name, for example `issues[0].line`.
    pub name: String,
    /// The value.
    pub node: &'a Node,
}

impl<'a> Field<'a> {
    /// Records that this value has the wrong type or is not allowed; `expected` describes the right one.
    pub fn wrong(&self, expected: &str) {
        let is_scalar = matches!(self.node.value, Shape::Flag(_) | Shape::Whole(_) | Shape::Number(_));
        let is_unquoted = is_scalar && expected == TEXT;
        let hint = if is_unquoted { "; put it in quotes" } else { "" };
        self.refuse(&format!("must be {expected}, not {}{hint}", self.node.kind()));
    }

    /// Notes a mistake about this value. `rule` continues the sentence after the value's name.
    pub fn refuse(&self, rule: &str) {
        self.reading.note(format!("{} {rule}", self.name), self.node.place);
    }

    fn expect<T>(&self, found: Option<T>, expected: &str) -> Option<T> {
        if found.is_none() {
            self.wrong(expected);
        }
        found
    }

    /// Returns the value as text, or notes a mistake.
    pub fn text(&self) -> Option<String> {
        self.expect(self.node.text().map(str::to_owned), TEXT)
    }

    /// Returns the value as a boolean, or notes a mistake.
    pub fn flag(&self) -> Option<bool> {
        self.expect(self.node.flag(), "true or false")
    }

    /// Returns the value as a whole number, or notes a mistake.
    pub fn whole(&self) -> Option<i64> {
        self.expect(self.node.whole(), "a whole number")
    }

    /// Returns the value as a whole number from `least` to `most`, or notes a mistake.
    pub fn within(&self, least: u8, most: u8) -> Option<u8> {
        let fits = u8::try_from(self.whole()?).ok();
        let fits = fits.filter(|number| (least..=most).contains(number));
        self.expect(fits, &format!("a whole number from {least} to {most}"))
    }

    /// Returns the value as a number, or notes a mistake.
    pub fn number(&self) -> Option<f64> {
        self.expect(self.node.number(), "a number")
    }

    /// Returns the items of a list, or notes a mistake.
    pub fn list(&self) -> Vec<Field<'a>> {
        let items = self.expect(self.node.items(), "a list").unwrap_or_default();
        let item = |(index, node): (usize, &'a Node)| Field {
            reading: self.reading,
            name: format!("{}[{index}]", self.name),
            node,
        };
        items.iter().enumerate().map(item).collect()
    }

    /// Returns the texts of a list, and notes a mistake for every other item.
    pub fn texts(&self) -> Vec<String> {
        self.list().iter().filter_map(Field::text).collect()
    }

    /// Returns the value whose word it is, or notes a mistake.
    pub fn word<T: Copy + ToString>(&self, values: &[T]) -> Option<T> {
        let words: Vec<String> = values.iter().map(T::to_string).collect();
        let text = self.node.text();
        let found = words.iter().position(|word| Some(word.as_str()) == text);
        self.expect(found.and_then(|at| values.get(at)).copied(), &choices(&words))
    }

    /// Returns the value as a map with its own keys, or notes a mistake.
    pub fn map(&self) -> Option<Fields<'a>> {
        self.reading.fields(self.node, &self.name, &format!("{}.", self.name))
    }
}

const TEXT: &str = "text";

fn choices(words: &[String]) -> String {
    match words.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}
