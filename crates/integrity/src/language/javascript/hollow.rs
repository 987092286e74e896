//! Functions of JavaScript code that do nothing, and whether that is meant so.

use super::stubs::named;
use crate::language::{
    outline::{is_promise, quoted},
    syntax::At,
};

/// What a function is that does no work, if it does none and somebody relies on it.
pub(super) fn nothing_done(function: At<'_>) -> Option<String> {
    let body = function.field("body")?;
    let statements: Vec<At<'_>> = match body.kind() {
        "statement_block" => body.children().collect(),
        _ => vec![body],
    };
    let talks = statements.iter().any(|statement| says_so(*statement));
    if !statements
        .iter()
        .all(|statement| gives_nothing(*statement) || talks && gives_an_empty_thing(*statement))
    {
        return None;
    }
    let comments = function.below().filter(|part| part.is(&["comment"]));
    let mut promises = comments.filter(|note| is_promise(note.text().trim_start_matches(['/', '*', ' '])));
    let said = statements
        .iter()
        .copied()
        .find(|statement| says_so(*statement) || is_cast(*statement));
    if let Some(note) = said.or_else(|| promises.next()) {
        return Some(format!("the function does nothing, only {}", quoted(note.text())));
    }
    let name = named(function)?.text();
    let spoken_of = body.everything().any(|part| part.is(&["comment"]));
    (is_relied_upon(function) && !spoken_of && !is_on_purpose(name)).then(|| format!("`{name}` does nothing"))
}

/// Whether a statement, or the value of an arrow, gives nothing back and does nothing but talk.
fn gives_nothing(at: At<'_>) -> bool {
    let is_nothing = |value: At<'_>| matches!(value.text(), "undefined" | "null" | "void 0" | "this") || is_cast(value);
    match at.kind() {
        "empty_statement" => true,
        "return_statement" => at.children().next().is_none_or(is_nothing),
        "expression_statement" => at.children().next().is_some_and(|call| {
            call.field_text("function").starts_with("console.") || call.text().starts_with("void ")
        }),
        _ => is_nothing(at),
    }
}

/// `return []`, `return false`: what nobody had to work for.
fn gives_an_empty_thing(at: At<'_>) -> bool {
    let value = at.children().next().filter(|_| at.is(&["return_statement"]));
    value.is_some_and(|value| matches!(value.text(), "[]" | "{}" | "\"\"" | "''" | "0" | "false" | "true"))
}

/// `undefined as any`, `{} as Job`, `null!`: a value that only looks like one to the compiler.
fn is_cast(at: At<'_>) -> bool {
    let at = if at.is(&["return_statement"]) {
        at.children().next().unwrap_or(at)
    } else {
        at
    };
    match at.kind() {
        "parenthesized_expression" | "as_expression" | "non_null_expression" | "satisfies_expression" => {
            let value = at.children().next();
            value.is_some_and(|value| matches!(value.text(), "undefined" | "null" | "{}" | "({})") || is_cast(value))
        }
        _ => false,
    }
}

fn says_so(statement: At<'_>) -> bool {
    statement
        .below()
        .any(|part| part.is(&["string_fragment"]) && is_promise(part.text()))
}

/// Whether others call the function and wait for its work: it is declared, and is given something.
fn is_relied_upon(function: At<'_>) -> bool {
    let parameters = function.field("parameters").into_iter().flat_map(At::children);
    let single = function.field("parameter").into_iter();
    let mut taken = parameters
        .chain(single)
        .map(|at| at.below().find(|part| part.is(&["identifier"])).map_or("", At::text))
        .filter(|taken| !taken.is_empty() && !taken.starts_with('_'));
    let takes = taken.next().is_some();
    let exported = function.ancestors().any(|outer| outer.is(&["export_statement"]));
    match function.kind() {
        "function_declaration" | "generator_function_declaration" => takes || exported,
        "method_definition" => takes && is_of_plain_class(function) && function.field_text("name") != "constructor",
        _ => {
            let declared = function
                .parent()
                .filter(|outer| outer.is(&["variable_declarator"]))
                .and_then(At::parent)
                .and_then(At::parent);
            takes && declared.is_some_and(|outer| outer.is(&["program", "export_statement"]))
        }
    }
}

/// Whether a method is of a class that does nothing on purpose, or fills in what another class asks for.
pub(super) fn is_of_idle_class(function: At<'_>) -> bool {
    function.is(&["method_definition"]) && !is_of_plain_class(function)
}

/// Whether a getter is of a class that is made of something, and of nothing else: what it gives should come from there.
pub(super) fn is_of_made_class(function: At<'_>) -> bool {
    let class = function
        .ancestors()
        .find(|outer| outer.is(&["class_declaration", "class"]));
    let is_getter = function.is(&["method_definition"]) && function.parts().any(|part| part.text() == "get");
    let takes = |part: At<'_>| {
        part.is(&["method_definition"])
            && part.field_text("name") == "constructor"
            && part
                .field("parameters")
                .is_some_and(|all| all.children().next().is_some())
    };
    is_getter
        && class.is_some_and(|class| {
            let derives = class.children().any(|part| part.is(&["class_heritage"]));
            !derives && class.field("body").is_some_and(|body| body.children().any(takes))
        })
}

/// Whether a method is of a class that stands for itself: it derives from nothing, implements nothing, is no null object.
fn is_of_plain_class(method: At<'_>) -> bool {
    let class = method
        .ancestors()
        .find(|outer| outer.is(&["class_declaration", "class"]));
    let accessor = method
        .parts()
        .any(|part| matches!(part.text(), "set" | "get" | "static"));
    !accessor
        && class.is_some_and(|class| {
            !class.children().any(|part| part.is(&["class_heritage"])) && !is_on_purpose(class.field_text("name"))
        })
}

/// Whether a name says that nothing is meant to be done, or that others may fill it in.
pub(super) fn is_on_purpose(name: &str) -> bool {
    let small = name.to_lowercase();
    let words = [
        "noop", "nothing", "ignore", "null", "silent", "dummy", "empty", "disabled", "fake", "default",
    ];
    let hooks = [
        "on", "handle", "visit", "before", "after", "setup", "teardown", "pre", "post", "will", "did", "dispose",
        "debug", "trace", "log",
    ];
    let is_hook = |hook: &str| {
        name.strip_prefix(hook)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(|c: char| c.is_uppercase() || c == '_'))
    };
    words.iter().any(|word| small.contains(word)) || hooks.iter().any(|hook| is_hook(hook))
}
