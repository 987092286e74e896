//! JavaScript functions that always answer the same, and classes that put something in the place of a method.

use super::{
    hollow::{is_of_idle_class, is_of_made_class, is_on_purpose},
    strength::is_constant,
    stubs::{is_abstract, named},
};
use crate::language::{
    outline::{Constant, Outline, is_makeshift},
    syntax::At,
};

/// Notes what a function of the product is, if it always answers the same.
pub(super) fn constant(root: At<'_>, function: At<'_>, outline: &mut Outline) {
    let (Some(name), Some(body)) = (named(function), function.field("body")) else {
        return;
    };
    let statements: Vec<At<'_>> = body.children().collect();
    let answer = match statements.as_slice() {
        _ if !body.is(&["statement_block"]) => Some(body),
        [only] if only.is(&["return_statement"]) => only.children().next(),
        [] => None,
        _ => return,
    };
    let is_of_made = is_of_made_class(function) && answer.is_some_and(|answer| !answer.is(&["string"]));
    let of_others = is_of_idle_class(function) && !is_of_made
        || is_on_purpose(name.text())
        || name.text() == "constructor"
        || is_abstract(root, body);
    if of_others || !answer.is_none_or(is_constant) {
        return;
    }
    let single = function.field("parameter").into_iter();
    let mut given = function
        .field("parameters")
        .into_iter()
        .flat_map(At::children)
        .chain(single);
    let takes = given.any(|part| {
        let name = part.below().find(|at| at.is(&["identifier"])).map_or("", At::text);
        !name.is_empty() && !name.starts_with('_')
    });
    let ignores = takes || is_of_made || answer.is_none();
    outline.constants.push(Constant {
        name: name.text().to_owned(),
        ignores,
        promised: is_makeshift(&words_about(function), ignores),
    });
}

/// The comments in a function and directly above it.
fn words_about(function: At<'_>) -> String {
    let inside = function.below().filter(|part| part.is(&["comment"]));
    let beside = function.ancestors().take(3).flat_map(At::everything);
    let ends = |part: &At<'_>| {
        let lines = u32::try_from(part.text().lines().count()).unwrap_or(u32::MAX);
        part.is(&["comment"]) && part.line().saturating_add(lines) == function.line()
    };
    let all = inside.chain(beside.filter(ends));
    all.map(At::text).collect::<Vec<_>>().join("\n")
}

/// Notes the methods that a class puts in the place of those of the class that it is derived from.
pub(super) fn overrides(class: At<'_>, outline: &mut Outline) {
    let heritage = class.children().find(|part| part.is(&["class_heritage"]));
    let base = heritage.and_then(|part| part.below().find(|name| name.is(&["identifier", "type_identifier"])));
    let Some(base) = base else { return };
    let methods = class.below().filter(|part| part.is(&["method_definition"]));
    let named = methods.map(|method| format!("{}.{}", base.text(), method.field_text("name")));
    outline.overrides.extend(named);
}
