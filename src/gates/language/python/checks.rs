//! What a Python test checks, and how much.

use super::FLOW;
use crate::domain::integrity::Rule;
use crate::gates::language::flow::heard;
use crate::gates::language::outline::Check;
use crate::gates::language::outline::Mark;
use crate::gates::language::outline::Strength;
use crate::gates::language::outline::quoted;
use crate::gates::language::syntax::At;

/// Every check of a body.
pub(super) fn in_body(body: At<'_>) -> Vec<Check> {
    body.below().filter_map(|at| check(at, body)).collect()
}

fn check(at: At<'_>, body: At<'_>) -> Option<Check> {
    let strength = match at.kind() {
        "assert_statement" => condition(at.children().next()?),
        "call" => call(at)?,
        "raise_statement" if at.text().contains("AssertionError") => Strength::Strong,
        _ => return None,
    };
    let strength = heard(&FLOW, at, body, strength);
    Some(Check {
        line: at.line(),
        words: at.words(),
        strength,
        tolerance: tolerance(at),
    })
}

fn unwrapped(at: At<'_>) -> At<'_> {
    match at.kind() {
        "parenthesized_expression" => at.children().next().map_or(at, unwrapped),
        _ => at,
    }
}

fn is_constant(at: At<'_>) -> bool {
    let at = unwrapped(at);
    at.is(&["integer", "float", "true", "false", "none", "ellipsis"])
        || at.is(&["string"]) && !at.below().any(|part| part.is(&["interpolation"]))
        || at.is(&["unary_operator", "tuple", "list", "not_operator"]) && at.children().all(is_constant)
}

/// Whether a constant counts as true. Only the plain forms: nobody hides behind the rest.
fn is_true(at: At<'_>) -> bool {
    let at = unwrapped(at);
    match at.kind() {
        "true" | "lambda" | "generator_expression" => true,
        "integer" | "float" => at.text().chars().any(|c| ('1'..='9').contains(&c)),
        "string" => !at.text().trim_matches(['"', '\'', 'r', 'b', 'f']).is_empty(),
        "tuple" | "list" => at.children().count() > 0 && (at.is(&["tuple"]) || at.children().all(is_constant)),
        "not_operator" => matches!(at.field_text("argument"), "False" | "None" | "0"),
        _ => false,
    }
}

/// How much the condition of an assertion says.
pub(super) fn condition(at: At<'_>) -> Strength {
    let at = unwrapped(at);
    if is_true(at) || matches!(at.phrase().as_str(), "all [ ]" | "callable print") {
        return Strength::Trivial;
    }
    let over_nothing = ["in []", "in ()", "in {}", "in range(0)"]
        .iter()
        .any(|nothing| at.text().contains(nothing));
    if at.field_text("function") == "all" && over_nothing {
        return Strength::Trivial;
    }
    match at.kind() {
        "boolean_operator" => {
            let sides = [at.field("left"), at.field("right")];
            let strengths = sides.into_iter().flatten().map(condition);
            match at.field_text("operator") {
                "or" => strengths.min().unwrap_or(Strength::Strong),
                _ => strengths.max().unwrap_or(Strength::Strong),
            }
        }
        "comparison_operator" => comparison(at),
        "identifier" | "attribute" => Strength::Weak,
        "not_operator" => Strength::Strong,
        "call"
            if matches!(
                at.field_text("function"),
                "isinstance" | "hasattr" | "callable" | "bool" | "len"
            ) =>
        {
            Strength::Weak
        }
        _ => Strength::Strong,
    }
}

fn comparison(at: At<'_>) -> Strength {
    let sides: Vec<At<'_>> = at.children().collect();
    let (Some(left), Some(right)) = (sides.first(), sides.last()) else {
        return Strength::Strong;
    };
    let operator: Vec<&str> = at
        .parts()
        .filter(|part| !sides.iter().any(|side| side.is_same(*part)))
        .map(At::text)
        .collect();
    let operator = operator.join(" ");
    compared(*left, &operator, *right)
}

fn compared(left: At<'_>, operator: &str, right: At<'_>) -> Strength {
    let anything = |at: At<'_>| matches!(at.text(), "ANY" | "mock.ANY" | "unittest.mock.ANY");
    let calls = left.below().any(|part| part.is(&["call", "await"]));
    let counts = left.is(&["call"]) && left.field_text("function") == "len";
    match operator {
        "==" | "is" | "<=" | ">=" if left.phrase() == right.phrase() => {
            if calls {
                Strength::Weak
            } else {
                Strength::Trivial
            }
        }
        _ if is_constant(left) && is_constant(right) => Strength::Trivial,
        "==" if anything(left) || anything(right) => Strength::Trivial,
        ">=" if counts && right.text() == "0" => Strength::Trivial,
        ">" if counts && right.text() == "-1" => Strength::Trivial,
        ">=" if right.text() == "0" => Strength::Weak,
        "==" | "is" if matches!(right.text(), "True") => condition(left),
        "is not" | "!=" | "is  not" => Strength::Weak,
        "<" | ">" | "<=" | ">=" if !left.text().contains("abs(") => Strength::Weak,
        _ => Strength::Strong,
    }
}

fn call(at: At<'_>) -> Option<Strength> {
    let function = at.field("function")?;
    let name = if function.is(&["attribute"]) {
        function.field_text("attribute")
    } else {
        function.text()
    };
    let arguments: Vec<At<'_>> = at
        .field("arguments")?
        .children()
        .filter(|part| !part.is(&["keyword_argument"]))
        .collect();
    let first = || arguments.first().copied();
    let both = || first().zip(arguments.get(1).copied());
    Some(match name {
        "assertTrue" => first().map_or(Strength::Strong, condition),
        "assertFalse" => first().map_or(Strength::Strong, |at| {
            if matches!(at.text(), "False" | "0" | "None") {
                Strength::Trivial
            } else {
                Strength::Strong
            }
        }),
        "assertEqual" | "assertEquals" | "assertIs" | "assertListEqual" | "assertDictEqual" | "assertAlmostEqual" => {
            both().map_or(Strength::Strong, |(left, right)| compared(left, "==", right))
        }
        "assertIsNotNone" | "assertNotEqual" | "assertIsInstance" | "assertIsNot" => {
            if first().is_some_and(is_constant) {
                Strength::Trivial
            } else {
                Strength::Weak
            }
        }
        "assertGreaterEqual" => both().map_or(Strength::Strong, |(left, right)| compared(left, ">=", right)),
        "raises" | "assertRaises" | "assertRaisesRegex" | "warns" => {
            if first().is_some_and(catches_everything) {
                Strength::Weak
            } else {
                Strength::Strong
            }
        }
        "fail" if function.text() == "pytest.fail" || function.text() == "self.fail" => Strength::Strong,
        "assert_called" | "assertGreater" | "assertLess" | "assertLessEqual" => Strength::Weak,
        _ if ["assert_", "assert", "check_", "verify_", "expect_"]
            .iter()
            .any(|start| name.starts_with(start)) =>
        {
            Strength::Strong
        }
        _ => return None,
    })
}

/// Whether an exception, or one of several, is so general that a failing assertion is one too.
fn catches_everything(at: At<'_>) -> bool {
    at.below()
        .any(|part| part.is(&["identifier"]) && matches!(part.text(), "Exception" | "BaseException"))
}

fn catches_failures(at: At<'_>) -> bool {
    catches_everything(at)
        || at
            .below()
            .any(|part| part.is(&["identifier"]) && part.text() == "AssertionError")
}

/// `try` with an `except` that hears an assertion and says nothing; `suppress`; `raises` around an assertion.
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
        "with_statement" => {
            let calls = outer
                .children()
                .filter(|part| part.is(&["with_clause"]))
                .flat_map(At::below);
            let mut calls = calls.filter(|part| part.is(&["call"]));
            let is_body = outer.field("body").is_some_and(|body| body.is_same(inner));
            is_body
                && calls.any(|call| {
                    let name = call.field_text("function").rsplit('.').next().unwrap_or_default();
                    matches!(name, "suppress" | "raises" | "assertRaises")
                        && call
                            .field("arguments")
                            .and_then(|list| list.children().next())
                            .is_some_and(|first| {
                                if name == "suppress" {
                                    call.field("arguments").is_some_and(catches_failures)
                                } else {
                                    first.text() == "AssertionError"
                                }
                            })
                })
        }
        _ => false,
    }
}

