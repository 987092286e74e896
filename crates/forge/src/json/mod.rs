//! The forge's memory in GitHub's JSON: field names, types and spellings as in its published description.

mod account;
mod check;
mod issue;
mod pull;
mod repo;

pub(super) use check::{check_run, check_suite, head_commit, simple_check_suite, status};
pub(super) use issue::{comment, issue, label, reaction};
pub(super) use pull::{Computed, inline_comment, pull, requested, review, review_state_lower};

use super::state::Moment;
use serde_json::{Map, Value};

/// A moment as GitHub writes it: `2026-01-15T10:30:00Z`.
pub(super) fn time(at: Moment) -> Value {
    Value::String(at.format("%Y-%m-%dT%H:%M:%SZ").to_string())
}

pub(super) fn time_or_null(at: Option<Moment>) -> Value {
    at.map_or(Value::Null, time)
}

/// Sets one field of the object `to`.
pub(super) fn put(to: &mut Value, field: &str, value: impl Into<Value>) {
    if let Value::Object(to) = to {
        to.insert(field.to_owned(), value.into());
    }
}

/// Adds the fields of `more` to the object `to`.
pub(super) fn extend(to: &mut Value, more: Value) {
    if let (Value::Object(to), Value::Object(more)) = (to, more) {
        to.extend(more);
    }
}

/// An object of `<field>: <prefix><suffix>`.
fn links(prefix: &str, list: &[(&str, &str)]) -> Value {
    let entries = list
        .iter()
        .map(|(field, suffix)| ((*field).to_owned(), Value::String(format!("{prefix}{suffix}"))));
    Value::Object(entries.collect::<Map<_, _>>())
}
