//! Python functions that always answer the same, and classes that put something in the place of a method.

use super::{
    decorators, is_nothing, statements,
    strength::is_constant,
    stubs::{is_abstract, is_of_idle_class},
};
use crate::language::{
    outline::{Constant, Outline, is_makeshift},
    syntax::At,
};

/// Notes what a function of the product is, if it always answers the same.
pub(super) fn constant(root: At<'_>, function: At<'_>, outline: &mut Outline) {
    let name = function.field_text("name");
    let Some(body) = function.field("body") else { return };
    let statements = statements(body);
    let answer = match statements.as_slice() {
        [only] if only.is(&["return_statement"]) => only.children().next().filter(|answer| !answer.is(&["none"])),
        [only] if is_nothing(*only) => None,
        _ => return,
    };
    let of_others = is_of_idle_class(function)
        || decorators(function).next().is_some()
        || name.starts_with("__")
        || is_abstract(root, function);
    if of_others || !answer.is_none_or(is_constant) {
        return;
    }
    let mut given = function.field("parameters").into_iter().flat_map(At::children);
    let takes = given.any(|part| {
        let name = part.below().find(|at| at.is(&["identifier"])).map_or("", At::text);
        !matches!(name, "" | "self" | "cls") && !name.starts_with('_')
    });
    let ignores = takes || answer.is_none();
    outline.constants.push(Constant {
        name: name.to_owned(),
        ignores,
        promised: is_makeshift(&words_about(function), ignores),
    });
}

/// The comments in a function and directly above it, and its documentation.
fn words_about(function: At<'_>) -> String {
    let inside = function.below().filter(|part| part.is(&["comment"]));
    let statements = function.field("body").into_iter().flat_map(At::children);
    let documents = statements
        .take(1)
        .filter(|first| first.children().all(|part| part.is(&["string"])));
    let beside = function.parent().into_iter().flat_map(At::everything);
    let above = beside.filter(|part| part.is(&["comment"]) && part.line().saturating_add(1) == function.line());
    let all = inside.chain(documents).chain(above);
    all.map(At::text).collect::<Vec<_>>().join("\n")
}

/// Notes the methods that a class puts in the place of those of the classes that it is derived from.
pub(super) fn overrides(class: At<'_>, outline: &mut Outline) {
    let bases = class.field("superclasses").into_iter().flat_map(At::children);
    let methods: Vec<&str> = class
        .below()
        .filter(|part| part.is(&["function_definition"]))
        .map(|part| part.field_text("name"))
        .collect();
    for base in bases {
        let base = base.text().rsplit('.').next().unwrap_or_default();
        outline
            .overrides
            .extend(methods.iter().map(|method| format!("{base}.{method}")));
    }
}
