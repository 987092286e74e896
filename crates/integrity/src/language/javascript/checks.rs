//! What a JavaScript test checks, and how much.

use super::{
    FLOW,
    names::is_imported,
    stored::is_written_first,
    strength::{by_pattern, condition, equality, is_constant, matched},
};
use crate::language::{
    flow::heard,
    outline::{Check, Failing, Mark, Strength, quoted},
    syntax::At,
};
use domain::integrity::Rule;

/// Every check of a body.
pub(super) fn in_body(body: At<'_>) -> Vec<Check> {
    body.below().filter_map(|at| check(at, body)).collect()
}

fn check(at: At<'_>, body: At<'_>) -> Option<Check> {
    let (whole, strength) = match at.kind() {
        "call_expression" => by_expect(at).or_else(|| by_assert(at)).or_else(|| by_helper(at))?,
        "throw_statement" => (at, Strength::Strong),
        "member_expression" if at.field_text("property") == "should" => (top(at).0, Strength::Strong),
        _ => return None,
    };
    let mut strength = heard(&FLOW, whole, body, strength);
    if is_written_first(whole, body) {
        strength = strength.min(Strength::Same);
    }
    Some(Check {
        line: whole.line(),
        words: whole.words(),
        strength,
        tolerance: tolerance(whole),
        failing: failing(at, whole),
    })
}

/// An assertion as it fails; none for one that says that its place is not to be reached.
fn failing(at: At<'_>, whole: At<'_>) -> Option<Failing> {
    let is_plain = at.is(&["call_expression"])
        && !at.field_text("function").ends_with("fail")
        && arguments(at).first().is_none_or(|first| !is_constant(*first));
    is_plain.then(|| Failing {
        range: whole.range(),
        text: "void (() => { throw new Error('made to fail'); })()".to_owned(),
    })
}

/// The end of a chain of members and calls, and the names in it.
fn top(at: At<'_>) -> (At<'_>, Vec<&str>) {
    let mut end = at;
    let mut names = Vec::new();
    while let Some(outer) = end.parent() {
        let goes_on = match outer.kind() {
            "member_expression" => outer.field("object"),
            "call_expression" => outer.field("function"),
            _ => None,
        };
        if !goes_on.is_some_and(|part| part.is_same(end)) {
            break;
        }
        if outer.is(&["member_expression"]) {
            names.push(outer.field_text("property"));
        }
        end = outer;
    }
    (end, names)
}

