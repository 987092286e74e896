//! How much a JavaScript assertion says of its subject.

use super::{
    FUNCTIONS,
    names::{assigned, is_imported},
    stand_ins::is_own_mock,
};
use crate::language::{outline::Strength, syntax::At};

/// Matchers that say little when they are turned round.
const WEAK_IF_NEGATED: [&str; 12] = [
    "toBe",
    "toEqual",
    "toStrictEqual",
    "equal",
    "eql",
    "toBeNull",
    "toBeUndefined",
    "null",
    "undefined",
    "toThrow",
    "throw",
    "toBeNaN",
];

/// How much `expect(subject)` says with the matcher at the end of its chain.
pub(super) fn matched(subject: At<'_>, names: &[&str], matcher: &str, expected: &[At<'_>]) -> Strength {
    if is_own_mock(subject) {
        return Strength::Trivial;
    }
    let negated = names.contains(&"not");
    let first = expected.first().copied();
    let strength = match matcher {
        "toBe" | "toEqual" | "toStrictEqual" | "equal" | "equals" | "eql" | "eq" | "deep" | "toMatchObject" => {
            first.map_or(Strength::Weak, |expected| equality(subject, expected))
        }
        "toBeDefined" | "toBeTruthy" | "toBeInstanceOf" | "toBeTypeOf" | "ok" | "exist" | "a" | "an" | "instanceOf"
        | "instanceof" | "toHaveBeenCalled" | "called" | "true" => {
            if matcher == "true" {
                condition(subject)
            } else if is_constant(subject) {
                Strength::Trivial
            } else if is_imported(subject) {
                Strength::Same
            } else {
                Strength::Weak
            }
        }
        "toHaveProperty" | "property" if expected.len() == 1 => Strength::Weak,
        "toMatch" | "match" => first.map_or(Strength::Strong, by_pattern),
        "toThrow" | "toThrowError" | "throw" | "throws" if first.is_none() => Strength::Weak,
        _ => bound(subject, matcher, first).unwrap_or({
            if is_constant(subject) && expected.iter().all(|at| is_constant(*at)) && !is_own(matcher) {
                Strength::Trivial
            } else {
                Strength::Strong
            }
        }),
    };
    if negated && WEAK_IF_NEGATED.contains(&matcher) {
        strength.min(Strength::Weak)
    } else {
        strength
    }
}

/// Whether a matcher is none of the well-known ones of its style: it may ask of something else than its subject.
fn is_own(matcher: &str) -> bool {
    let known = [
        "toBeNull",
        "toBeUndefined",
        "toBeNaN",
        "toBeFalsy",
        "toBeCloseTo",
        "toContain",
        "toContainEqual",
        "toHaveLength",
        "toHaveProperty",
        "toSatisfy",
        "toBeOneOf",
    ];
    matcher.starts_with("to")
        && !known.contains(&matcher)
        && !matcher.starts_with("toBeGreater")
        && !matcher.starts_with("toBeLess")
}

/// How much a matcher says that only limits a number.
fn bound(subject: At<'_>, matcher: &str, limit: Option<At<'_>>) -> Option<Strength> {
    let counts = subject.text().ends_with(".length");
    match (matcher, limit.map(At::text)) {
        ("toBeGreaterThanOrEqual" | "least", Some("0")) if counts || is_constant(subject) => Some(Strength::Trivial),
        ("toBeGreaterThanOrEqual" | "least", Some("0")) => Some(Strength::Weak),
        ("toBeGreaterThan", Some("-1")) if counts => Some(Strength::Trivial),
        (
            "toBeGreaterThan"
            | "toBeGreaterThanOrEqual"
            | "toBeLessThan"
            | "toBeLessThanOrEqual"
            | "above"
            | "below"
            | "least"
            | "most",
            _,
        ) if !subject.text().contains("Math.abs(") => Some(Strength::Weak),
        _ => None,
    }
}

