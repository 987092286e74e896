//! What a Python test file takes from others, and what it makes itself and then calls by name.

use super::{
    names::{defined, root},
    strength::is_constant,
};
use crate::language::{
    outline::{Import, Outline, StandIn},
    syntax::At,
};

/// What makes mocks.
const MOCKS: [&str; 5] = ["Mock", "MagicMock", "AsyncMock", "NonCallableMock", "create_autospec"];

/// Notes what one place brings in or makes.
pub(super) fn at(at: At<'_>, outline: &mut Outline) {
    match at.kind() {
        "import_from_statement" => imported(at, outline),
        "import_statement" => {
            for part in at.children().filter(|part| part.is(&["aliased_import"])) {
                outline.imports.push(Import {
                    name: part.field_text("alias").to_owned(),
                    from: part.field_text("name").to_owned(),
                    line: at.line(),
                });
            }
        }
        "function_definition" if !at.ancestors().any(|outer| outer.is(&["class_definition"])) => {
            made(at.field_text("name"), at, outline);
        }
        "assignment" => {
            let left = at.field("left").filter(|left| left.is(&["identifier"]));
            if let Some((left, right)) = left.zip(at.field("right"))
                && (right.is(&["lambda"]) || is_mock(right))
            {
                made(left.text(), right, outline);
            }
        }
        "default_parameter" => {
            if let Some(value) = at.field("value").filter(|value| value.is(&["lambda"])) {
                made(at.field_text("name"), value, outline);
            }
        }
        _ => {}
    }
}

fn imported(at: At<'_>, outline: &mut Outline) {
    let from = at.field_text("module_name");
    let names = at
        .children()
        .filter(|part| !part.is(&["relative_import"]) && part.text() != from);
    for part in names {
        let name = part
            .field("alias")
            .or_else(|| part.is(&["dotted_name"]).then_some(part));
        outline.imports.extend(name.map(|name| Import {
            name: name.text().to_owned(),
            from: from.to_owned(),
            line: at.line(),
        }));
    }
}

fn made(name: &str, value: At<'_>, outline: &mut Outline) {
    if name.starts_with("test") || name.starts_with("pytest_") || !is_called(value, name) {
        return;
    }
    outline.stand_ins.push(StandIn {
        name: name.to_owned(),
        line: value.line(),
        canned: is_mock(value) || is_canned(value),
    });
}

/// Whether a value is a mock.
pub(super) fn is_mock(value: At<'_>) -> bool {
    let made = value.field_text("function").rsplit('.').next().unwrap_or_default();
    value.is(&["call"]) && MOCKS.contains(&made)
}

fn is_called(value: At<'_>, name: &str) -> bool {
    root(value).below().any(|at| {
        at.is(&["call"])
            && at
                .field("function")
                .is_some_and(|function| function.is(&["identifier"]) && function.text() == name)
    })
}

/// Whether a function calls nothing but what it is given, and what it writes down.
fn is_canned(function: At<'_>) -> bool {
    let Some(body) = function.field("body") else {
        return false;
    };
    let given: Vec<&str> = function
        .field("parameters")
        .into_iter()
        .flat_map(At::below)
        .filter(|at| at.is(&["identifier"]))
        .map(At::text)
        .collect();
    let own = |call: At<'_>| {
        let Some(first) = call.below().nth(1).map(leftmost) else {
            return false;
        };
        !first.is(&["identifier"])
            || given.contains(&first.text())
            || first.text().ends_with("Error")
            || matches!(
                first.text(),
                "int" | "str" | "float" | "len" | "abs" | "max" | "min" | "print"
            )
    };
    body.below().filter(|at| at.is(&["call"])).all(own)
}

fn leftmost(at: At<'_>) -> At<'_> {
    at.below()
        .find(|part| !part.is(&["attribute", "call", "subscript", "parenthesized_expression"]))
        .unwrap_or(at)
}

/// Whether a check is about a mock that the test itself made, and that nothing else ever sees.
pub(super) fn is_own_mock(subject: At<'_>) -> bool {
    let name = leftmost(subject);
    let Some(value) = Some(name)
        .filter(|name| name.is(&["identifier"]))
        .and_then(super::names::assigned)
        .filter(|value| is_mock(*value))
    else {
        return false;
    };
    let Some(function) = value.ancestors().find(|outer| outer.is(&["function_definition"])) else {
        return false;
    };
    let begins = |part: At<'_>| {
        let first = leftmost(part);
        first.is(&["identifier"]) && first.text() == name.text()
    };
    let seen = |at: At<'_>| match at.kind() {
        "argument_list" => at.children().any(begins),
        "keyword_argument" => at.field("value").is_some_and(begins),
        "assignment" => at.field("right").is_some_and(begins),
        "return_statement" | "yield" | "list" | "tuple" | "dictionary" | "pair" => at.children().any(begins),
        "with_item" | "lambda" => true,
        _ => false,
    };
    // What a mock is given by the test may be what the product made.
    let fed = |at: At<'_>| {
        let given = at.field("arguments").filter(|given| given.is(&["argument_list"]));
        at.is(&["call"])
            && begins(at)
            && !at.field_text("function").contains("assert_")
            && given.is_some_and(|given| !given.children().all(is_constant))
    };
    let of_check = |at: At<'_>| {
        at.parent()
            .is_some_and(|call| call.field_text("function").contains("assert"))
    };
    defined(function, name.text()).is_none() && !function.below().any(|at| fed(at) || seen(at) && !of_check(at))
}
