//! Where a Python assertion may fail and nobody hears of it.

use super::{
    checks::strength_of,
    names::{defined, root},
};
use crate::language::{outline::Strength, syntax::At};

/// Whether an exception, or one of several, is so general that a failing assertion is one too.
pub(super) fn catches_everything(at: At<'_>) -> bool {
    at.below()
        .any(|part| part.is(&["identifier"]) && matches!(part.text(), "Exception" | "BaseException"))
}

fn catches_failures(at: At<'_>) -> bool {
    catches_everything(at)
        || at
            .below()
            .any(|part| part.is(&["identifier"]) && part.text() == "AssertionError")
}

/// Whether a failure of `inner` is not heard, or `inner` not run, because of where it stands in `outer`: `try` with an
/// `except` that says nothing; `suppress`; `raises` around an assertion; a function that nobody calls, waits for or hears.
pub(super) fn swallows(outer: At<'_>, inner: At<'_>) -> bool {
    match outer.kind() {
        "try_statement" => {
            let tried = outer.field("body").is_some_and(|body| body.is_same(inner));
            let silences = |clause: At<'_>| match clause.kind() {
                "except_clause" | "except_group_clause" => is_silent(clause),
                "finally_clause" => clause.below().any(|at| at.is(&["return_statement"])),
                _ => false,
            };
            tried && outer.children().any(silences)
        }
        "with_statement" => outer.field("body").is_some_and(|body| body.is_same(inner)) && contexts(outer).any(hides),
        "for_statement" | "while_statement" => {
            let broken = outer
                .field("body")
                .is_some_and(|body| body.children().any(|at| at.is(&["break_statement"])));
            broken && outer.field("alternative").is_some_and(|part| part.is_same(inner))
        }
        "expression_statement" => inner.is(&["generator_expression", "lambda", "comparison_operator"]),
        "boolean_operator" => {
            let second = outer.field("right").is_some_and(|right| right.is_same(inner));
            second && outer.parent().is_some_and(|at| at.is(&["expression_statement"]))
        }
        "function_definition" => (is_async(outer) || yields(outer)) && is_never_awaited(outer),
        "call" => {
            let called = outer.field_text("function").rsplit('.').next().unwrap_or_default();
            let apart = matches!(
                called,
                "Thread" | "Timer" | "Process" | "start_new_thread" | "call_soon" | "register"
            );
            apart && inner.is(&["argument_list"])
        }
        _ => false,
    }
}

fn contexts(with: At<'_>) -> impl Iterator<Item = At<'_>> {
    let clauses = with.children().filter(|part| part.is(&["with_clause"]));
    clauses.flat_map(At::below).filter(|part| part.is(&["call"]))
}

/// Whether a context hears failing assertions and says nothing.
fn hides(call: At<'_>) -> bool {
    let name = call.field_text("function").rsplit('.').next().unwrap_or_default();
    let given = call.field("arguments");
    match name {
        "suppress" => given.is_some_and(catches_failures),
        "raises" | "assertRaises" | "assertRaisesRegex" => given
            .and_then(|list| list.children().next())
            .is_some_and(catches_failures),
        _ => defined(root(call), name).is_some_and(swallows_inside),
    }
}

/// Whether a function or class of the file catches what happens in it and goes on: a context manager or a decorator.
pub(super) fn swallows_inside(definition: At<'_>) -> bool {
    let tries = definition.below().any(|at| {
        at.is(&["try_statement"])
            && at
                .children()
                .any(|clause| clause.is(&["except_clause", "except_group_clause"]) && is_silent(clause))
    });
    let exits = definition.below().any(|at| {
        at.is(&["function_definition"]) && at.field_text("name") == "__exit__" && at.phrase().ends_with("return True")
    });
    tries || exits
}

/// Whether a function is a generator, which runs only where somebody goes through it.
fn yields(function: At<'_>) -> bool {
    function.below().any(|at| at.is(&["yield"]))
}

pub(super) fn is_async(function: At<'_>) -> bool {
    function.parts().next().is_some_and(|first| first.text() == "async")
}

/// Whether a coroutine is only made: `check()` as a statement of its own, and nothing else.
pub(super) fn is_never_awaited(function: At<'_>) -> bool {
    let Some(body) = function.parent() else { return false };
    let name = function.field_text("name");
    let mut uses = body
        .below()
        .filter(|at| {
            at.is(&["identifier"]) && at.text() == name && !function.field("name").is_some_and(|own| own.is_same(*at))
        })
        .peekable();
    let only_made = |at: At<'_>| {
        let call = at.parent().filter(|call| call.is(&["call"]));
        call.and_then(At::parent)
            .is_some_and(|outer| outer.is(&["expression_statement"]))
    };
    uses.peek().is_some() && uses.all(only_made)
}

