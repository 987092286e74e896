//! Whether what stands in a Rust test is compiled, run, and heard when it fails.

use super::conditions;
use crate::language::{
    Role,
    outline::{Mark, Source},
    syntax::At,
};
use domain::integrity::Rule;

/// Whether a statement is part of what is compiled: `#[cfg(any())]` before it takes it out.
pub(super) fn is_compiled(at: At<'_>, body: At<'_>) -> bool {
    let inside = std::iter::once(at)
        .chain(at.ancestors())
        .take_while(|outer| !outer.is_same(body));
    let above = |at: At<'_>| {
        let above = std::iter::successors(at.previous(), |at| at.previous());
        above.take_while(|at| at.is(&["attribute_item"])).all(is_met)
    };
    inside.into_iter().all(above)
}

fn is_met(attribute: At<'_>) -> bool {
    conditions::of_attribute(attribute).is_none_or(|condition| conditions::holds(condition) == Some(true))
}

/// Methods that hand every item to a closure.
const GIVING: [&str; 8] = [
    "for_each",
    "map",
    "all",
    "any",
    "inspect",
    "try_for_each",
    "and_then",
    "map_or",
];

/// Methods that hand items to a closure only when, or as far as, somebody asks for what they give.
const LAZY: [&str; 7] = [
    "map",
    "inspect",
    "filter_map",
    "flat_map",
    "filter",
    "map_while",
    "and_then",
];

/// Whether nobody asks for what a call gives: it is a statement, or has a name that nothing mentions again.
fn is_dropped(call: At<'_>) -> bool {
    call.parent().is_some_and(|outer| match outer.kind() {
        "expression_statement" => true,
        "let_declaration" => {
            let name = outer.field_text("pattern").trim_start_matches("mut ");
            name == "_" || mentions(outer, name).next().is_none()
        }
        _ => false,
    })
}

/// Functions that take a closure and never call it.
const DROPPING: [&str; 4] = ["drop", "forget", "black_box", "size_of_val"];

/// Whether `outer` swallows the failure of what stands in it: a panic that is caught and thrown away, a thread that nobody
/// asks, a closure that nothing calls.
pub(super) fn swallows(outer: At<'_>, inner: At<'_>) -> bool {
    if !outer.is(&["call_expression"]) || !outer.field("arguments").is_some_and(|part| part.is_same(inner)) {
        return false;
    }
    let Some(function) = outer.field("function") else {
        return false;
    };
    let called = function.text();
    let name = match function.kind() {
        "field_expression" => function.field_text("field"),
        "generic_function" => function.field_text("function").rsplit("::").next().unwrap_or_default(),
        _ => called.rsplit("::").next().unwrap_or_default(),
    };
    let in_closure = || inner.children().any(|at| at.is(&["closure_expression", "async_block"]));
    match name {
        "catch_unwind" => is_let_go(outer) || !is_answered(outer),
        // Threads of a scope tell their panics to it.
        "spawn" | "spawn_blocking" | "spawn_local" => function.kind() != "field_expression" && is_let_go(outer),
        _ if LAZY.contains(&name) && function.is(&["field_expression"]) && is_dropped(outer) => in_closure(),
        _ if DROPPING.contains(&name) => in_closure(),
        _ if GIVING.contains(&name) && function.is(&["field_expression"]) => {
            in_closure()
                && function
                    .field("value")
                    .is_some_and(|value| is_nothing(value) || value.text() == "None")
        }
        _ => false,
    }
}

/// A function beside tests that catches the panics of what it is given, and lets them go.
pub(super) fn lets_go(source: &Source<'_>, function: At<'_>) -> Option<Mark> {
    let body = function.field("body").filter(|_| source.role != Role::Source)?;
    let catches = body.below().filter(|at| {
        let given = at.field("arguments").and_then(|list| list.children().next());
        let is_name =
            given.is_some_and(|given| given.is(&["identifier"]) || given.text().starts_with("AssertUnwindSafe("));
        at.is(&["call_expression"]) && at.field_text("function").ends_with("catch_unwind") && is_name
    });
    let call = catches
        .into_iter()
        .find(|call| is_let_go(*call) || !is_answered(*call))?;
    let what = format!(
        "`{}` catches what fails in it and lets it go",
        function.field_text("name")
    );
    Some(Mark::at(Rule::AssertionRemoved, call, what))
}

/// Words by which a function answers to a panic that it caught.
const ANSWERS: [&str; 14] = [
    "assert",
    "assert_eq",
    "assert_ne",
    "panic",
    "resume_unwind",
    "unwrap",
    "expect",
    "unwrap_err",
    "expect_err",
    "unreachable",
    "return",
    "Err",
    "map_err",
    "?",
];

