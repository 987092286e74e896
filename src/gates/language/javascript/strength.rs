//! How much a JavaScript assertion says of its subject.

use crate::gates::language::outline::Strength;
use crate::gates::language::syntax::At;

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
            } else {
                Strength::Weak
            }
        }
        "toThrow" | "toThrowError" | "throw" | "throws" if first.is_none() => Strength::Weak,
        _ => bound(subject, matcher, first).unwrap_or({
            if is_constant(subject) && expected.iter().all(|at| is_constant(*at)) {
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

fn is_constant(at: At<'_>) -> bool {
    match at.kind() {
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
    let calls = left
        .below()
        .any(|part| part.is(&["call_expression", "new_expression", "await_expression"]));
    if matches!(right.text(), "expect.anything()" | "sinon.match.any") {
        Strength::Weak
    } else if is_constant(left) && is_constant(right) {
        Strength::Trivial
    } else if left.phrase() == right.phrase() {
        if calls { Strength::Weak } else { Strength::Trivial }
    } else if right.text() == "true" {
        condition(left)
    } else {
        Strength::Strong
    }
}

/// How much a condition says that is asserted to hold.
pub(super) fn condition(at: At<'_>) -> Strength {
    let at = if at.is(&["parenthesized_expression"]) {
        at.children().next().unwrap_or(at)
    } else {
        at
    };
    let sides = || at.field("left").zip(at.field("right"));
    match at.kind() {
        _ if is_constant(at) => {
            if matches!(at.text(), "false" | "0" | "null" | "undefined" | "''" | "\"\"") {
                Strength::Strong
            } else {
                Strength::Trivial
            }
        }
        "arrow_function" | "function_expression" | "array" | "object" => Strength::Trivial,
        "identifier" | "member_expression" => Strength::Weak,
        "unary_expression" if at.text().starts_with("!!") => Strength::Weak,
        "binary_expression" => {
            let operator = at.field_text("operator");
            let Some((left, right)) = sides() else {
                return Strength::Strong;
            };
            match operator {
                "||" => condition(left).min(condition(right)),
                "&&" => condition(left).max(condition(right)),
                "==" | "===" => equality(left, right),
                "!=" | "!==" => Strength::Weak,
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
        _ => Strength::Strong,
    }
}
