//! Times, fields and links as GitHub writes them.

use crate::state::moment::Moment;
use serde_json::{Map, Value};

/// Returns a time as GitHub writes it: `2026-01-15T10:30:00Z`.
pub(crate) fn time(at: Moment) -> Value {
    Value::String(at.format("%Y-%m-%dT%H:%M:%SZ").to_string())
}

/// Sets one field of the object `to`.
pub(crate) fn put(to: &mut Value, field: &str, value: impl Into<Value>) {
    if let Value::Object(to) = to {
        to.insert(field.to_owned(), value.into());
    }
}

/// Adds the fields of `more` to the object `to`.
pub(crate) fn extend(to: &mut Value, more: Value) {
    if let (Value::Object(to), Value::Object(more)) = (to, more) {
        to.extend(more);
    }
}

/// Returns an object with the address `<prefix><suffix>` in each field.
pub(super) fn links(prefix: &str, list: &[(&str, &str)]) -> Value {
    let entries = list.iter().map(|(field, suffix)| ((*field).to_owned(), Value::String(format!("{prefix}{suffix}"))));
    Value::Object(entries.collect::<Map<_, _>>())
}

/// Breaks base64 into lines of this length, each with a line end.
pub(crate) fn lines_of(length: usize, encoded: &str) -> String {
    let mut text = String::with_capacity(encoded.len() + encoded.len() / length + 1);
    for (place, letter) in encoded.chars().enumerate() {
        if place > 0 && place % length == 0 {
            text.push('\n');
        }
        text.push(letter);
    }
    text.push('\n');
    text
}
