//! A JSON or YAML value as it was written, with its position. Reading enforces size limits and no other rule.

use crate::{
    mistake::{Mistake, Position, quoted},
    shorten,
};
use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, SeqAccess, Visitor},
};
use serde_json::Value;
use serde_saphyr::{Spanned, options::DuplicateKeyPolicy};
use std::fmt;

#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    pub value: Shape,
    /// The position; `None` for JSON.
    pub place: Option<Position>,
}

/// The kinds of values that JSON and YAML share.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    Null,
    /// A boolean.
    Flag(bool),
    Whole(i64),
    /// Any other number.
    Number(f64),
    Text(String),
    List(Vec<Node>),
    /// Keys with values, in the written order; no key occurs twice.
    Map(Vec<(Key, Node)>),
}

/// A key of a map and its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    pub name: String,
    /// The position; `None` for JSON.
    pub place: Option<Position>,
}

impl Key {
    /// Returns its position, or the start of the text.
    pub fn at(&self) -> Position {
        self.place.unwrap_or(Position::START)
    }
}

#[derive(Debug, thiserror::Error)]
#[error("the file is larger than {0} bytes")]
struct TooLarge(usize);

impl Node {
    /// Reads one YAML document of at most `max_bytes`; an empty one is [`Shape::Null`]. Anchors are allowed, within
    /// limits that no hand-written text reaches.
    ///
    /// # Errors
    ///
    /// Returns the mistake if the text is not YAML, repeats a key in a map, or is longer, deeper or more repetitive
    /// than allowed.
    pub fn from_yaml(text: &str, max_bytes: usize) -> Result<Self, Mistake> {
        let start = Some(Position::START);
        if text.len() > max_bytes {
            let sentence = TooLarge(max_bytes).to_string();
            return Err(Mistake { sentence, place: start });
        }
        if text.trim_start_matches('\u{feff}').trim().is_empty() {
            let value = Shape::Null;
            return Ok(Self { value, place: start });
        }
        let options = serde_saphyr::options! {
            budget: serde_saphyr::budget! {
                max_depth: 24,
                flow_nesting_limit: 24,
                max_events: 300_000,
                max_nodes: 100_000,
                max_aliases: 1_000,
                max_anchors: 1_000,
                max_merge_keys: 200,
            },
            alias_limits: serde_saphyr::alias_limits! {
                max_total_replayed_events: 100_000,
                max_replay_stack_depth: 16,
            },
            duplicate_keys: DuplicateKeyPolicy::Error,
            strict_booleans: true,
            with_snippet: false,
        };
        serde_saphyr::from_str_with_options(text, options).map_err(|error| unreadable(&error))
    }

    /// Returns its position, or the start of the text.
    pub fn at(&self) -> Position {
        self.place.unwrap_or(Position::START)
    }

    pub fn text(&self) -> Option<&str> {
        let Shape::Text(text) = &self.value else { return None };
        Some(text)
    }

    /// Returns the value, if it is a boolean.
    pub fn flag(&self) -> Option<bool> {
        let Shape::Flag(flag) = self.value else { return None };
        Some(flag)
    }

    pub fn whole(&self) -> Option<i64> {
        let Shape::Whole(number) = self.value else { return None };
        Some(number)
    }

    /// Returns a whole number that counts something. It may be given as text, such as `3` or `#3`.
    pub fn ordinal(&self) -> Option<usize> {
        let number = self.whole().and_then(|number| usize::try_from(number).ok());
        number.or_else(|| self.text()?.trim().trim_start_matches('#').parse().ok())
    }

    pub fn number(&self) -> Option<f64> {
        if let Shape::Number(number) = self.value { Some(number) } else { self.whole()?.to_string().parse().ok() }
    }

    /// Returns the items, if the value is a list.
    pub fn items(&self) -> Option<&[Self]> {
        let Shape::List(items) = &self.value else { return None };
        Some(items)
    }

    /// Returns the keys and their values, if the value is a map.
    pub fn entries(&self) -> Option<&[(Key, Self)]> {
        let Shape::Map(entries) = &self.value else { return None };
        Some(entries)
    }

