//! Where a JavaScript assertion may fail and nobody hears of it.

use super::{
    FUNCTIONS,
    checks::arguments,
    names::{defined, is_empty, root},
};
use crate::language::syntax::At;

/// Methods that call what they are given for each of a list.
const FOR_EACH: [&str; 7] = ["forEach", "map", "every", "some", "filter", "flatMap", "reduce"];

/// Whether a failure of `inner` is not heard, or `inner` not run, because of where it stands in `outer`: `try` with a
/// silent `catch`, `.catch(() => {})`, callbacks that nobody waits for, functions that call nothing they are given.
pub(super) fn swallows(outer: At<'_>, inner: At<'_>) -> bool {
    match outer.kind() {
        "try_statement" => {
            let tried = outer.field("body").is_some_and(|body| body.is_same(inner));
            let returns = |clause: At<'_>| clause.below().any(|at| at.is(&["return_statement"]));
            tried && (outer.field("handler").is_some_and(is_silent) || outer.field("finalizer").is_some_and(returns))
        }
        "catch_clause" => inner.is(&["statement_block"]) && !is_expected(outer),
        "labeled_statement" => leaves_before(outer, inner),
        "binary_expression" => is_second_choice(outer, inner),
        "generator_function" => is_only_made(outer),
        "call_expression" => in_call(outer, inner),
        _ => false,
    }
}

fn in_call(outer: At<'_>, inner: At<'_>) -> bool {
    let function = outer.field("function");
    let called = outer.field_text("function");
    let method = function.map_or("", |function| function.field_text("property"));
    let object = function.and_then(|function| function.field("object"));
    let is_given = outer.field("arguments").is_some_and(|given| given.is_same(inner));
    if is_given {
        let over_nothing = FOR_EACH.contains(&method) && object.is_some_and(is_empty);
        let itself = matches!(called, "assert.throws" | "assert.rejects") && throws_itself(outer);
        let by_own = defined(root(outer), called).is_some_and(|own| !runs_what_it_is_given(own));
        return over_nothing || itself || by_own || is_later(outer);
    }
    let catches = function.is_some_and(|function| function.is_same(inner)) && method == "catch";
    catches && arguments(outer).first().is_some_and(|handler| is_silent(*handler))
}

fn is_later(call: At<'_>) -> bool {
    let later = matches!(
        call.field_text("function"),
        "setTimeout" | "setImmediate" | "queueMicrotask" | "process.nextTick"
    );
    let waited = || call.ancestors().any(|at| at.is(&["new_expression"])) || call.text().contains("done");
    later && !waited()
}

/// `false && check()`, `true || check()`, and any other choice as a statement of its own.
fn is_second_choice(outer: At<'_>, inner: At<'_>) -> bool {
    let second = outer.field("right").is_some_and(|right| right.is_same(inner));
    let chooses = matches!(outer.field_text("operator"), "&&" | "||" | "??");
    second && chooses && outer.parent().is_some_and(|at| at.is(&["expression_statement"]))
}

/// Whether a `catch` is reached only because something is to be thrown: the `try` fails by itself where nothing is, or
/// the test counts its assertions.
fn is_expected(clause: At<'_>) -> bool {
    let fails = |at: At<'_>| {
        at.is(&["throw_statement"])
            || at.is(&["call_expression"])
                && ["fail", "unreachable", "assert", "expect", "should"]
                    .iter()
                    .any(|word| at.field_text("function").contains(word))
    };
    let tried = clause.parent().and_then(|outer| outer.field("body"));
    let counted = ["assertions(", "hasAssertions", ".plan(", "return"];
    let around = clause.ancestors().find(|outer| outer.is(&FUNCTIONS));
    tried.is_some_and(|body| body.below().any(|at| fails(at) || at.is(&["return_statement"])))
        || around.is_none_or(|function| counted.iter().any(|word| function.text().contains(word)))
        || around.is_some_and(|function| is_seen_later(function, clause))
}

/// Whether what a `catch` notes is looked at after it.
fn is_seen_later(function: At<'_>, clause: At<'_>) -> bool {
    clause.below().filter(|at| at.is(&["assignment_expression"])).any(|at| {
        let name = at.field_text("left");
        let after = function.text().rsplit(clause.text()).next().unwrap_or_default();
        after.contains(name)
    })
}

