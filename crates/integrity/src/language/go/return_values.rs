//! Makes Go functions return another value of the same type, or the zero value, after they ran. Only types with a known
//! other value are supported.

use super::bodies::results;
use crate::language::{outline::Source, return_values::ReturnValueChanges, syntax::At};
use std::collections::BTreeSet;

/// Changes the results of the functions of these names.
pub(super) fn change_return_values(source: &Source<'_>, names: &BTreeSet<String>) -> Option<ReturnValueChanges> {
    let functions = source
        .root
        .children()
        .filter(|at| at.is(&["function_declaration", "method_declaration"]));
    let named = functions.filter(|at| names.contains(at.field_text("name")));
    let replacements: Vec<_> = named.filter_map(replacement).collect();
    (!replacements.is_empty()).then(|| ReturnValueChanges {
        replacements,
        ..ReturnValueChanges::default()
    })
}

fn replacement(function: At<'_>) -> Option<(std::ops::Range<usize>, [String; 2])> {
    let body = function.field("body")?;
    let result = function.field_text("result");
    let results = results(function);
    let (written, gives, rest) = match results.as_slice() {
        [only] => (only, "made", ""),
        [first, error] if error == "error" => (first, "made, err", ", err"),
        _ => return None,
    };
    let other = other(written)?;
    let calls = format!("{gives} := func() {result} {}()", body.text());
    Some((
        body.range(),
        [
            format!("{{ {calls}; return {other}{rest} }}"),
            format!("{{ {calls}; _ = made; return *new({written}){rest} }}"),
        ],
    ))
}

/// Returns an expression of this type whose value differs from `made`.
fn other(written: &str) -> Option<&'static str> {
    match written {
        "bool" => Some("!made"),
        "string" => Some("\"hollow\" + made"),
        "int" | "int8" | "int16" | "int32" | "int64" | "uint" | "uint8" | "uint16" | "uint32" | "uint64" | "byte"
        | "rune" => Some("made + made/10*3 + 1"),
        "float32" | "float64" => Some("made*1.3 + 1"),
        _ => None,
    }
}
