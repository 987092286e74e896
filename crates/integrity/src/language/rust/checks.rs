//! What a Rust test checks, and how much.

use super::{
    FLOW, perhaps, reached,
    strength::{calls, condition, equality},
};
use crate::language::{
    flow::heard,
    outline::{Check, Failing, Strength},
    syntax::At,
};

/// Every check of a body.
pub(super) fn in_body(body: At<'_>) -> Vec<Check> {
    body.below().filter_map(|at| check(at, body)).collect()
}

/// `#[should_panic]`: that something panics, and with which words where it says so.
pub(super) fn expected_panic(attribute: At<'_>) -> Option<Check> {
    let words = attribute.words();
    let named = words.iter().find(|word| !matches!(word.as_str(), "#" | "["))?;
    let says = words.iter().any(|word| word == "expected" || word == "=");
    (named == "should_panic").then(|| Check {
        line: attribute.line(),
        tolerance: None,
        strength: if says { Strength::Strong } else { Strength::Weak },
        words: words
            .into_iter()
            .filter(|word| !matches!(word.as_str(), "#" | "[" | "]"))
            .collect(),
        failing: None,
    })
}

/// Whether an assertion, in whatever form, begins here.
pub(super) fn is_check(at: At<'_>) -> bool {
    macro_call(at).is_some() && by_macro(at).is_some()
}

fn check(at: At<'_>, body: At<'_>) -> Option<Check> {
    let (whole, strength) = by_macro(at).or_else(|| by_call(at)).or_else(|| by_result(at, body))?;
    let strength = heard(&FLOW, at, body, strength);
    let strength = if reached::is_compiled(at, body) {
        strength
    } else {
        strength.min(Strength::Silenced)
    };
    let strength = match (
        perhaps::is_in_an_answer(at, body),
        perhaps::is_filtered_by_itself(at, body),
    ) {
        (_, true) => strength.min(Strength::Silenced),
        (true, false) => strength.min(Strength::Weak),
        (false, false) => strength,
    };
    let mut words = whole.iter().flat_map(|part| part.words()).collect::<Vec<_>>();
    words.insert(0, at.text().to_owned());
    Some(Check {
        line: at.line(),
        tolerance: tolerance(&words),
        words,
        strength,
        failing: failing(at),
    })
}