/// What a call is given.
pub(super) fn arguments(at: At<'_>) -> Vec<At<'_>> {
    at.field("arguments").into_iter().flat_map(At::children).collect()
}

fn by_expect(at: At<'_>) -> Option<(At<'_>, Strength)> {
    if !matches!(at.field_text("function"), "expect" | "expect.soft") {
        return None;
    }
    let (end, names) = top(at);
    let said = arguments(at);
    let subject = said.first().copied();
    let expected = if end.is(&["call_expression"]) {
        arguments(end)
    } else {
        Vec::new()
    };
    let chai = names
        .iter()
        .any(|name| matches!(*name, "to" | "be" | "is" | "have" | "should"));
    let waits = names
        .iter()
        .any(|name| matches!(*name, "resolves" | "rejects" | "eventually"));
    let strength = match (subject, names.last()) {
        // What is expected may be said in the same brackets: `expect(sum, 'to equal', 3)`.
        (Some(subject), None) if said.len() > 1 => match said.get(2) {
            Some(expected) => equality(subject, *expected),
            None => Strength::Weak,
        },
        (_, None) => Strength::Silenced,
        _ if !end.is(&["call_expression"]) && !chai => Strength::Silenced,
        _ if waits && !is_awaited(end) => Strength::Silenced,
        (None, Some(_)) => Strength::Strong,
        (Some(subject), Some(matcher)) => matched(subject, &names, matcher, &expected),
    };
    Some((end, strength))
}

/// Whether a promise is awaited, returned or handed on.
fn is_awaited(at: At<'_>) -> bool {
    !at.parent().is_some_and(|outer| outer.is(&["expression_statement"]))
}

fn by_assert(at: At<'_>) -> Option<(At<'_>, Strength)> {
    let called = at.field_text("function");
    let (root, method) = called.rsplit_once('.').unwrap_or((called, ""));
    let of_assert = matches!(
        root,
        "assert" | "assert.strict" | "t.assert" | "chai.assert" | "console.assert"
    ) || root.ends_with("sinon.assert");
    let of_test = root == "t"
        && matches!(
            method,
            "is" | "equal"
                | "same"
                | "deepEqual"
                | "ok"
                | "true"
                | "false"
                | "truthy"
                | "not"
                | "throws"
                | "like"
                | "snapshot"
                | "strictEqual"
        );
    if !of_assert && !of_test {
        return None;
    }
    let given = arguments(at);
    let first = given.first().copied();
    let strength = match method {
        "" | "ok" | "truthy" | "isOk" | "true" | "isTrue" => truth(&given),
        "equal" | "strictEqual" | "deepEqual" | "deepStrictEqual" | "is" | "same" => first
            .zip(given.get(1).copied())
            .map_or(Strength::Strong, |(left, right)| equality(left, right)),
        "notEqual" | "notStrictEqual" | "exists" | "isDefined" if first.is_some_and(is_imported) => Strength::Same,
        "notEqual" | "notStrictEqual" | "notDeepEqual" | "notDeepStrictEqual" | "not" | "exists" | "isDefined"
        | "doesNotThrow" => Strength::Weak,
        "throws" if first.is_some_and(throws_itself) => Strength::Trivial,
        "throws" if given.len() < 2 => Strength::Weak,
        "match" => given.get(1).map_or(Strength::Strong, |pattern| by_pattern(*pattern)),
        "rejects" | "doesNotReject" if !is_awaited(at) => Strength::Silenced,
        "rejects" if given.len() < 2 => Strength::Weak,
        _ => Strength::Strong,
    };
    Some((
        at,
        if root == "console.assert" {
            Strength::Silenced
        } else {
            strength
        },
    ))
}

/// The strength of an assertion that takes a condition and a message.
fn truth(given: &[At<'_>]) -> Strength {
    match given.get(1) {
        // What was to be the expected value is only the message.
        Some(message) if message.is(&["array", "object"]) => Strength::Same,
        Some(message) if is_constant(*message) && !message.is(&["string", "template_string"]) => Strength::Same,
        _ => given.first().map_or(Strength::Trivial, |first| condition(*first)),
    }
}

/// Whether a block throws by itself, whatever else is in it.
fn throws_itself(block: At<'_>) -> bool {
    let body = block.field("body");
    body.is_some_and(|body| body.children().any(|at| at.is(&["throw_statement"])))
}

/// Functions named like an assertion check something.
fn by_helper(at: At<'_>) -> Option<(At<'_>, Strength)> {
    let function = at.field("function")?;
    if function.field_text("property") == "expect" {
        return Some((at, Strength::Strong));
    }
    let name = function.is(&["identifier"]).then(|| function.text())?;
    let rest = ["assert", "expect", "check", "verify"]
        .iter()
        .find_map(|start| name.strip_prefix(start))?;
    rest.starts_with(|c: char| c.is_uppercase())
        .then_some((at, Strength::Strong))
}

/// How far off `toBeCloseTo` or `Math.abs(a - b) < …` lets a number be.
fn tolerance(at: At<'_>) -> Option<f64> {
    if at.field_text("function").ends_with("toBeCloseTo") {
        let digits = arguments(at)
            .get(1)
            .map_or(Some(2.0), |digits| digits.text().parse::<f64>().ok())?;
        return Some(10_f64.powf(-digits));
    }
    if at.text().contains("Math.abs(") && at.field_text("function").ends_with("toBeLessThan") {
        return arguments(at).first()?.text().parse().ok();
    }
    let near = at
        .below()
        .find(|part| part.is(&["binary_expression"]) && matches!(part.field_text("operator"), "<" | "<="))?;
    let limit = near.field_text("right");
    near.field_text("left")
        .starts_with("Math.abs")
        .then(|| {
            if limit.contains("Infinity") || limit.contains("MAX") {
                Some(f64::INFINITY)
            } else {
                limit.replace('_', "").parse().ok()
            }
        })
        .flatten()
}

/// A return on a condition before anything is checked.
pub(super) fn early_return(body: At<'_>) -> Option<Mark> {
    let first_check = body
        .below()
        .find(|at| at.is(&["call_expression"]) && (by_expect(*at).is_some() || by_assert(*at).is_some()))?;
    let before = body.children().take_while(|at| !at.holds(first_check));
    let leaving = before.filter(|at| at.is(&["if_statement"]) && at.below().any(|part| part.is(&["return_statement"])));
    let condition = leaving.filter_map(|at| at.field("condition")).next()?;
    let what = format!(
        "the test returns before it checks anything if {}",
        quoted(condition.text())
    );
    Some(Mark::at(Rule::AssertionRemoved, condition, what))
}