    /// Returns the value as JSON; a number that JSON cannot hold becomes null.
    pub fn to_json(&self) -> Value {
        match &self.value {
            Shape::Null => Value::Null,
            Shape::Flag(value) => (*value).into(),
            Shape::Whole(value) => (*value).into(),
            Shape::Number(value) => (*value).into(),
            Shape::Text(value) => value.clone().into(),
            Shape::List(nodes) => nodes.iter().map(Self::to_json).collect(),
            Shape::Map(entries) => {
                let entries = entries.iter().map(|(key, node)| (key.name.clone(), node.to_json()));
                Value::Object(entries.collect())
            }
        }
    }

    /// Converts a JSON value.
    pub fn from_json(json: &Value) -> Self {
        let place = None;
        let entry = |(name, value): (&String, &Value)| {
            let name = name.clone();
            (Key { name, place }, Self::from_json(value))
        };
        let value = match json {
            Value::Null => Shape::Null,
            Value::Bool(flag) => Shape::Flag(*flag),
            Value::Number(number) => match (number.as_i64(), number.as_f64()) {
                (Some(whole), _) => Shape::Whole(whole),
                (None, Some(float)) => number_shape(float),
                (None, None) => Shape::Text(number.to_string()),
            },
            Value::String(text) => Shape::Text(text.clone()),
            Value::Array(items) => Shape::List(items.iter().map(Self::from_json).collect()),
            Value::Object(entries) => Shape::Map(entries.iter().map(entry).collect()),
        };
        Self { value, place }
    }

    /// Returns a description for a sentence such as "must be text, not the number 3".
    pub fn kind(&self) -> String {
        match &self.value {
            Shape::Null => "nothing".to_owned(),
            Shape::Flag(flag) => format!("the boolean {flag}"),
            Shape::Whole(number) => format!("the number {number}"),
            Shape::Number(number) => format!("the number {number}"),
            Shape::Text(text) => format!("the text {}", quoted(text)),
            Shape::List(_) => "a list".to_owned(),
            Shape::Map(_) => "a map".to_owned(),
        }
    }

    /// Returns the value on one line, much like JSON, cut to `most` characters.
    pub fn render_short(&self, most: usize) -> String {
        let mut text = String::new();
        self.write_short(&mut text, most);
        shorten::start(&text, most)
    }

    fn write_short(&self, text: &mut String, most: usize) {
        if text.len() > most * 4 {
            return;
        }
        match &self.value {
            Shape::Null => text.push_str("null"),
            Shape::Flag(flag) => text.push_str(&flag.to_string()),
            Shape::Whole(number) => text.push_str(&number.to_string()),
            Shape::Number(number) => text.push_str(&number.to_string()),
            Shape::Text(words) => text.extend(words.chars().map(|c| if c.is_control() { ' ' } else { c })),
            Shape::List(items) => {
                text.push('[');
                for (index, item) in items.iter().enumerate() {
                    text.push_str(if index == 0 { "" } else { ", " });
                    item.write_short(text, most);
                }
                text.push(']');
            }
            Shape::Map(entries) => {
                text.push('{');
                for (index, (key, node)) in entries.iter().enumerate() {
                    text.push_str(if index == 0 { "" } else { ", " });
                    text.push_str(&key.name);
                    text.push_str(": ");
                    node.write_short(text, most);
                }
                text.push('}');
            }
        }
    }
}

/// A number without a fraction counts as whole, however it is spelled.
fn number_shape(number: f64) -> Shape {
    let is_whole = number.fract() == 0.0;
    let whole = format!("{number:.0}").parse().ok().filter(|_| is_whole);
    whole.map_or(Shape::Number(number), Shape::Whole)
}

/// Returns the YAML reader's message without the position, which is shown separately, and without its advice to
/// programmers.
fn plain_cause(complaint: &str) -> &str {
    let ends = [" at line ", ", set DuplicateKeyPolicy", "; use from_", ": total_replayed"];
    let found = ends.iter().filter_map(|end| complaint.find(end));
    let end = found.filter(|at| *at > 0).min();
    end.and_then(|end| complaint.get(..end)).unwrap_or(complaint)
}

fn unreadable(error: &serde_saphyr::Error) -> Mistake {
    let place = error.location().map(position_of);
    let text = error.without_snippet().to_string();
    let line = text.lines().next().unwrap_or("not readable as YAML");
    let cause = plain_cause(line).chars().take(200);
    Mistake { sentence: cause.map(|c| if c.is_control() { ' ' } else { c }).collect(), place }
}

