//! The tests that JavaScript calls define, and whether their definitions are reached.

use super::{
    FLOW, FUNCTIONS,
    calls::{callback, callee, makes_test, suites_around, title},
    checks,
    names::is_empty,
    skips::skips_of_test,
};
use crate::language::{
    outline::{Function, Outline, Test, Work},
    syntax::At,
};

/// A call that may define a test.
pub(super) fn call(at: At<'_>, outline: &mut Outline) {
    let name = callee(at);
    let is_inner = at.parent().is_some_and(|outer| {
        outer.is(&["call_expression"]) && outer.field("function").is_some_and(|function| function.is_same(at))
    });
    let Some(arguments) = at.field("arguments").filter(|arguments| arguments.is(&["arguments"])) else {
        return;
    };
    if !makes_test(&name) || is_inner || !arguments.children().next().is_some_and(may_be_title) {
        return;
    }
    let function = callback(at);
    let body = function
        .and_then(|function| function.field("body"))
        .unwrap_or(arguments);
    let (words, checks) = (body.words(), checks::in_body(body));
    if !is_reached(at) {
        outline.functions.push(Function {
            name: title(at),
            line: at.line(),
            words,
            checks,
        });
        return;
    }
    let suites = suites_around(at);
    let table = at
        .field("function")
        .filter(|function| function.is(&["call_expression"]))
        .into_iter()
        .flat_map(|table| table.words());
    outline.tests.push(Test {
        name: title(at),
        scope: suites.iter().rev().map(|suite| title(*suite)).collect(),
        line: at.line(),
        words: table.chain(words).collect(),
        work: work(function, body, arguments),
        skips: skips_of_test(at, &suites, body),
        checks,
    });
}

/// Whether a first argument may be what a test is called: a list or a number is the argument of another function.
fn may_be_title(first: At<'_>) -> bool {
    !first.is(&["array", "object", "number", "regex", "true", "false", "null"])
}

fn work(function: Option<At<'_>>, body: At<'_>, arguments: At<'_>) -> Work {
    let given = function.is_some()
        || arguments.children().count() < 2
        || arguments
            .children()
            .skip(1)
            .any(|given| given.is(&["identifier", "member_expression", "call_expression"]));
    let has_statement = !body.is(&["statement_block"])
        || body
            .children()
            .any(|statement| !statement.is(&["empty_statement"]) && statement.text() != "return;");
    if given && has_statement { Work::Some } else { Work::None }
}

/// Whether the definition of a test runs when the file is loaded.
fn is_reached(at: At<'_>) -> bool {
    let mut inner = at;
    for outer in at.ancestors() {
        let block = outer.is(&["statement_block", "program"]);
        let left = block
            && outer
                .children()
                .take_while(|part| !part.holds(inner))
                .any(|part| part.is(&["return_statement", "throw_statement"]));
        let never = outer.is(&["if_statement"])
            && FLOW
                .never
                .contains(&outer.field_text("condition").trim_matches(['(', ')', ' ']));
        let uncalled = outer.is(&FUNCTIONS) && is_uncalled(outer);
        let over_nothing = outer.is(&["for_in_statement"]) && outer.field("right").is_some_and(is_empty)
            || outer.is(&["call_expression"])
                && matches!(
                    outer
                        .field("function")
                        .map_or("", |function| function.field_text("property")),
                    "forEach" | "map"
                )
                && outer
                    .field("function")
                    .and_then(|function| function.field("object"))
                    .is_some_and(is_empty);
        if left || never || uncalled || over_nothing {
            return false;
        }
        inner = outer;
    }
    true
}

/// Whether a function has a name that nothing else in the file mentions.
fn is_uncalled(function: At<'_>) -> bool {
    let declared = function
        .parent()
        .filter(|outer| outer.is(&["variable_declarator"]))
        .and_then(|outer| outer.field("name"));
    let Some(name) = declared.or_else(|| function.field("name")) else {
        return false;
    };
    let Some(root) = function.ancestors().last() else {
        return false;
    };
    let exported = function.ancestors().any(|outer| outer.is(&["export_statement"]));
    let in_call = function
        .parent()
        .is_some_and(|outer| outer.is(&["arguments", "parenthesized_expression"]));
    let mentions = root
        .below()
        .filter(|at| at.is(&["identifier", "shorthand_property_identifier"]) && at.text() == name.text())
        .take(2);
    !exported && !in_call && mentions.count() < 2
}
