//! Makes Rust functions return another value of the same type, or nothing, after they ran. Only types with a known
//! other value are supported.

use super::{answers::split, is_test_code};
use crate::language::{outline::Source, return_values::ReturnValueChanges, syntax::At};
use std::collections::BTreeSet;

/// The deepest nesting of types.
const DEEPEST: usize = 8;

/// Changes the results of the functions of these names.
pub(super) fn change_return_values(source: &Source<'_>, names: &BTreeSet<String>) -> Option<ReturnValueChanges> {
    let mut replacements = Vec::new();
    let mut open: Vec<At<'_>> = source.root.children().collect();
    open.reverse();
    while let Some(at) = open.pop().filter(|_| replacements.len() < 1_000) {
        match at.kind() {
            _ if is_test_code(source, at) => {}
            "function_item" if names.contains(at.field_text("name")) => replacements.extend(replacement(at)),
            "mod_item" | "impl_item" | "trait_item" => {
                let inner: Vec<At<'_>> = at.field("body").into_iter().flat_map(At::children).collect();
                open.extend(inner.into_iter().rev());
            }
            _ => {}
        }
    }
    (!replacements.is_empty()).then(|| ReturnValueChanges {
        replacements,
        ..ReturnValueChanges::default()
    })
}

fn replacement(function: At<'_>) -> Option<(std::ops::Range<usize>, [String; 2])> {
    let mut modifiers = function.children().filter(|part| part.is(&["function_modifiers"]));
    let is_plain = modifiers.next().is_none();
    let (body, written) = (function.field("body")?, function.field_text("return_type"));
    let [other, nothing] = values(written, DEEPEST).filter(|_| is_plain)?;
    let value = format!("let value = (|| -> {written} {})();", body.text());
    let made = [
        format!("{{ {value} {other} }}"),
        format!("{{ {value} let _ = value; {nothing} }}"),
    ];
    Some((body.range(), made))
}

/// Returns an expression of this type that differs from `value`, and an empty value of the type; `None` if none is
/// known.
fn values(written: &str, depth: usize) -> Option<[String; 2]> {
    let depth = depth.checked_sub(1)?;
    let pair = |other: &str, nothing: &str| Some([other.to_owned(), nothing.to_owned()]);
    match written.trim() {
        "bool" => pair("!value", "panic!(\"hollow\")"),
        "char" => pair("if value == 'h' { 'o' } else { 'h' }", "'\\0'"),
        "u8" | "u16" | "u32" | "u64" | "u128" | "usize" => pair("value + value / 10 * 3 + 1", "0"),
        "i8" | "i16" | "i32" | "i64" | "i128" | "isize" => pair(
            "if value < 0 { value + value / 10 * 3 - 1 } else { value + value / 10 * 3 + 1 }",
            "0",
        ),
        "f32" | "f64" => pair("if value == 0.0 { 1.0 } else { value * 1.3 }", "0.0"),
        "String" | "std::string::String" => pair(
            "if value == \"hollow\" { \"empty\".into() } else { \"hollow\".into() }",
            "String::new()",
        ),
        text => made(text, depth),
    }
}

/// Returns the expressions for a type that is composed of others.
fn made(written: &str, depth: usize) -> Option<[String; 2]> {
    let (outer, inner) = written.strip_suffix('>')?.split_once('<')?;
    let [other, _] = values(split(inner).first()?, depth)?;
    let each = |nothing: &str| [format!("value.map(|value| {{ {other} }})"), nothing.to_owned()];
    match outer.trim() {
        "Option" | "std::option::Option" => Some(each("None")),
        "Result" | "std::result::Result" | "io::Result" | "std::io::Result" => Some(each("panic!(\"hollow\")")),
        "Vec" => Some([
            format!("value.into_iter().map(|value| {{ {other} }}).collect()"),
            "Vec::new()".to_owned(),
        ]),
        _ => None,
    }
}
