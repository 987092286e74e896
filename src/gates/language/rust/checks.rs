//! What a Rust test checks, and how much.

use super::FLOW;
use crate::domain::integrity::Rule;
use crate::gates::language::flow::heard;
use crate::gates::language::outline::Check;
use crate::gates::language::outline::Mark;
use crate::gates::language::outline::Strength;
use crate::gates::language::outline::is_number;
use crate::gates::language::outline::quoted;
use crate::gates::language::syntax::At;

/// Every check of a body.
pub(super) fn in_body(body: At<'_>) -> Vec<Check> {
    body.below().filter_map(|at| check(at, body)).collect()
}

fn check(at: At<'_>, body: At<'_>) -> Option<Check> {
    let (whole, strength) = by_macro(at).or_else(|| by_call(at))?;
    let strength = heard(&FLOW, at, body, strength);
    let mut words = whole.iter().flat_map(|part| part.words()).collect::<Vec<_>>();
    words.insert(0, at.text().to_owned());
    Some(Check {
        line: at.line(),
        tolerance: tolerance(&words),
        words,
        strength,
    })
}

/// `name!(…)`, whether parsed or inside another macro's tokens.
pub(super) fn macro_call<'t>(at: At<'t>) -> Option<(&'t str, At<'t>)> {
    if !at.is(&["identifier", "scoped_identifier"]) || at.parent().is_some_and(|outer| outer.is(&["scoped_identifier"]))
    {
        return None;
    }
    let bang = at.next().filter(|next| next.text() == "!")?;
    let tokens = bang.next().filter(|next| next.is(&["token_tree"]))?;
    Some((at.text().rsplit("::").next().unwrap_or_default().trim(), tokens))
}

fn by_macro(at: At<'_>) -> Option<(Vec<At<'_>>, Strength)> {
    let (name, tokens) = macro_call(at)?;
    let parts: Vec<At<'_>> = tokens.parts().collect();
    let inner = parts.get(1..parts.len().saturating_sub(1)).unwrap_or_default();
    let arguments: Vec<Vec<String>> = inner
        .split(|part| part.text() == ",")
        .map(|argument| argument.iter().flat_map(|part| part.words()).collect())
        .collect();
    let anything = tokens.text().split_whitespace().collect::<String>();
    let strength = match name {
        "assert" if anything.starts_with("(matches!(") && anything.ends_with(",_))") => Strength::Trivial,
        "assert" | "debug_assert" | "prop_assert" | "check" => condition(arguments.first()?),
        "assert_eq" | "debug_assert_eq" | "prop_assert_eq" => {
            equality(arguments.first()?, arguments.get(1)?, calls(inner))
        }
        "assert_ne" | "debug_assert_ne" | "prop_assert_ne" => {
            equality(arguments.first()?, arguments.get(1)?, true).min(Strength::Weak)
        }
        "panic" | "unreachable" => Strength::Strong,
        _ if name.starts_with("assert_") || name == "expect" => Strength::Strong,
        _ => return None,
    };
    Some((vec![tokens], strength))
}

