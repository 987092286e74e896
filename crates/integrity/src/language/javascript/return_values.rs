//! Makes JavaScript and TypeScript functions return another value of the same type, or nothing, after they ran.

use super::{FUNCTIONS, name_of};
use crate::language::{outline::Source, return_values::ReturnValueChanges, syntax::At};
use std::collections::BTreeSet;

/// JavaScript code that turns a value into another one of the same type.
const OTHER: &str = concat!("\n", include_str!("other_values.js"));
/// JavaScript code that turns a value into nothing.
const NOTHING: &str = concat!("\n", include_str!("nothing.js"));

pub(super) fn change_return_values(source: &Source<'_>, names: &BTreeSet<String>) -> Option<ReturnValueChanges> {
    let is_named = |at: At<'_>| name_of(at).is_some_and(|name| names.contains(name.text()));
    let is_wanted = |at: At<'_>| at.is_one_of(FUNCTIONS) && returns_its_value(at) && is_named(at);
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

/// `true` if a function returns its value directly or as a promise: it is not a generator, setter or constructor.
fn returns_its_value(function: At<'_>) -> bool {
    let is_star_or_set = |part: At<'_>| matches!(part.kind(), "*" | "set");
    !function.kind().starts_with("generator")
        && !function.parts().any(is_star_or_set)
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
