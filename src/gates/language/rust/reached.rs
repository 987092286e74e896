//! Whether what stands in a Rust test is compiled, run, and heard when it fails.

use super::conditions;
use crate::gates::language::flow::is_nothing;
use crate::gates::language::syntax::At;

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
        "catch_unwind" => is_let_go(outer),
        // Threads of a scope tell their panics to it.
        "spawn" | "spawn_blocking" | "spawn_local" => function.kind() != "field_expression" && is_let_go(outer),
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
                return !heard && (name.starts_with('_') || !is_mentioned_again(outer, name));
            }
            _ => return false,
        }
        at = outer;
    }
    false
}

/// Whether a name stands in the same block after the statement that binds it.
fn is_mentioned_again(binding: At<'_>, name: &str) -> bool {
    let after = std::iter::successors(binding.next(), |at| at.next());
    after
        .flat_map(At::below)
        .any(|at| at.kind().ends_with("identifier") && at.text() == name)
}