/// Whether one of the tokens is called.
fn calls(tokens: &[At<'_>]) -> bool {
    tokens
        .iter()
        .any(|part| part.is(&["token_tree"]) && part.text().starts_with('('))
}

fn equality(left: &[String], right: &[String], calls: bool) -> Strength {
    let constant = |words: &[String]| words.iter().all(|word| is_constant(word));
    let copied = ["clone", "to_owned", "to_string", "to_vec"];
    let bare = |words: &[String]| -> Vec<String> {
        let words: Vec<String> = words.iter().filter(|word| word.as_str() != "&").cloned().collect();
        match words.split_last() {
            Some((last, [rest @ .., dot])) if dot == "." && copied.contains(&last.as_str()) => rest.to_vec(),
            _ => words,
        }
    };
    let both_constant = constant(left) && constant(right);
    match bare(left) == bare(right) {
        true if calls && !both_constant => Strength::Weak,
        true => Strength::Trivial,
        false if both_constant => Strength::Trivial,
        false => match (left, right) {
            ([truth], other) | (other, [truth]) if truth == "true" => condition(other),
            _ => Strength::Strong,
        },
    }
}

fn is_constant(word: &str) -> bool {
    is_number(word.trim_end_matches(|c: char| c.is_ascii_lowercase()))
        || word.starts_with(['"', '\''])
        || matches!(word, "true" | "false" | "-" | "+" | "*" | "/")
}

/// How much the condition of an `assert!` says.
fn condition(words: &[String]) -> Strength {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let sides = words
        .iter()
        .position(|word| *word == "==")
        .and_then(|at| Some((words.get(..at)?, words.get(at.checked_add(1)?..)?)));
    match words.as_slice() {
        []
        | ["true"]
        | ["!", "false"]
        | [.., "||", "true"]
        | ["true", "||", ..]
        | [.., "len", ">=", "0"]
        | ["matches", "!", _, "_"] => Strength::Trivial,
        all if all
            .iter()
            .all(|word| is_constant(word) || matches!(*word, "==" | "<" | ">" | "<=" | ">=" | "!=" | "!")) =>
        {
            Strength::Trivial
        }
        _ if sides.is_some_and(|(left, right)| left == right && !left.contains(&".")) => Strength::Trivial,
        _ if sides.is_some_and(|(left, right)| left == right) => Strength::Weak,
        [.., "is_ok" | "is_some" | "is_err"] | ["!", .., "is_empty" | "is_none"] | [.., ">=", "0"] | [.., "!=", _] => {
            Strength::Weak
        }
        all if is_ordering(all) => Strength::Weak,
        ["matches", "!", .., "Ok" | "Some" | "Err", "_" | ".."] => Strength::Weak,
        _ => Strength::Strong,
    }
}

/// Whether values are only compared by size, other than to say how near two numbers are.
fn is_ordering(words: &[&str]) -> bool {
    let compares = |at: usize, word: &str| {
        let generic = at.checked_sub(1).and_then(|before| words.get(before)) == Some(&"::");
        matches!(word, "<" | ">" | "<=" | ">=") && !generic
    };
    let near = words.contains(&"abs");
    let exact = words.iter().any(|word| matches!(*word, "==" | "::"));
    !near && !exact && words.iter().enumerate().any(|(at, word)| compares(at, word))
}

/// `.unwrap()` and the like check that nothing failed; functions named like an assertion check something.
fn by_call(at: At<'_>) -> Option<(Vec<At<'_>>, Strength)> {
    if !at.is(&["call_expression"]) {
        return None;
    }
    let function = at.field("function")?;
    let name = match function.kind() {
        "field_expression" => function.field_text("field"),
        "identifier" => function.text(),
        "scoped_identifier" => function.field_text("name"),
        _ => return None,
    };
    let helper = ["assert_", "check_", "verify_", "expect_"]
        .iter()
        .any(|start| name.starts_with(start));
    match name {
        "unwrap" | "expect" | "unwrap_err" | "expect_err" => Some((vec![function], Strength::Weak)),
        _ if helper => Some((vec![at], Strength::Strong)),
        _ => None,
    }
}

/// How far off `assert!((a - b).abs() < 0.01)` lets a number be.
fn tolerance(words: &[String]) -> Option<f64> {
    let at = words.iter().position(|word| word == "<" || word == "<=")?;
    let near = words.iter().take(at).any(|word| word == "abs");
    let text: String = words.get(at.checked_add(1)?)?.replace('_', "");
    near.then(|| text.trim_end_matches("f64").trim_end_matches("f32").parse().ok())
        .flatten()
}

/// `let _ = catch_unwind(…)` hears nothing.
pub(super) fn swallows(outer: At<'_>, _: At<'_>) -> bool {
    let catches = outer.is(&["call_expression"]) && outer.field_text("function").ends_with("catch_unwind");
    let dropped = |at: At<'_>| {
        at.is(&["expression_statement"]) || at.is(&["let_declaration"]) && at.field_text("pattern").starts_with('_')
    };
    let mut kept = outer
        .ancestors()
        .skip_while(|at| at.is(&["call_expression", "field_expression", "arguments"]));
    catches && kept.next().is_some_and(dropped)
}

/// A return on a condition before anything is checked.
pub(super) fn early_return(body: At<'_>) -> Option<Mark> {
    let first_check = body.below().find(|at| by_macro(*at).is_some())?;
    let before = body.children().take_while(|at| !at.holds(first_check));
    let leaving = before.filter_map(|at| at.children().next().filter(|at| at.is(&["if_expression"])));
    let leaving = leaving.filter(|at| {
        at.field("consequence")
            .is_some_and(|block| block.below().any(|at| at.is(&["return_expression"])))
    });
    let condition = leaving.filter_map(|at| at.field("condition")).next()?;
    let what = format!(
        "the test returns before it checks anything if {}",
        quoted(condition.text())
    );
    Some(Mark::at(Rule::SkipAdded, condition, what))
}