/// How much the match of a pattern says.
pub(super) fn by_pattern(pattern: At<'_>) -> Strength {
    match pattern.text() {
        "/.*/" | "/^.*$/" | "/(?:)/" | "/^/" | "/$/" | "/[\\s\\S]*/" | "/.*/s" => Strength::Trivial,
        "/./" | "/.+/" => Strength::Weak,
        _ => Strength::Strong,
    }
}

pub(super) fn is_constant(at: At<'_>) -> bool {
    match at.kind() {
        "ternary_expression" => {
            let ends = at.field("consequence").zip(at.field("alternative"));
            ends.is_some_and(|(one, other)| is_constant(one) && one.phrase() == other.phrase())
        }
        "binary_expression" => at.field("left").is_some_and(is_constant) && at.field("right").is_some_and(is_constant),
        "identifier" => assigned(at).is_some_and(|value| {
            value.is(&["number", "string", "true", "false", "null"]) || value.text() == "undefined"
        }),
        "number" | "true" | "false" | "null" | "undefined" | "regex" => true,
        "string" => true,
        "template_string" => !at.children().any(|part| part.is(&["template_substitution"])),
        "array" | "object" | "pair" | "unary_expression" | "parenthesized_expression" => at
            .children()
            .all(|part| part.is(&["property_identifier"]) || is_constant(part)),
        _ => false,
    }
}

/// How much the equality of two values says.
pub(super) fn equality(left: At<'_>, right: At<'_>) -> Strength {
    let meant = |at: At<'_>| {
        at.is(&["identifier"])
            .then(|| assigned(at))
            .flatten()
            .map_or_else(|| at.phrase(), At::phrase)
    };
    let makes = |part: At<'_>| part.is(&["call_expression", "new_expression", "await_expression"]);
    let calls = left.below().any(makes)
        || left.phrase() != right.phrase() && assigned(left).is_some_and(|value| value.below().any(makes));
    if takes_any(right) {
        Strength::Weak
    } else if is_constant(left) && is_constant(right) {
        Strength::Trivial
    } else if left.phrase() == right.phrase() || meant(left) == meant(right) {
        if calls { Strength::Same } else { Strength::Trivial }
    } else if left.text().starts_with("typeof ") {
        let of_import = left.children().last().is_some_and(is_imported);
        if of_import { Strength::Same } else { Strength::Weak }
    } else if right.text() == "true" {
        condition(left)
    } else {
        Strength::Strong
    }
}

/// Whether an expected value is only a kind, or is made of kinds alone: `expect.any(Number)`, `{ id: expect.anything() }`.
fn takes_any(at: At<'_>) -> bool {
    let all = |list: At<'_>| list.children().all(takes_any);
    match at.kind() {
        "call_expression" => {
            let mut given = at.field("arguments").into_iter().flat_map(At::children);
            match at.field_text("function") {
                "expect.any" | "expect.anything" | "sinon.match.any" => true,
                "expect.objectContaining" | "expect.arrayContaining" => given.all(all),
                _ => false,
            }
        }
        "pair" => at.field("value").is_some_and(takes_any),
        "object" | "array" => at.children().next().is_some() && all(at),
        _ => at.text() == "sinon.match.any",
    }
}

