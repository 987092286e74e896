//! Functions of JavaScript code that are only a promise.

use super::{FUNCTIONS, hollow};
use crate::language::{
    Role,
    outline::{Mark, Source, is_promise, quoted},
    syntax::At,
};
use domain::integrity::Rule;

/// The stub that a place is, if it is one.
pub(super) fn at(source: &Source<'_>, at: At<'_>, marks: &mut Vec<Mark>) {
    if source.role != Role::Source {
        return;
    }
    let thrown = match at.kind() {
        "throw_statement" => at.children().next(),
        "call_expression" if at.field_text("function") == "Promise.reject" => {
            at.field("arguments").and_then(|list| list.children().next())
        }
        _ => None,
    };
    if let Some(what) = Some(at).filter(|at| at.is(&FUNCTIONS)).and_then(hollow::nothing_done)
        && !is_abstract(source.root, at)
    {
        let key = named(at).map_or_else(|| within(at), |name| name.text().to_owned());
        marks.push(Mark {
            key,
            open: method_of(at),
            ..Mark::at(Rule::Stub, at, what)
        });
    }
    let later = || is_whole(at) && thrown.is_some_and(|what| what.text().to_lowercase().contains(" yet"));
    if (thrown.is_some_and(promises) || later()) && !is_abstract(source.root, at) {
        let what = format!("{} stands where the work should be", quoted(at.text()));
        marks.push(Mark {
            key: within(at),
            ..Mark::at(Rule::Stub, at, what)
        });
    }
}

/// Whether a statement is all that its function does.
fn is_whole(at: At<'_>) -> bool {
    let block = at.parent().filter(|block| block.is(&["statement_block"]));
    block.is_some_and(|block| block.children().count() == 1 && block.parent().is_some_and(|outer| outer.is(&FUNCTIONS)))
}

fn promises(thrown: At<'_>) -> bool {
    let constructor = match thrown.kind() {
        "new_expression" => thrown.field_text("constructor"),
        "call_expression" => thrown.field_text("function"),
        "string" | "template_string" => return is_promise(thrown.text()),
        _ => return false,
    };
    let message = thrown
        .field("arguments")
        .and_then(|list| list.children().next())
        .map_or("", At::text);
    constructor.contains("NotImplemented")
        || matches!(constructor, "Error" | "TypeError" | "RangeError" | "assert.fail") && is_promise(message)
}

/// What a function is called, by itself or by what it is given to.
pub(super) fn named(function: At<'_>) -> Option<At<'_>> {
    function
        .field("name")
        .or_else(|| function.parent()?.field("name"))
        .or_else(|| function.parent()?.field("key"))
}

/// The name of the function that a place stands in, for a key that survives a move.
fn within(at: At<'_>) -> String {
    let function = at.ancestors().find(|outer| outer.is(&FUNCTIONS));
    function
        .and_then(named)
        .map_or_else(String::new, |name| name.text().to_owned())
}

/// Whether others are meant to fill a method in: its class says so, or a class of the file does it.
pub(super) fn is_abstract(root: At<'_>, at: At<'_>) -> bool {
    let Some(class) = at
        .ancestors()
        .find(|outer| outer.is(&["class_declaration", "abstract_class_declaration", "class"]))
    else {
        return false;
    };
    let name = class.field_text("name");
    let named = ["Abstract", "Base", "Interface"]
        .iter()
        .any(|word| name.starts_with(word) || name.ends_with(word));
    let method = within(at);
    let derives = |other: &At<'_>| {
        other.is(&["class_declaration", "class"])
            && other
                .children()
                .any(|part| part.is(&["class_heritage"]) && part.words().iter().any(|word| word == name))
    };
    let fills_in = |other: At<'_>| {
        other
            .below()
            .any(|part| part.is(&["method_definition"]) && part.field_text("name") == method)
    };
    class.is(&["abstract_class_declaration"]) || named || !name.is_empty() && root.below().filter(derives).any(fills_in)
}

/// A method as `Class.method`.
fn method_of(function: At<'_>) -> Option<String> {
    let class = function
        .ancestors()
        .find(|outer| outer.is(&["class_declaration", "class"]))?;
    let name = function
        .is(&["method_definition"])
        .then(|| function.field_text("name"))?;
    Some(format!("{}.{name}", class.field_text("name")))
}
