//! Makes Python functions return another value of the same type, or nothing, after they ran.

use crate::language::{
    outline::{Source, quoted},
    return_values::ReturnValueChanges,
    syntax::At,
};
use std::collections::BTreeSet;

/// Python code that turns a value into another one of the same type.
const OTHER: &str = include_str!("other_values.py");
/// Python code that turns a value into nothing.
const NOTHING: &str = "def _made(value):\n    return None\n";
/// Python code that wraps the functions of some names, so that they return the changed value.
const WRAPS: &str = include_str!("wraps.py");

/// Changes the results of the functions of these names, at the end of the file.
pub(super) fn change_return_values(source: &Source<'_>, names: &BTreeSet<String>) -> Option<ReturnValueChanges> {
    let functions = source.root.below().filter(|at| at.is(&["function_definition"]));
    let known: BTreeSet<&str> =
        functions.map(|at: At<'_>| at.field_text("name")).filter(|name| names.contains(*name)).collect();
    let listed: Vec<String> = known.iter().map(|name| quoted(name).replace('`', "'")).collect();
    let end = |makes: &str| format!("\n\n{makes}\n\n{WRAPS}\n\n_otherwise(({},))\n", listed.join(", "));
    (!known.is_empty()).then(|| ReturnValueChanges { end: [end(OTHER), end(NOTHING)], ..ReturnValueChanges::default() })
}