/// Whether the function answers, outside of the call, to what a call caught; or gives it to who called.
fn is_answered(call: At<'_>) -> bool {
    let Some(function) = call.ancestors().find(|outer| outer.is(&["function_item"])) else {
        return true;
    };
    let Some(body) = function.field("body") else {
        return true;
    };
    let is_tail = body.children().last().is_some_and(|last| {
        last.holds(call) && !last.is(&["expression_statement", "if_expression", "let_declaration"])
    });
    is_tail
        || body
            .below()
            .filter(|at| !call.holds(*at))
            .any(|at| ANSWERS.contains(&at.text()) || at.is(&["try_expression"]))
}

/// Whether nothing looks at what a call gives: it ends as a statement, under a name like `_`, under one that nothing
/// mentions again, or in a method that takes its failure away.
fn is_let_go(call: At<'_>) -> bool {
    let mut at = call;
    let mut last = "";
    while let Some(outer) = at.parent() {
        match outer.kind() {
            "field_expression" => last = outer.field_text("field"),
            "call_expression" | "await_expression" | "parenthesized_expression" => {}
            "expression_statement" => return !matches!(last, "unwrap" | "expect" | "unwrap_err" | "expect_err"),
            "let_declaration" => {
                let name = outer.field_text("pattern").trim_start_matches("mut ");
                let heard = matches!(last, "unwrap" | "expect" | "unwrap_err" | "expect_err");
                return !heard && (name == "_" || mentions(outer, name).all(is_let_go));
            }
            _ => return false,
        }
        at = outer;
    }
    false
}

/// Where a name stands in the same block after the statement that binds it.
fn mentions<'t>(binding: At<'t>, name: &'t str) -> impl Iterator<Item = At<'t>> {
    let after = std::iter::successors(binding.next(), |at| at.next());
    after
        .flat_map(At::below)
        .filter(move |at| at.kind().ends_with("identifier") && at.text() == name)
}

/// Lists and ranges in which nothing is.
const NOTHING: [&str; 9] = [
    "[]",
    "0..0",
    "&[]",
    "vec![]",
    "Vec::new()",
    "[].iter()",
    "vec![].iter()",
    "std::iter::empty()",
    "iter::empty()",
];

/// Whether an expression is a list or a range in which nothing is, as far as the file tells: written so, cut to nothing, or
/// a name for such a one.
pub(super) fn is_nothing(over: At<'_>) -> bool {
    let text = over.text().trim();
    let text = text
        .strip_prefix('(')
        .and_then(|rest| rest.strip_suffix(')'))
        .unwrap_or(text);
    let cut = [".take(0)", ".filter(|_| false)", "[..0]", "[0..0]", "args().skip("];
    let range = text.split_once("..");
    let is_zero = |text: &str| matches!(number_named(over, text.trim_start_matches('=').trim()), Some("0"));
    NOTHING.contains(&text)
        || cut.iter().any(|end| text.contains(end))
        || range.is_some_and(|(from, to)| from.trim() == "0" && !to.starts_with('=') && is_zero(to))
        || over.is(&["identifier"]) && bound(over, text).is_some_and(|value| NOTHING.contains(&value.text().trim()))
}

/// A number as it is written, or as the only thing that the file binds to the name.
fn number_named<'t>(at: At<'t>, text: &'t str) -> Option<&'t str> {
    match text.chars().all(|c| c.is_ascii_digit()) {
        true => Some(text),
        false => bound(at, text).map(|value| value.text().trim()),
    }
}

/// What the file binds to a name, where it does so once and nothing is put into it later.
fn bound<'t>(at: At<'t>, name: &str) -> Option<At<'t>> {
    let root = at.ancestors().last()?;
    let named = |at: &At<'t>| {
        let binds = at.is(&["let_declaration", "const_item", "static_item"]);
        let own = at.field("name").or_else(|| at.field("pattern"));
        binds && own.is_some_and(|own| own.text().trim_start_matches("mut ") == name)
    };
    let mut all = root.below().filter(named);
    let (first, second) = (all.next()?, all.next());
    let filled = ["push", "append", "extend", "insert"];
    let grows = root.below().any(|at| {
        let call = at.is(&["field_expression"]) && at.field_text("value") == name;
        call && filled.contains(&at.field_text("field"))
    });
    let value = first.field("value")?;
    (second.is_none() && !grows).then_some(value)
}
