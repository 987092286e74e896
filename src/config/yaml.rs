//! YAML read into a tree that remembers where everything stood, so that a mistake can be answered with its place.
//!
//! Hostile text is expected: size, depth, nodes and what aliases may repeat are bounded before anything is built.

use domain::node::plain_cause;
use serde::{
    Deserialize, Deserializer, de,
    de::{MapAccess, SeqAccess, Visitor},
};
use serde_saphyr::Spanned;
use std::fmt;

const MAX_NODES: usize = 100_000;
const MAX_DEPTH: usize = 24;
const MAX_ALIASES: usize = 1_000;

/// A place in a file, both numbers from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The line.
    pub line: u64,
    /// The column, in characters.
    pub column: u64,
}

impl Place {
    /// The beginning of the file.
    pub const START: Self = Self { line: 1, column: 1 };

    fn of(location: serde_saphyr::Location) -> Self {
        Self {
            line: location.line().max(1),
            column: location.column().max(1),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// A value and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Where it begins.
    pub place: Place,
    /// What it is.
    pub value: Value,
}

/// What a node holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Nothing, `~` or `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Whole(i64),
    /// Any other number.
    Number(f64),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// Keys with values, in the order of the file; no key twice.
    Map(Vec<(Key, Node)>),
}

/// A key of a map and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// Where it begins.
    pub place: Place,
    /// Its text.
    pub name: String,
}

/// Why a text could not be read at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {problem}")]
pub struct Unreadable {
    /// Where reading ended.
    pub place: Place,
    /// What is wrong there.
    pub problem: String,
}

impl Node {
    /// Reads one YAML document; an empty one is [`Value::Null`].
    ///
    /// # Errors
    ///
    /// Says where the text is no YAML, holds a key twice, or is longer, deeper or more repetitive than allowed.
    pub fn parse(text: &str, max_bytes: usize) -> Result<Self, Unreadable> {
        let start = |problem: String| Unreadable {
            place: Place::START,
            problem,
        };
        if text.len() > max_bytes {
            return Err(start(format!("the file is larger than {max_bytes} bytes")));
        }
        if text.trim_start_matches('\u{feff}').trim().is_empty() {
            return Ok(Self {
                place: Place::START,
                value: Value::Null,
            });
        }
        serde_saphyr::from_str_with_options::<Self>(text, limits()).map_err(|error| Unreadable {
            place: error.location().map_or(Place::START, Place::of),
            problem: plain_message(&error),
        })
    }

    /// The value as it would stand in JSON; a number that JSON cannot hold becomes null.
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        match &self.value {
            Value::Null => serde_json::Value::Null,
            Value::Bool(value) => (*value).into(),
            Value::Whole(value) => (*value).into(),
            Value::Number(value) => (*value).into(),
            Value::Text(value) => value.clone().into(),
            Value::List(nodes) => nodes.iter().map(Self::to_json).collect(),
            Value::Map(entries) => entries
                .iter()
                .map(|(key, node)| (key.name.clone(), node.to_json()))
                .collect::<serde_json::Map<_, _>>()
                .into(),
        }
    }

    /// The kind of value in words, for messages.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self.value {
            Value::Null => "nothing",
            Value::Bool(_) => "true or false",
            Value::Whole(_) | Value::Number(_) => "a number",
            Value::Text(_) => "a text",
            Value::List(_) => "a list",
            Value::Map(_) => "a table",
        }
    }
}

fn limits() -> serde_saphyr::Options {
    serde_saphyr::options! {
        with_snippet: false,
        strict_booleans: true,
        budget: serde_saphyr::budget! {
            max_nodes: MAX_NODES,
            max_events: MAX_NODES * 3,
            max_depth: MAX_DEPTH,
            flow_nesting_limit: MAX_DEPTH,
            max_aliases: MAX_ALIASES,
            max_anchors: MAX_ALIASES,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: MAX_NODES,
            max_replay_stack_depth: 16,
        },
    }
}

/// The first line of the parser's message without the place, which is shown apart.
fn plain_message(error: &serde_saphyr::Error) -> String {
    let text = error.without_snippet().to_string();
    let line = text.lines().next().unwrap_or("not readable as YAML");
    plain_cause(line).chars().take(200).collect()
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = Spanned::<Value>::deserialize(deserializer)?;
        Ok(Self {
            place: Place::of(spanned.referenced),
            value: spanned.value,
        })
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a YAML value")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E: de::Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Whole(value))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Value, E> {
        i64::try_from(value)
            .map(Value::Whole)
            .map_err(|_| E::custom("the number is too large"))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Number(value))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Value, E> {
        Ok(Value::Text(value.to_owned()))
    }

    fn visit_string<E: de::Error>(self, value: String) -> Result<Value, E> {
        Ok(Value::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut nodes = Vec::new();
        while let Some(node) = seq.next_element()? {
            nodes.push(node);
        }
        Ok(Value::List(nodes))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut entries = Vec::new();
        while let Some((key, node)) = map.next_entry::<Spanned<String>, Node>()? {
            let key = Key {
                place: Place::of(key.referenced),
                name: key.value,
            };
            entries.push((key, node));
        }
        Ok(Value::Map(entries))
    }
}

#[cfg(test)]
mod tests {
    use super::{Node, Place, Value};
    use serde_json::json;

    fn parse(text: &str) -> Node {
        Node::parse(text, 100_000).unwrap()
    }

    #[test]
    fn every_kind_of_value_is_read() {
        let node = parse("a: [1, 2.5, text, 'yes', true, ~]\nb: {c: no}\n7: seven\n");
        assert_eq!(
            node.to_json(),
            json!({"a": [1, 2.5, "text", "yes", true, null], "b": {"c": "no"}, "7": "seven"})
        );
    }

    #[test]
    fn keys_and_values_know_their_places() {
        let Value::Map(entries) = parse("x: 1\nouter:\n  inner:   value\n").value else {
            panic!("a map")
        };
        let Value::Map(inner) = &entries[1].1.value else {
            panic!("a map")
        };
        assert_eq!(inner[0].0.place, Place { line: 3, column: 3 });
        assert_eq!(inner[0].1.place, Place { line: 3, column: 12 });
    }

    #[test]
    fn an_empty_text_is_nothing() {
        for text in ["", "  \n", "\u{feff}", "# only words\n", "---\n", "~"] {
            assert_eq!(parse(text).value, Value::Null, "{text:?}");
        }
    }

    #[test]
    fn what_cannot_be_read_says_where() {
        for (text, line) in [
            ("a: 1\na: 2\n", 2),
            ("a: [1\nb: 2\n", 2),
            ("a: 1\n---\nb: 1\n", 2),
            ("\"x", 1),
        ] {
            let error = Node::parse(text, 1_000).unwrap_err();
            assert!(error.place.line >= line, "{text:?}: {error}");
            assert!(!error.problem.contains('\n') && !error.problem.is_empty());
        }
        assert!(
            Node::parse("a: 1", 3)
                .unwrap_err()
                .problem
                .contains("larger than 3 bytes")
        );
    }

    #[test]
    fn bombs_of_aliases_and_depth_are_refused() {
        let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
        for k in 1..12 {
            let previous = format!("*a{}", k - 1);
            bomb.push_str(&format!("a{k}: &a{k} [{}]\n", [previous.as_str(); 9].join(", ")));
        }
        assert!(Node::parse(&bomb, 100_000).is_err());
        assert!(Node::parse(&"[".repeat(50_000), 100_000).is_err());
        assert!(Node::parse(&"- ".repeat(50_000), 200_000).is_err());
    }
}
