//! Whether a statement is reached, and whether its failure is heard.

use crate::language::{outline::Strength, syntax::At};

/// How a language writes what decides over the flow of a program.
pub struct Flow {
    /// Statements with a `condition`, a `consequence` or `body`, and perhaps an `alternative`.
    pub conditions: &'static [&'static str],
    /// Loops over the field `iterable`.
    pub loops: (&'static [&'static str], &'static str),
    /// Whether what a loop goes through is known to be nothing.
    pub is_empty: for<'t> fn(At<'t>) -> bool,
    /// Parts of which only one or none is run: arms of a `match`, sides of a choice.
    pub arms: &'static [&'static str],
    /// Functions and closures.
    pub functions: &'static [&'static str],
    /// Statements after which nothing of the same block is reached.
    pub leaves: &'static [&'static str],
    /// Conditions that never hold.
    pub never: &'static [&'static str],
    /// Conditions that always hold.
    pub always: &'static [&'static str],
    /// Whether this swallows failures of the part that stands in it.
    pub swallows: for<'t> fn(At<'t>, At<'t>) -> bool,
}

/// What is left of a check's strength where it stands: nothing where it is not reached or not heard, little where it
/// is reached on a condition.
#[must_use]
pub fn heard(flow: &Flow, at: At<'_>, body: At<'_>, strength: Strength) -> Strength {
    if !is_heard(flow, at, body) {
        return strength.min(Strength::Silenced);
    }
    let around = at.ancestors().take_while(|outer| !outer.is_same(body));
    let mut guards = around.filter(|outer| outer.is(flow.conditions) && outer.field("alternative").is_none());
    let guarded = guards.any(|outer| !outer.field("condition").is_some_and(|condition| condition.holds(at)));
    let mut around = at.ancestors().take_while(|outer| !outer.is_same(body));
    let guarded = guarded || around.any(|outer| outer.is(flow.arms)) || may_have_left(flow, at, body);
    let ends_test = matches!(at.kind(), "raise_statement" | "throw_statement") || at.text().starts_with("panic");
    if guarded && !ends_test {
        strength.min(Strength::Weak)
    } else {
        strength
    }
}

/// Whether a condition before `at` may have left the function already.
fn may_have_left(flow: &Flow, at: At<'_>, body: At<'_>) -> bool {
    let leaves = |part: At<'_>| {
        part.is(flow.conditions)
            && part.below().any(|inner| {
                inner.is(&["return_statement"])
                    && !inner
                        .ancestors()
                        .take_while(|outer| !outer.is_same(part))
                        .any(|outer| outer.is(flow.functions))
            })
    };
    let blocks = at.ancestors().take_while(|outer| body.holds(*outer));
    blocks
        .filter(|outer| outer.kind().contains("block"))
        .any(|block| block.children().take_while(|part| !part.holds(at)).any(leaves))
}

/// Whether the failure of `at`, somewhere in `body`, is reached and heard.
fn is_heard(flow: &Flow, at: At<'_>, body: At<'_>) -> bool {
    let mut inner = at;
    for outer in std::iter::once(at).chain(at.ancestors()) {
        if !inner.is_same(outer) && is_cut_off(flow, outer, inner, body) {
            return false;
        }
        if outer.is_same(body) {
            return true;
        }
        inner = outer;
    }
    true
}

fn is_cut_off(flow: &Flow, outer: At<'_>, inner: At<'_>, body: At<'_>) -> bool {
    (flow.swallows)(outer, inner)
        || is_never(flow, outer, inner)
        || is_empty_loop(flow, outer, inner)
        || is_after_leaving(flow, outer, inner)
        || is_uncalled(flow, outer, body)
}

/// Whether `inner` is the branch of `outer` that never runs.
fn is_never(flow: &Flow, outer: At<'_>, inner: At<'_>) -> bool {
    if !outer.is(flow.conditions) {
        return false;
    }
    let condition = outer.field_text("condition").trim_matches(['(', ')', ' ']);
    let otherwise = outer.field("alternative").is_some_and(|part| part.is_same(inner));
    let tested = outer.field("condition").is_some_and(|part| part.is_same(inner));
    !tested
        && if otherwise {
            flow.always.contains(&condition)
        } else {
            flow.never.contains(&condition)
        }
}

fn is_empty_loop(flow: &Flow, outer: At<'_>, inner: At<'_>) -> bool {
    let (kinds, field) = flow.loops;
    let Some(over) = outer
        .field(field)
        .filter(|over| outer.is(kinds) && !over.is_same(inner))
    else {
        return false;
    };
    let empty = ["[]", "()", "{}", "0..0", "&[]", "range(0)", "vec![]", "\"\""];
    empty.contains(&over.text().trim()) || (flow.is_empty)(over)
}

/// Whether a statement of `outer` before `inner` leaves without a condition.
fn is_after_leaving(flow: &Flow, outer: At<'_>, inner: At<'_>) -> bool {
    let leaves = |at: At<'_>| {
        at.is(flow.leaves) || at.is(&["expression_statement"]) && at.children().any(|part| part.is(flow.leaves))
    };
    let in_block = outer.kind().contains("block") || outer.is(&["module", "program", "source_file"]);
    in_block && outer.children().take_while(|at| !at.holds(inner)).any(leaves)
}

/// Whether `outer` is a function with a name of its own that the body never mentions again.
fn is_uncalled(flow: &Flow, outer: At<'_>, body: At<'_>) -> bool {
    if !outer.is(flow.functions) || outer.is_same(body) || outer.holds(body) {
        return false;
    }
    if outer.parent().is_some_and(|at| at.is(&["expression_statement"])) {
        return true;
    }
    let own = outer.field("name");
    let given = outer
        .parent()
        .filter(|at| at.is(&["let_declaration", "variable_declarator", "assignment"]));
    let name = own.or_else(|| {
        given.and_then(|at| {
            at.field("name")
                .or_else(|| at.field("pattern"))
                .or_else(|| at.field("left"))
        })
    });
    let Some(name) = name else { return false };
    let thrown_away = |at: At<'_>| {
        at.parent()
            .is_some_and(|outer| outer.is(&["expression_statement"]) || outer.phrase() == format!("void {}", at.text()))
            || is_only_there(at)
    };
    let mentions = body
        .below()
        .filter(|at| at.kind().ends_with("identifier") && at.text() == name.text() && !thrown_away(*at));
    mentions.count() < 2
}

/// Whether a name is asked for being there, and not called: `assert check`, `assert.ok(check)`.
fn is_only_there(at: At<'_>) -> bool {
    let Some(outer) = at.parent() else { return false };
    let called = outer.parent().map_or("", |call| call.field_text("function"));
    let of_truth = [
        "assert",
        "assert.ok",
        "callable",
        "self.assertTrue",
        "self.assertIsNotNone",
    ];
    outer.is(&["assert_statement"]) || outer.is(&["arguments", "argument_list"]) && of_truth.contains(&called)
}

/// Whether a condition around a place says that somebody asks for new stored files.
pub fn is_asked_for(at: At<'_>) -> bool {
    let conditions = at.ancestors().filter(|outer| outer.is(&["if_statement"]));
    conditions
        .map(|outer| outer.field_text("condition").to_lowercase())
        .any(|condition| {
            let words = ["env", "option", "update", "regen", "record", "rewrite", "bless"];
            words.iter().any(|word| condition.contains(word))
        })
}
