//! What a JavaScript test file takes from others, and what it makes itself and then calls by name.

use super::names::{assigned, root};
use crate::language::{
    outline::{Import, Outline, StandIn},
    syntax::At,
};

/// What makes mocks.
const MOCKS: [&str; 6] = ["jest.fn", "vi.fn", "mock.fn", "t.mock.fn", "sinon.stub", "sinon.fake"];

/// Notes what one place brings in or makes.
pub(super) fn at(at: At<'_>, outline: &mut Outline) {
    match at.kind() {
        "import_statement" => {
            let from = at.field_text("source").trim_matches(['"', '\'']);
            imported(at, from, outline);
        }
        "variable_declarator" => {
            let (Some(name), Some(value)) = (at.field("name"), at.field("value")) else {
                return;
            };
            if value.field_text("function") == "require" {
                let from = value.field("arguments").and_then(|list| list.children().next());
                imported(name, from.map_or("", At::text).trim_matches(['"', '\'']), outline);
            } else if value.is(&["arrow_function", "function_expression"]) || is_mock(value) {
                made(name.text(), value, outline);
            }
        }
        "function_declaration" => made(at.field_text("name"), at, outline),
        "assignment_pattern" => {
            if let Some(value) = at
                .field("right")
                .filter(|value| value.is(&["arrow_function", "function_expression"]))
            {
                made(at.field_text("left"), value, outline);
            }
        }
        _ => {}
    }
}

fn imported(names: At<'_>, from: &str, outline: &mut Outline) {
    let named = names
        .below()
        .filter(|part| part.is(&["identifier", "shorthand_property_identifier_pattern"]));
    outline.imports.extend(named.map(|name| Import {
        name: name.text().to_owned(),
        from: from.to_owned(),
        line: name.line(),
    }));
}

fn is_mock(value: At<'_>) -> bool {
    let made = value
        .below()
        .find(|part| part.is(&["call_expression"]) && !part.field_text("function").contains('('));
    value.is(&["call_expression"])
        && made.is_some_and(|made| {
            let called = made.field_text("function");
            MOCKS
                .iter()
                .any(|mock| called == *mock || called.starts_with(&format!("{mock}.")))
        })
}

fn made(name: &str, value: At<'_>, outline: &mut Outline) {
    let called = root(value).below().any(|at| {
        at.is(&["call_expression"])
            && at
                .field("function")
                .is_some_and(|function| function.is(&["identifier"]) && function.text() == name)
    });
    if called {
        outline.stand_ins.push(StandIn {
            name: name.to_owned(),
            line: value.line(),
            canned: is_mock(value) || is_canned(value),
        });
    }
}

/// Whether a function calls nothing but methods of what it is given, and of what it writes down.
fn is_canned(function: At<'_>) -> bool {
    let Some(body) = function.field("body") else {
        return false;
    };
    let given: Vec<&str> = function
        .field("parameters")
        .or_else(|| function.field("parameter"))
        .into_iter()
        .flat_map(At::below)
        .filter(|at| at.is(&["identifier", "shorthand_property_identifier_pattern"]))
        .map(At::text)
        .collect();
    let own = |call: At<'_>| {
        let first = call.below().find(|part| {
            !part.is(&[
                "call_expression",
                "member_expression",
                "subscript_expression",
                "parenthesized_expression",
            ])
        });
        first.is_none_or(|first| !first.is(&["identifier"]) || given.contains(&first.text()) || first.text() == "Math")
    };
    body.below()
        .filter(|at| at.is(&["call_expression", "new_expression", "await_expression"]))
        .all(|at| at.is(&["call_expression"]) && own(at) || at.field_text("constructor").ends_with("Error"))
}

/// Whether a value is what a mock answers that the test itself made, and that nothing else ever sees.
pub(super) fn is_own_mock(subject: At<'_>) -> bool {
    let call = match subject.kind() {
        "await_expression" => subject.children().next(),
        _ => Some(subject),
    };
    let name = call
        .filter(|call| call.is(&["call_expression"]))
        .and_then(|call| call.field("function"))
        .filter(|name| name.is(&["identifier"]));
    let Some((name, made)) = name.and_then(|name| Some((name, assigned(name)?))) else {
        return false;
    };
    let body = made.ancestors().find(|outer| outer.is(&["statement_block", "program"]));
    let is_called = |at: At<'_>| {
        at.parent()
            .is_some_and(|outer| outer.field("function").is_some_and(|function| function.is_same(at)))
    };
    let seen = |at: At<'_>| {
        let declared = at.parent().is_some_and(|outer| outer.is(&["variable_declarator"]));
        at.is(&["identifier", "shorthand_property_identifier"])
            && at.text() == name.text()
            && !declared
            && !is_called(at)
    };
    is_mock(made) && body.is_some_and(|body| !body.below().any(seen))
}
