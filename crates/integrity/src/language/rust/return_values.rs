//! Makes Rust functions return another value of the same type, or nothing, after they ran. Only types with a known
//! other value are supported.

use super::{answers::split, is_test_code};
use crate::language::{outline::Source, return_values::ReturnValueChanges, syntax::At};
use std::collections::BTreeSet;

/// The deepest nesting of types.
const DEEPEST: usize = 8;

pub(super) fn change_return_values(source: &Source<'_>, names: &BTreeSet<String>) -> Option<ReturnValueChanges> {
    let is_wanted = |at: At<'_>| at.is(&["function_item"]) && names.contains(at.field_text("name"));
    ReturnValueChanges::of_bodies(source.root, is_wanted, |function, body| {
        let mut parts = function.children();
        let is_other = is_test_code(source, function) || parts.any(|part| part.is(&["function_modifiers"]));
        let written = function.field_text("return_type");
        let [other, nothing] = values(written, DEEPEST).filter(|_| !is_other)?;
        let value = format!("let value = (|| -> {written} {})();", body.text());
        Some([format!("{{ {value} {other} }}"), format!("{{ {value} let _ = value; {nothing} }}")])
    })
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
        "i8" | "i16" | "i32" | "i64" | "i128" | "isize" => {
            pair("if value < 0 { value + value / 10 * 3 - 1 } else { value + value / 10 * 3 + 1 }", "0")
        }
        "f32" | "f64" => pair("if value == 0.0 { 1.0 } else { value * 1.3 }", "0.0"),
        "String" | "std::string::String" => {
            pair("if value == \"hollow\" { \"empty\".into() } else { \"hollow\".into() }", "String::new()")
        }
        text => expressions_of_composed(text, depth),
    }
}

/// Returns the expressions for a type that is composed of others.
fn expressions_of_composed(written: &str, depth: usize) -> Option<[String; 2]> {
    let (outer, inner) = written.strip_suffix('>')?.split_once('<')?;
    let [other, _] = values(split(inner).first()?, depth)?;
    let each = |nothing: &str| [format!("value.map(|value| {{ {other} }})"), nothing.to_owned()];
    match outer.trim() {
        "Option" | "std::option::Option" => Some(each("None")),
        "Result" | "std::result::Result" | "io::Result" | "std::io::Result" => Some(each("panic!(\"hollow\")")),
        "Vec" => Some([format!("value.into_iter().map(|value| {{ {other} }}).collect()"), "Vec::new()".to_owned()]),
        _ => None,
    }
}
