//! Makes JavaScript and TypeScript functions return another value of the same type, or nothing, after they ran.

use super::{FUNCTIONS, named};
use crate::language::{outline::Source, return_values::ReturnValueChanges, syntax::At};
use std::collections::BTreeSet;

/// JavaScript code that turns a value into another one of the same type.
const OTHER: &str = "
function __made(value, depth = 0) {
  const deeper = (inner) => __made(inner, depth + 1);
  if (value === undefined || value === null || depth > 5) return value;
  if (typeof value === 'bigint') return value + 1n;
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'string') return value === 'hollow' ? 'empty' : 'hollow';
  if (typeof value === 'number') {
    const off = Math.abs(value) * 0.3;
    return Number.isInteger(value) ? value + Math.max(1, Math.ceil(off)) : value + off;
  }
  if (typeof value !== 'object') return value;
  if (typeof value.then === 'function') return value.then(deeper);
  if (Array.isArray(value)) return value.slice(0, 1000).map(deeper);
  if (value instanceof Date) return new Date(Number(value) + 86400000);
  if (value instanceof Set) return new Set([...value].map(deeper));
  if (value instanceof Map) return new Map([...value].map((pair) => [pair[0], deeper(pair[1])]));
  const made = Object.create(Object.getPrototypeOf(value));
  for (const key of Object.keys(value)) made[key] = deeper(value[key]);
  return made;
}
";
/// JavaScript code that turns a value into nothing.
const NOTHING: &str = "
function __made(value) {
  const waits = value !== undefined && value !== null && typeof value.then === 'function';
  return waits ? value.then(() => undefined) : undefined;
}
";

pub(super) fn change_return_values(source: &Source<'_>, names: &BTreeSet<String>) -> Option<ReturnValueChanges> {
    let is_named = |at: At<'_>| named(at).is_some_and(|name| names.contains(name.text()));
    let is_wanted = |at: At<'_>| at.is_one_of(FUNCTIONS) && gives(at) && is_named(at);
    let is_typed = ["ts", "tsx", "mts", "cts"].contains(&source.path.rsplit('.').next()?);
    let changes = ReturnValueChanges::of_bodies(source.root, is_wanted, |function, body| {
        let made = wrapped(function, body);
        Some([made.clone(), made])
    })?;
    Some(ReturnValueChanges {
        begin: if is_typed { "// @ts-nocheck\n" } else { "" },
        end: [OTHER.to_owned(), NOTHING.to_owned()],
        ..changes
    })
}

/// `true` if a function returns its value directly or as a promise: it is no generator, setter or constructor.
fn gives(function: At<'_>) -> bool {
    let makes = |part: At<'_>| matches!(part.kind(), "*" | "set");
    !function.kind().starts_with("generator")
        && !function.parts().any(makes)
        && function.field_text("name") != "constructor"
}

/// Returns a body that computes the value and then changes it.
fn wrapped(function: At<'_>, body: At<'_>) -> String {
    let is_async = function.parts().any(|part| part.kind() == "async");
    let waits = if is_async { "async " } else { "" };
    if body.is(&["statement_block"]) {
        format!("{{ return __made(({waits}() => {})()); }}", body.text())
    } else {
        format!("__made({})", body.text())
    }
}