/// Whether a block that is to raise something raises it itself: then it says nothing of what else is in it.
pub(super) fn raises_itself(call: At<'_>) -> bool {
    let with = call.ancestors().find(|outer| outer.is(&["with_statement"]));
    let body = with
        .filter(|with| contexts(*with).any(|context| context.is_same(call)))
        .and_then(|with| with.field("body"));
    body.is_some_and(|body| body.children().any(|at| at.is(&["raise_statement"])))
}

/// The function around a `try` that runs what that function was given, and goes on without a word whatever comes of it.
pub(super) fn forgiving(tried: At<'_>) -> Option<&str> {
    let functions: Vec<At<'_>> = tried
        .ancestors()
        .filter(|outer| outer.is(&["function_definition"]))
        .collect();
    let outermost = functions.last()?;
    let given: Vec<&str> = functions
        .iter()
        .filter_map(|function| function.field("parameters"))
        .flat_map(At::below)
        .filter(|part| part.is(&["identifier"]))
        .map(At::text)
        .collect();
    let runs = |part: At<'_>| part.is(&["call"]) && given.contains(&part.field_text("function"));
    let idle = |part: At<'_>| {
        part.is(&["pass_statement", "continue_statement", "break_statement"])
            || part.is(&["expression_statement"])
                && part.children().all(|call| call.is(&["call", "ellipsis", "string"]))
    };
    let says_nothing = |clause: At<'_>| {
        let body = clause.children().find(|part| part.is(&["block"]));
        is_silent(clause) && body.is_some_and(|body| body.children().all(idle))
    };
    let mut clauses = tried
        .children()
        .filter(|part| part.is(&["except_clause", "except_group_clause"]));
    let forgives = tried.field("body").is_some_and(|body| body.below().any(runs))
        && clauses.any(says_nothing)
        && !outermost
            .below()
            .any(|part| part.is(&["raise_statement", "assert_statement", "else_clause"]));
    forgives.then(|| outermost.field_text("name"))
}

/// Whether a decorator of this file mentions what it decorates.
pub(super) fn runs_what_it_decorates(definition: At<'_>) -> bool {
    let parameter = definition
        .field("parameters")
        .and_then(|list| list.children().next())
        .map_or("", |first| first.field("name").map_or(first.text(), At::text));
    definition
        .field("body")
        .is_some_and(|body| body.below().any(|at| at.is(&["identifier"]) && at.text() == parameter))
}

fn is_silent(clause: At<'_>) -> bool {
    let body = clause.children().find(|part| part.is(&["block"]));
    let mut caught = clause.children().filter(|part| !part.is(&["block"])).peekable();
    let hears = caught.peek().is_none() || caught.any(catches_failures);
    let speaks = body.is_some_and(|body| {
        body.below().any(|at| {
            at.is(&["raise_statement"])
                || at.is(&["call"]) && at.field_text("function").ends_with("fail")
                || strength_of(at).is_some_and(|strength| strength == Strength::Strong)
        })
    });
    hears && !speaks
}
