//! What keeps a JavaScript test from running.

use super::{
    calls::{callback, callee, makes_test, title},
    checks,
};
use crate::language::{
    outline::{Mark, quoted},
    syntax::At,
};
use domain::integrity::Rule;

/// Everything that keeps a test from running: on it, on its suites, around it and in it.
pub(super) fn skips_of_test(at: At<'_>, suites: &[At<'_>], body: At<'_>) -> Vec<Mark> {
    let mut skips: Vec<Mark> = std::iter::once(at)
        .chain(suites.iter().copied())
        .flat_map(skips_of)
        .collect();
    skips.extend(
        at.ancestors()
            .filter(|outer| outer.is(&["if_statement"]))
            .filter_map(|outer| outer.field("condition"))
            .map(|condition| {
                Mark::at(
                    Rule::SkipConditional,
                    condition,
                    format!("the test is only defined if {}", quoted(condition.text())),
                )
            }),
    );
    skips.extend(body.below().filter_map(skip_statement));
    skips.extend(checks::early_return(body));
    skips
}

/// What the name and the options of a call say against running the test.
fn skips_of(at: At<'_>) -> Vec<Mark> {
    let name = callee(at);
    let mut parts = name.split('.');
    let first = parts.next().unwrap_or_default();
    let by_first = (first.starts_with('x') && first != "x") || matches!(first, "fit" | "fdescribe" | "ddescribe");
    let by_part = parts.find(|part| {
        matches!(
            *part,
            "skip" | "todo" | "failing" | "fails" | "fixme" | "skipIf" | "runIf" | "only"
        )
    });
    let mark = |key: &str| Mark {
        key: key.to_owned(),
        ..Mark::at(
            Rule::SkipAdded,
            at,
            format!(
                "{} keeps tests from running",
                quoted(&format!("{name}({:?})", title(at)))
            ),
        )
    };
    let mut marks = Vec::new();
    match (by_first, by_part) {
        (_, Some("skipIf" | "runIf")) => marks.push(Mark {
            rule: if is_constant_call(at) {
                Rule::SkipAdded
            } else {
                Rule::SkipConditional
            },
            ..mark(&at.field("function").map_or_else(String::new, At::phrase))
        }),
        (_, Some("only")) => marks.push(mark("only")),
        (true, None) if first.starts_with('f') || first.starts_with('d') => marks.push(mark("only")),
        (true, _) | (_, Some(_)) => marks.push(mark("skip")),
        (false, None) => {}
    }
    marks.extend(options(at).map(|pair| match pair.field_text("value") {
        text if text == "true" || text.starts_with(['"', '\'', '`']) => mark(pair.field_text("key")),
        _ => conditional(at, pair),
    }));
    let arguments = at.field("arguments");
    if makes_test(&name)
        && callback(at).is_none()
        && arguments.is_some_and(|list| list.children().count() == 1)
        && by_part.is_none()
    {
        marks.push(mark("no body"));
    }
    marks
}

/// Whether the condition in `it.skipIf(condition)(…)` is written out.
fn is_constant_call(at: At<'_>) -> bool {
    let condition = at.field("function").and_then(|call| call.field("arguments"));
    condition
        .and_then(|list| list.children().next())
        .is_some_and(|condition| condition.is(&["true", "false", "number", "unary_expression"]))
}

/// The options of a call that keep its test from running, or may.
fn options(at: At<'_>) -> impl Iterator<Item = At<'_>> {
    let given = at.field("arguments").into_iter().flat_map(At::children);
    let pairs = given.filter(|argument| argument.is(&["object"])).flat_map(At::children);
    pairs.filter(|part| {
        part.is(&["pair"])
            && matches!(part.field_text("key"), "skip" | "todo" | "only" | "fails")
            && part.field_text("value") != "false"
    })
}

fn conditional(at: At<'_>, pair: At<'_>) -> Mark {
    let title = title(at).replace('`', "'");
    Mark::at(
        Rule::SkipConditional,
        pair,
        format!("{} keeps `{title}` from running", quoted(pair.text())),
    )
}

/// Whether a name is taken out of the context that the runner gives: `({ skip }) => …`.
fn is_of_context(at: At<'_>, name: &str) -> bool {
    let function = at
        .ancestors()
        .find(|outer| outer.is(&["arrow_function", "function_expression"]));
    let parameters = function.and_then(|function| function.field("parameters"));
    parameters.is_some_and(|list| {
        list.below()
            .any(|part| part.is(&["shorthand_property_identifier_pattern"]) && part.text() == name)
    })
}

fn skip_statement(at: At<'_>) -> Option<Mark> {
    let called = at.field_text("function");
    let mut decided = at
        .ancestors()
        .take_while(|outer| !outer.is(&["arrow_function", "function_expression"]));
    let rule = if decided.any(|outer| outer.is(&["if_statement", "binary_expression", "ternary_expression"])) {
        Rule::SkipConditional
    } else {
        Rule::SkipAdded
    };
    if at.is(&["call_expression"]) && matches!(called, "skip" | "todo") && is_of_context(at, called) {
        return Some(Mark::at(rule, at, format!("{} skips the test", quoted(at.text()))));
    }
    let skips = at.is(&["call_expression"])
        && matches!(
            called,
            "t.skip"
                | "this.skip"
                | "ctx.skip"
                | "context.skip"
                | "t.todo"
                | "pending"
                | "test.skip"
                | "test.fixme"
                | "it.skip"
        );
    let titled = || {
        at.field("arguments").is_some_and(|list| {
            list.children()
                .any(|argument| argument.is(&["arrow_function", "function_expression"]))
        })
    };
    (skips && !titled()).then(|| Mark::at(rule, at, format!("{} skips the test", quoted(at.text()))))
}