/// Whether a labelled block may be left before `inner`.
fn leaves_before(labelled: At<'_>, inner: At<'_>) -> bool {
    let label = labelled.field_text("label");
    let body = labelled.field("body").filter(|body| body.is_same(inner));
    !label.is_empty()
        && body.is_some_and(|body| {
            body.below()
                .any(|at| at.is(&["break_statement"]) && at.field_text("label") == label)
        })
}

/// Whether a generator is called, and what it makes is never gone through.
fn is_only_made(generator: At<'_>) -> bool {
    let outer = generator
        .ancestors()
        .find(|outer| !outer.is(&["parenthesized_expression", "call_expression"]));
    outer.is_some_and(|outer| outer.is(&["expression_statement"]))
}

/// Whether a block that is to throw throws by itself: then it says nothing of what else is in it.
fn throws_itself(call: At<'_>) -> bool {
    let block = arguments(call).first().and_then(|given| given.field("body"));
    block.is_some_and(|block| block.children().any(|at| at.is(&["throw_statement"])))
}

/// Whether a function of the file calls its first parameter, or hands it on, and lets its failures be heard.
pub(super) fn runs_what_it_is_given(own: At<'_>) -> bool {
    let single = own.field("parameter");
    let first = single.or_else(|| own.field("parameters").and_then(|list| list.children().next()));
    let Some((first, body)) = first.zip(own.field("body")) else {
        return true;
    };
    let names: Vec<&str> = first
        .below()
        .filter(|at| at.is(&["identifier", "shorthand_property_identifier_pattern"]))
        .map(At::text)
        .collect();
    let other_parameters = own.field("parameters").is_some_and(|list| list.children().count() > 1);
    let uses = body
        .below()
        .filter(|at| at.is(&["identifier"]) && names.contains(&at.text()));
    let mut works = uses.filter(|at| {
        let outer = at.parent();
        let voided = outer.is_some_and(|outer| outer.phrase() == format!("void {}", at.text()));
        let tried = at.ancestors().take_while(|outer| !outer.is_same(own)).any(|outer| {
            outer.is(&["try_statement"])
                && outer.field("body").is_some_and(|body| body.holds(*at))
                && outer.field("handler").is_some_and(is_silent)
        });
        !voided && !tried
    });
    other_parameters || works.next().is_some()
}

fn is_silent(handler: At<'_>) -> bool {
    let speaks = |at: At<'_>| {
        at.is(&["throw_statement"])
            || at.is(&["call_expression"])
                && ["expect", "assert", "fail", "done", "reject", "t."]
                    .iter()
                    .any(|name| at.field_text("function").contains(name))
                && !is_about_the_error_alone(handler, at)
    };
    !handler.is(&["identifier", "member_expression"]) && !handler.below().any(speaks)
}

/// `assert.ok(error)`: what was caught is always there.
fn is_about_the_error_alone(handler: At<'_>, call: At<'_>) -> bool {
    let caught = handler.field("parameter").map_or("", At::text);
    let given = arguments(call);
    let truth = matches!(call.field_text("function"), "assert" | "assert.ok" | "expect");
    truth && !caught.is_empty() && given.len() == 1 && given.first().is_some_and(|first| first.text() == caught)
}

/// Whether a `try` runs what a function around it was given, and goes on without a word whatever comes of it.
pub(super) fn forgives_what_it_is_given(tried: At<'_>) -> bool {
    let functions: Vec<At<'_>> = tried.ancestors().filter(|outer| outer.is(&FUNCTIONS)).collect();
    let Some(outermost) = functions.last() else {
        return false;
    };
    let given: Vec<&str> = functions
        .iter()
        .filter_map(|function| function.field("parameters").or_else(|| function.field("parameter")))
        .flat_map(At::below)
        .filter(|part| part.is(&["identifier"]))
        .map(At::text)
        .collect();
    let runs = |part: At<'_>| part.is(&["call_expression"]) && given.contains(&part.field_text("function"));
    let idle = |part: At<'_>| {
        part.is(&["continue_statement", "break_statement", "empty_statement"])
            || part
                .children()
                .all(|call| call.field_text("function").starts_with("console."))
    };
    let body = tried.field("handler").and_then(|handler| handler.field("body"));
    tried.field("body").is_some_and(|body| body.below().any(runs))
        && body.is_some_and(|body| body.children().all(idle))
        && !outermost.below().any(|part| part.is(&["throw_statement"]))
}