fn is_silent(clause: At<'_>) -> bool {
    let body = clause.children().find(|part| part.is(&["block"]));
    let mut caught = clause.children().filter(|part| !part.is(&["block"])).peekable();
    let hears = caught.peek().is_none() || caught.any(catches_failures);
    let speaks = body.is_some_and(|body| {
        body.below().any(|at| {
            at.is(&["raise_statement", "assert_statement"])
                || at.is(&["call"]) && (at.field_text("function").ends_with("fail") || call(at).is_some())
        })
    });
    hears && !speaks
}

/// How far off a number may be: `approx(x, abs=…)`, `assertAlmostEqual(…, places=…)`, `abs(a - b) < …`.
fn tolerance(at: At<'_>) -> Option<f64> {
    let number = |text: &str| text.replace('_', "").parse::<f64>().ok();
    for part in at.below() {
        if part.is(&["keyword_argument"]) {
            let value = number(part.field_text("value"));
            match part.field_text("name") {
                "abs" | "rel" | "delta" | "atol" | "rtol" | "tol" | "tolerance" | "abs_tol" | "rel_tol" => {
                    return value;
                }
                "places" | "decimal" => return value.map(|places| 10_f64.powf(-places)),
                _ => {}
            }
        } else if part.is(&["comparison_operator"]) && part.parts().any(|at| matches!(at.text(), "<" | "<=")) {
            let near = part
                .children()
                .next()
                .is_some_and(|left| left.field_text("function").ends_with("abs"));
            if let Some(value) = part
                .children()
                .last()
                .filter(|_| near)
                .and_then(|right| number(right.text()))
            {
                return Some(value);
            }
        }
    }
    None
}

/// A return on a condition before anything is checked.
pub(super) fn early_return(body: At<'_>) -> Option<Mark> {
    let first_check = body
        .below()
        .find(|at| at.is(&["assert_statement"]) || at.is(&["call"]) && call(*at).is_some())?;
    let before = body.children().take_while(|at| !at.holds(first_check));
    let leaving = before.filter(|at| at.is(&["if_statement"]) && at.below().any(|part| part.is(&["return_statement"])));
    let condition = leaving.filter_map(|at| at.field("condition")).next()?;
    let what = format!(
        "the test returns before it checks anything if {}",
        quoted(condition.text())
    );
    Some(Mark::at(Rule::SkipAdded, condition, what))
}
