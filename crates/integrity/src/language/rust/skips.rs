//! What keeps a Rust test from running or from failing.

use super::{attribute, checks, conditions};
use crate::language::{
    outline::{Mark, quoted},
    syntax::At,
};
use domain::integrity::Rule;

/// What is said of the whole file: conditions, and a program of its own in the place of the one that runs tests.
pub(super) fn file_skips(root: At<'_>) -> Vec<Mark> {
    let said = root.children().filter(|at| at.is(&["inner_attribute_item"]));
    said.filter_map(|at| condition_mark(at).or_else(|| other_program(at)))
        .collect()
}

fn other_program(at: At<'_>) -> Option<Mark> {
    let names = ["no_main", "test_runner", "custom_test_frameworks"];
    let text = attribute(at);
    let named = text.split_whitespace().any(|word| names.contains(&word));
    let what = format!("{} takes the place of the program that runs tests", quoted(at.text()));
    named.then(|| Mark::at(Rule::RunnerWeakened, at, what))
}

/// A condition under which tests are compiled, other than one that holds wherever they run.
pub(super) fn condition_mark(at: At<'_>) -> Option<Mark> {
    let what = format!("{} keeps the test out of the build", quoted(at.text()));
    let rule = match conditions::holds(conditions::of_attribute(at)?) {
        Some(true) => return None,
        Some(false) => Rule::SkipAdded,
        None => Rule::SkipConditional,
    };
    Some(Mark::at(rule, at, what))
}

/// A return on a condition before anything is checked.
pub(super) fn early_return(body: At<'_>) -> Option<Mark> {
    let first_check = body.below().find(|at| checks::is_check(*at))?;
    let before = body.children().take_while(|at| !at.holds(first_check));
    let condition = before.filter_map(left_on).next()?;
    let what = format!(
        "the test returns before it checks anything if {}",
        quoted(condition.text())
    );
    Some(Mark::at(Rule::AssertionRemoved, condition, what))
}

/// A panic of the test's own that nothing decides over: where one is expected, it is that one.
pub(super) fn own_panic(body: At<'_>) -> Option<Mark> {
    let is_panic = |at: &At<'_>| at.is(&["macro_invocation"]) && at.field_text("macro") == "panic";
    let statements = body.children().filter_map(|at| match at.kind() {
        "expression_statement" => at.children().next(),
        _ => Some(at),
    });
    let at = statements.into_iter().find(is_panic)?;
    let what = format!("the test panics by itself, as it expects: {}", quoted(at.text()));
    Some(Mark {
        key: "own panic".to_owned(),
        ..Mark::at(Rule::AssertionTrivial, at, what)
    })
}

/// The condition on which a statement leaves the test: `if … { return; }`, `let … else { return };`, `match … { … => return }`.
fn left_on(statement: At<'_>) -> Option<At<'_>> {
    // An error that is returned is a failure.
    let leaves = |at: At<'_>| at.is(&["return_expression"]) && !at.text().contains("Err(");
    let returns = |at: At<'_>| at.below().any(leaves);
    let decided = match statement.kind() {
        "let_declaration" => statement,
        "expression_statement" => statement.children().next()?,
        _ => statement,
    };
    match decided.kind() {
        "if_expression" => decided
            .field("consequence")
            .filter(|block| returns(*block))
            .and_then(|_| decided.field("condition")),
        "match_expression" => decided
            .field("body")
            .filter(|body| returns(*body))
            .and_then(|_| decided.field("value")),
        "let_declaration" => {
            let otherwise = decided.field("alternative").is_some_and(returns);
            let value = decided.field("value")?;
            (otherwise || value.is(&["match_expression"]) && returns(value)).then_some(value)
        }
        _ => None,
    }
}

pub(super) fn ignore_mark(at: At<'_>) -> Option<Mark> {
    let text = attribute(at);
    let words: Vec<&str> = text.split_whitespace().collect();
    match words.as_slice() {
        ["ignore", ..] => Some(Mark {
            key: "ignore".to_owned(),
            ..Mark::at(Rule::SkipAdded, at, format!("{} skips the test", quoted(at.text())))
        }),
        ["cfg_attr", rest @ ..] if rest.contains(&"ignore") => {
            let said = at
                .text()
                .split_once('(')
                .and_then(|(_, said)| said.rsplit_once("ignore"));
            let condition = said.map_or("", |(condition, _)| condition.trim_end().trim_end_matches(','));
            let rule = match conditions::holds(condition) {
                Some(false) => return None,
                Some(true) => Rule::SkipAdded,
                None => Rule::SkipConditional,
            };
            Some(Mark::at(rule, at, format!("{} skips the test", quoted(at.text()))))
        }
        ["should_panic", ..] => Some(Mark {
            key: "should_panic".to_owned(),
            ..Mark::at(
                Rule::AssertionRemoved,
                at,
                format!("with {} a failing assertion passes", quoted(at.text())),
            )
        }),
        _ => None,
    }
}
