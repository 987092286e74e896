//! Decides if a statement is reached: finds dead code and conditional assertions.

use crate::{
    language::{outline::Strength, syntax::At},
    words::is_one_of,
};
use serde::Deserialize;

/// A language's control flow: kinds of syntax nodes, with blanks between them, and conditions as they are written.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Flow {
    /// Statements with a `condition`, and perhaps an `alternative`.
    pub conditions: String,
    /// Parts of which at most one runs, such as the arms of a `match`.
    pub arms: String,
    /// Functions and closures.
    pub functions: String,
    /// Statements that return from the function.
    pub returns: String,
    /// Statements after which nothing in the same block is reached.
    pub leaves: String,
    /// Methods that call a function only if there is a value.
    pub perhaps: String,
    /// Conditions that are never true.
    pub never: Vec<String>,
    /// Empty lists.
    pub empty: Vec<String>,
}

/// Lowers an assertion's strength by its place: to `Silenced` if it is never reached, to at most `Weak` if it is only
/// reached under a condition.
pub fn reached(flow: &Flow, at: At<'_>, body: At<'_>, strength: Strength) -> Strength {
    if is_dead(flow, at, body) {
        return strength.min(Strength::Silenced);
    }
    if is_conditional_assertion(flow, at, body) {
        return strength.min(Strength::Weak);
    }
    strength
}

/// `true` if an assertion is in a branch that may not be taken. A statement that only ends the test does not count,
/// since the branch exists for it.
fn is_conditional_assertion(flow: &Flow, at: At<'_>, body: At<'_>) -> bool {
    let ends_test = at.kind().contains("raise") || at.kind().contains("throw") || at.text().starts_with("panic");
    let mut around = at.ancestors().take_while(|outer| !outer.is_same(body));
    let guards = |outer: At<'_>| {
        let asks = outer.field("condition").is_some_and(|condition| condition.holds(at));
        let is_condition = outer.is_one_of(&flow.conditions) && outer.field("condition").is_some();
        let is_perhaps =
            || outer.field("function").is_some_and(|called| is_one_of(&flow.perhaps, called.field_text("field")));
        outer.is_one_of(&flow.arms) || is_perhaps() || is_condition && outer.field("alternative").is_none() && !asks
    };
    !ends_test && around.any(guards)
}

fn is_dead(flow: &Flow, at: At<'_>, body: At<'_>) -> bool {
    let mut inner = at;
    for outer in at.ancestors() {
        if is_never(flow, outer, inner) || is_over_nothing(flow, outer, inner) || is_after_leaving(flow, outer, inner) {
            return true;
        }
        if outer.is_same(body) {
            return false;
        }
        inner = outer;
    }
    false
}

fn is_never(flow: &Flow, outer: At<'_>, inner: At<'_>) -> bool {
    let condition = outer.field_text("condition").trim_matches(['(', ')', ' ']);
    let is_branch = |name: &str| outer.field(name).is_some_and(|part| part.is_same(inner));
    outer.is_one_of(&flow.conditions)
        && !is_branch("condition")
        && !is_branch("alternative")
        && flow.never.iter().any(|never| never == condition)
}

/// `true` if `inner` is the body of a loop over a literal empty list.
fn is_over_nothing(flow: &Flow, outer: At<'_>, inner: At<'_>) -> bool {
    let over = outer.field("right").or_else(|| outer.field("value"));
    let is_body = outer.field("body").is_some_and(|body| body.is_same(inner));
    outer.kind().starts_with("for")
        && is_body
        && over.is_some_and(|over| flow.empty.iter().any(|empty| empty == over.text()))
}

/// `true` if a statement of `outer` before `inner` always leaves the block.
fn is_after_leaving(flow: &Flow, outer: At<'_>, inner: At<'_>) -> bool {
    let leaves = |at: At<'_>| {
        at.is_one_of(&flow.leaves)
            || at.is(&["expression_statement"]) && at.children().any(|part| part.is_one_of(&flow.leaves))
    };
    outer.kind().contains("block") && outer.children().take_while(|at| !at.holds(inner)).any(leaves)
}