fn unwrapped(at: At<'_>) -> At<'_> {
    match at.kind() {
        "parenthesized_expression" => at.children().next().map_or(at, unwrapped),
        _ => at,
    }
}

/// `[x, f()].includes(f())` and `[true, f()].some(Boolean)` always hold.
fn called(at: At<'_>) -> Strength {
    let Some(function) = at.field("function") else {
        return Strength::Strong;
    };
    if matches!(
        function.text(),
        "Array.isArray" | "Number.isInteger" | "Number.isFinite"
    ) {
        return Strength::Weak;
    }
    let list = function.field("object").filter(|object| object.is(&["array"]));
    let given = at.field("arguments").and_then(|list| list.children().next());
    let Some(list) = list else { return Strength::Strong };
    match function.field_text("property") {
        "includes" if given.is_some_and(|given| list.children().any(|item| item.phrase() == given.phrase())) => {
            Strength::Same
        }
        "some" if list.children().any(|item| item.text() == "true") => Strength::Trivial,
        "every" if list.children().next().is_none() => Strength::Trivial,
        _ => Strength::Strong,
    }
}

/// How much a condition says that is asserted to hold.
pub(super) fn condition(at: At<'_>) -> Strength {
    let at = unwrapped(at);
    match at.kind() {
        _ if is_constant(at) => {
            if matches!(at.text(), "false" | "0" | "null" | "undefined" | "''" | "\"\"") {
                Strength::Strong
            } else {
                Strength::Trivial
            }
        }
        "arrow_function" | "function_expression" | "array" | "object" => Strength::Trivial,
        "identifier" if is_imported(at) => Strength::Same,
        "identifier" if assigned(at).is_some_and(|value| value.is(&FUNCTIONS)) => Strength::Trivial,
        "identifier" | "member_expression" | "new_expression" => Strength::Weak,
        "unary_expression" if at.text().starts_with("!!") => {
            let inner = at.field("argument").and_then(|inner| inner.field("argument"));
            inner.map_or(Strength::Weak, condition).min(Strength::Weak)
        }
        "as_expression" | "non_null_expression" | "satisfies_expression" => {
            at.children().next().map_or(Strength::Strong, condition)
        }
        "ternary_expression" => {
            let sides = [at.field("consequence"), at.field("alternative")];
            sides
                .into_iter()
                .flatten()
                .map(condition)
                .min()
                .unwrap_or(Strength::Strong)
        }
        "call_expression" => called(at),
        "binary_expression" => binary(at),
        _ => Strength::Strong,
    }
}

/// How much an operator between two sides says.
fn binary(at: At<'_>) -> Strength {
    let operator = at.field_text("operator");
    let Some((left, right)) = at.field("left").zip(at.field("right")) else {
        return Strength::Strong;
    };
    match operator {
        "||" if is_either(left, right) => Strength::Trivial,
        "||" | "??" => condition(left).min(condition(right)),
        "&&" => condition(left).max(condition(right)),
        "==" | "===" => equality(left, right),
        "!=" | "!==" | "instanceof" => Strength::Weak,
        ">=" if right.text() == "0" => {
            if left.text().ends_with(".length") {
                Strength::Trivial
            } else {
                Strength::Weak
            }
        }
        _ if is_constant(left) && is_constant(right) => Strength::Trivial,
        "<" | ">" | "<=" | ">=" if !left.text().contains("Math.abs(") => Strength::Weak,
        _ => Strength::Strong,
    }
}

/// `a || !a`, `x >= 1 || x < 1`: one of both always holds.
fn is_either(left: At<'_>, right: At<'_>) -> bool {
    let (left, right) = (unwrapped(left), unwrapped(right));
    let negates = |one: At<'_>, other: At<'_>| {
        let inner = one.field("argument").filter(|_| one.text().starts_with('!'));
        inner.is_some_and(|inner| unwrapped(inner).phrase() == other.phrase())
    };
    let opposite = [(">=", "<"), ("<=", ">"), ("===", "!=="), ("==", "!=")];
    let compared = |at: At<'_>| {
        let sides = at.field("left").zip(at.field("right"))?;
        Some((sides.0.phrase(), at.field_text("operator").to_owned(), sides.1.phrase()))
    };
    let either = compared(left).zip(compared(right)).is_some_and(|(one, other)| {
        let (first, second) = (one.1.as_str(), other.1.as_str());
        let apart = opposite.contains(&(first, second)) || opposite.contains(&(second, first));
        apart && one.0 == other.0 && one.2 == other.2
    });
    either || negates(left, right) || negates(right, left)
}