/// An assertion as it fails, with what it needs of its surroundings; none for one that says that its place is not to be
/// reached.
fn failing(at: At<'_>) -> Option<Failing> {
    let whole = match macro_call(at) {
        Some(("panic" | "unreachable", _)) => None,
        Some((_, tokens)) if tokens.text().trim_start_matches('(').starts_with("false") => None,
        Some(_) => at.parent().filter(|outer| outer.is(&["macro_invocation"])),
        None => Some(at).filter(|at| at.parent().is_some_and(|outer| outer.is(&["expression_statement"]))),
    }?;
    let is_check = macro_call(at).is_some() || is_helper(at.field_text("function"));
    is_check.then(|| Failing {
        range: whole.range(),
        text: format!("if true {{ panic!(\"made to fail\") }} else {{ {} }}", whole.text()),
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
    let (name, tokens) = match macro_call(at) {
        Some(call) => call,
        None => return in_tokens(at),
    };
    let parts: Vec<At<'_>> = tokens.parts().collect();
    let inner = parts.get(1..parts.len().saturating_sub(1)).unwrap_or_default();
    let arguments: Vec<Vec<String>> = inner
        .split(|part| part.text() == ",")
        .map(|argument| argument.iter().flat_map(|part| part.words()).collect())
        .collect();
    let anything = tokens.text().split_whitespace().collect::<String>();
    let strength = match name {
        _ if perhaps::falls_back(at, tokens, &arguments) => Strength::Weak,
        "assert" if anything.starts_with("(matches!(") && takes_everything(&anything) => Strength::Trivial,
        "assert" | "debug_assert" | "prop_assert" | "check" => condition(arguments.first()?),
        "assert_eq" | "debug_assert_eq" | "prop_assert_eq" => {
            let (left, right) = (arguments.first()?, arguments.get(1)?);
            let strength = equality(left, right, calls(inner)).min(as_bound(at, left, right));
            match perhaps::is_echo(at, tokens) || perhaps::is_written_first(at, tokens) {
                true => strength.min(Strength::Same),
                false => strength,
            }
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

/// Whether the pattern of `(matches!(value,pattern))` takes every value.
fn takes_everything(tokens: &str) -> bool {
    let pattern = tokens.trim_end_matches(')').rsplit(',').next().unwrap_or_default();
    let mut sides: Vec<&str> = pattern
        .split('|')
        .map(|side| side.split('(').next().unwrap_or_default())
        .collect();
    sides.sort_unstable();
    let open = !pattern.contains('(') || ["(_", "(.."].iter().any(|rest| pattern.contains(rest));
    pattern == "_" || open && matches!(sides.as_slice(), ["None", "Some"] | ["Err", "Ok"])
}

/// `assert_price(…)` among the tokens of a macro, where calls are not parsed.
fn in_tokens(at: At<'_>) -> Option<(Vec<At<'_>>, Strength)> {
    let among = at.is(&["identifier"])
        && at
            .parent()
            .is_some_and(|outer| outer.is(&["token_tree", "token_repetition"]));
    let arguments = at.next().filter(|next| among && next.text().starts_with('('))?;
    is_helper(at.text()).then(|| (vec![arguments], Strength::Strong))
}

/// Whether a function is named like an assertion.
fn is_helper(name: &str) -> bool {
    ["assert_", "check_", "verify_", "expect_"]
        .iter()
        .any(|start| name.starts_with(start))
}

/// The strength of an equality whose sides are names that are bound to the same words: a result compared with itself.
fn as_bound(at: At<'_>, left: &[String], right: &[String]) -> Strength {
    let function = at.ancestors().find(|outer| outer.is(&["function_item"]));
    let bound = |side: &[String]| -> Option<Vec<String>> {
        let [name] = side else { return None };
        let mut lets = function?.below().filter(|at| at.is(&["let_declaration"]));
        let found = lets.find(|at| at.field_text("pattern") == name.as_str())?;
        let value = found.field("value")?;
        value
            .below()
            .any(|at| at.is(&["call_expression"]))
            .then(|| value.words())
    };
    let (one, other) = (bound(left), bound(right));
    let same =
        (one.is_some() || other.is_some()) && one.as_deref().unwrap_or(left) == other.as_deref().unwrap_or(right);
    if same { Strength::Weak } else { Strength::Strong }
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
    match name {
        "unwrap" | "expect" | "unwrap_err" | "expect_err" => Some((vec![function], Strength::Weak)),
        _ if is_helper(name) => Some((vec![at], Strength::Strong)),
        _ => None,
    }
}

/// In a test that returns a result: `…?`, and a call at its end, whose error is the test's.
fn by_result<'t>(at: At<'t>, body: At<'t>) -> Option<(Vec<At<'t>>, Strength)> {
    let returns = body.parent().filter(|outer| outer.is(&["function_item"]))?;
    let fails = returns.field_text("return_type").contains("Result");
    let is_tail = || at.parent().is_some_and(|outer| outer.is_same(body)) && at.is(&["call_expression"]);
    let given = || !matches!(at.field_text("function"), "Ok" | "Err" | "Some");
    let heard = at.is(&["try_expression"]) || is_tail() && given();
    (fails && heard).then(|| (vec![at], Strength::Weak))
}

/// How far off `assert!((a - b).abs() < 0.01)` lets a number be.
fn tolerance(words: &[String]) -> Option<f64> {
    let at = words.iter().position(|word| word == "<" || word == "<=")?;
    let near = words.iter().take(at).any(|word| word == "abs");
    let text: String = words.get(at.checked_add(1)?)?.replace('_', "");
    near.then(|| text.trim_end_matches("f64").trim_end_matches("f32").parse().ok())
        .flatten()
}
