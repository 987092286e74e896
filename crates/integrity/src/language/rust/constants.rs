//! Rust functions that always answer the same.

use super::{attributes, is_test_code};
use crate::language::{
    outline::{Constant, Outline, Source, is_makeshift},
    syntax::At,
};

/// Notes what a function of the product is, if it always answers the same. What a trait asks of a type, and what is
/// compiled on a condition, may do nothing on purpose; and of several functions of one name nothing is said.
pub(super) fn constant(source: &Source<'_>, function: At<'_>, outline: &mut Outline) {
    let name = function.field_text("name");
    let of_trait = |at: At<'_>| at.is(&["trait_item"]) || at.is(&["impl_item"]) && at.field("trait").is_some();
    let of_others = function
        .ancestors()
        .any(|outer| of_trait(outer) || outer.is(&["function_item", "macro_definition"]));
    let conditional = attributes(function).any(|at| at.text().contains("cfg"));
    if of_others || conditional || is_test_code(source, function) {
        return;
    }
    let body = function.field("body").into_iter().flat_map(At::children);
    let mut work = body.filter(|at| !at.kind().ends_with("_comment") && !lets_go(*at));
    let (answer, more) = (work.next(), work.next());
    let mut same = source.root.below().filter(|at| at.is(&["function_item"]));
    let mut is_alone = || same.all(|other| other.is_same(function) || other.field_text("name") != name);
    if more.is_some() || !answer.is_some_and(is_constant) || !is_alone() {
        return;
    }
    let mut parameters = function.field("parameters").into_iter().flat_map(At::children);
    let ignores = parameters.any(|at| at.is(&["parameter"]) && !at.field_text("pattern").starts_with('_'));
    let comments = function.everything().filter(|at| at.kind().ends_with("_comment"));
    let words: Vec<&str> = comments.map(At::text).collect();
    outline.constants.push(Constant {
        name: name.to_owned(),
        ignores,
        promised: is_makeshift(&words.join("\n"), ignores),
    });
}

/// `let _ = key;`, `let (_key, _by) = (key, by);`: values that nobody looks at.
fn lets_go(at: At<'_>) -> bool {
    let Some(pattern) = at.field("pattern").filter(|_| at.is(&["let_declaration"])) else {
        return false;
    };
    let mut names = pattern.below().filter(|part| part.is(&["identifier"]));
    let calls = at.below().any(|part| part.is(&["call_expression", "macro_invocation"]));
    !calls && names.all(|name| name.text().starts_with('_'))
}

/// Whether a value is the same in every run: written out, or an error, an option or a default without anything in it.
fn is_constant(at: At<'_>) -> bool {
    let wraps = |function: &str| matches!(function, "Ok" | "Err" | "Some");
    match at.kind() {
        "unit_expression" => true,
        kind if kind.ends_with("_literal") => true,
        "unary_expression" | "tuple_expression" | "parenthesized_expression" => at.children().all(is_constant),
        "identifier" => at.text() == "None",
        "call_expression" => {
            let function = at.field_text("function");
            let given = at.field("arguments").into_iter().flat_map(At::children);
            let given: Vec<At<'_>> = given.collect();
            let made = ["Default::default", "String::new", "Vec::new", "Self::default"];
            made.contains(&function) && given.is_empty()
                || wraps(function) && given.iter().all(|value| is_constant(*value) || is_name(*value))
        }
        _ => false,
    }
}

/// The name of a type without fields or of a variant: `Missing`, `Error::Missing`.
fn is_name(at: At<'_>) -> bool {
    let last = at.text().rsplit("::").next().unwrap_or_default();
    let is_camel = last.starts_with(char::is_uppercase) && last.chars().any(char::is_lowercase);
    at.is(&["identifier", "scoped_identifier"]) && is_camel
}