fn position_of(location: serde_saphyr::Location) -> Position {
    Position { line: location.line().max(1), column: location.column().max(1) }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned: Spanned<Shape> = Spanned::deserialize(deserializer)?;
        Ok(Self { place: Some(position_of(spanned.referenced)), value: spanned.value })
    }
}

impl<'de> Deserialize<'de> for Shape {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyShape)
    }
}

struct AnyShape;

impl<'de> Visitor<'de> for AnyShape {
    type Value = Shape;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value that JSON knows too")
    }

    fn visit_unit<E>(self) -> Result<Shape, E> {
        Ok(Shape::Null)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Shape, E> {
        Ok(Shape::Flag(flag))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Shape, E> {
        Ok(Shape::Whole(number))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Shape, E> {
        Ok(i64::try_from(number).map_or_else(|_| Shape::Text(number.to_string()), Shape::Whole))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Shape, E> {
        Ok(number_shape(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Shape, E> {
        Ok(Shape::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Shape, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Shape::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Shape, A::Error> {
        let mut map = Vec::new();
        while let Some((key, node)) = entries.next_entry::<Spanned<String>, Node>()? {
            let place = Some(position_of(key.referenced));
            let name = key.value;
            map.push((Key { name, place }, node));
        }
        Ok(Shape::Map(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parse(text: &str) -> Node {
        Node::from_yaml(text, 100_000).unwrap()
    }

    #[test]
    fn every_kind_of_value_is_read() {
        let node = parse("a: [1, 2.5, text, 'yes', true, ~]\nb: {c: no}\n7: seven\n");
        assert_eq!(node.to_json(), json!({"a": [1, 2.5, "text", "yes", true, null], "b": {"c": "no"}, "7": "seven"}));
    }

    #[test]
    fn an_empty_text_is_nothing_and_a_long_one_refused() {
        for text in ["", "  \n", "\u{feff}", "# only words\n", "---\n", "~"] {
            assert_eq!(parse(text).value, Shape::Null, "{text:?}");
        }
        let refused = Node::from_yaml("a: 1", 3).unwrap_err();
        assert_eq!(refused.sentence, "the file is larger than 3 bytes");
    }

    #[test]
    fn a_value_keeps_its_shape_and_its_place() {
        let node = parse("a: [1, yes, 2.5, ~]\n'b': {c: 'x'}\n");
        assert_eq!(node.render_short(200), "{a: [1, yes, 2.5, null], b: {c: x}}");
        let Shape::Map(entries) = &node.value else { panic!("{node:?}") };
        assert_eq!(entries[1].0.place, Some(Position { line: 2, column: 1 }));
        assert_eq!(entries[0].1.place, Some(Position { line: 1, column: 4 }));
        let Shape::Map(inner) = &entries[1].1.value else { panic!("{node:?}") };
        assert_eq!(inner[0].1.place, Some(Position { line: 2, column: 10 }));
    }

    #[test]
    fn what_blows_up_is_refused_with_a_place() {
        let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..9 {
            let aliases = vec![format!("*a{}", level - 1); 9].join(", ");
            bomb.push_str(&format!("a{level}: &a{level} [{aliases}]\n"));
        }
        let flow = "[".repeat(20_000);
        let block = "- ".repeat(13_000);
        let wide = format!("a: &a {{k: v}}\nb: [{}]", "*a, ".repeat(9_000));
        for text in [&bomb, &flow, &block, &wide] {
            let refused = Node::from_yaml(text, 1_000_000).unwrap_err().to_string();
            assert!(refused.len() < 300, "{refused}");
        }
    }

    #[test]
    fn mistakes_of_syntax_name_their_place() {
        for (text, part) in [
            ("a: [1", "line"),
            ("a: 1\na: 2", "(line 2, column 1)"),
            ("a: 1\n---\nb: 2", "line"),
            ("a: *nowhere", "(line 1, column 4)"),
            ("\"a\": \"\\q\"", "line 1"),
            ("a:\n\tb: 1", "line 2"),
        ] {
            let refused = Node::from_yaml(text, 1_000).unwrap_err().to_string();
            assert!(refused.contains(part), "{text:?}: {refused}");
        }
    }
}
