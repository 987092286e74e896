//! What a Python test checks, and how much.

use super::{
    FLOW,
    names::is_imported,
    stand_ins::is_own_mock,
    stored::is_written_first,
    strength::{compared, condition, is_constant},
    swallows::{catches_everything, raises_itself},
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
    let strength = strength_of(at)?;
    let mut strength = heard(&FLOW, at, body, strength);
    if is_written_first(at, body) {
        strength = strength.min(Strength::Same);
    }
    Some(Check {
        line: at.line(),
        words: words_of(at),
        strength,
        tolerance: tolerance(at),
        failing: failing(at),
    })
}

/// An assertion that stands for itself, as it fails.
fn failing(at: At<'_>) -> Option<Failing> {
    let is_sure = |first: Option<At<'_>>| first.is_some_and(|first| !is_constant(first));
    let statement = match at.kind() {
        "assert_statement" => Some(at).filter(|at| is_sure(at.children().next())),
        "call" => {
            let called = at.field_text("function").rsplit('.').next().unwrap_or_default();
            let is_plain = ["assert", "check_", "verify_", "expect_"]
                .iter()
                .any(|start| called.starts_with(start));
            at.parent()
                .filter(|outer| is_plain && outer.is(&["expression_statement"]))
        }
        _ => None,
    }?;
    Some(Failing {
        range: statement.range(),
        text: "raise AssertionError('made to fail')".to_owned(),
    })
}

/// The words of a check without the message of `assertTrue(condition, message)`.
fn words_of(at: At<'_>) -> Vec<String> {
    let name = at.field_text("function").rsplit('.').next().unwrap_or_default();
    let condition = at.field("arguments").and_then(|given| given.children().next());
    match condition.filter(|_| is_about_truth(name)) {
        Some(condition) => std::iter::once(name.to_owned()).chain(condition.words()).collect(),
        None => at.words(),
    }
}

fn is_about_truth(name: &str) -> bool {
    matches!(name, "assertTrue" | "assertFalse" | "assertIsNone" | "assertIsNotNone")
}

/// How much a place says by itself, if it checks something.
pub(super) fn strength_of(at: At<'_>) -> Option<Strength> {
    match at.kind() {
        "assert_statement" => at.children().next().map(condition),
        "call" => call(at),
        "raise_statement" if at.text().contains("AssertionError") => Some(Strength::Strong),
        _ => None,
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
        "assertTrue" => first().map_or(Strength::Strong, |first| truth(first, arguments.get(1).copied())),
        "assertFalse" => first().map_or(Strength::Strong, denied),
        "assertEqual" | "assertEquals" | "assertIs" | "assertListEqual" | "assertDictEqual" | "assertAlmostEqual" => {
            both().map_or(Strength::Strong, |(left, right)| compared(left, "==", right))
        }
        "assertIsNotNone" | "assertNotEqual" | "assertIsInstance" | "assertIsNot" => {
            first().map_or(Strength::Weak, there)
        }
        "assertGreaterEqual" => both().map_or(Strength::Strong, |(left, right)| compared(left, ">=", right)),
        "raises" | "RaisesGroup" | "assertRaises" | "assertRaisesRegex" | "warns" | "deprecated_call" => {
            if raises_itself(at) {
                Strength::Trivial
            } else if first().is_some_and(catches_everything) {
                Strength::Weak
            } else {
                Strength::Strong
            }
        }
        "fail" if function.text() == "pytest.fail" || function.text() == "self.fail" => Strength::Strong,
        _ if name.starts_with("assert_") && function.is(&["attribute"]) && is_own_mock(function) => Strength::Trivial,
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

/// How much is said by asserting that something is true; what was to be the expected value is only the message.
fn truth(condition_asserted: At<'_>, message: Option<At<'_>>) -> Strength {
    match message {
        Some(message) if message.is(&["list", "tuple", "dictionary", "set"]) => Strength::Same,
        Some(message) if is_constant(message) && !message.is(&["string", "concatenated_string"]) => Strength::Same,
        _ => condition(condition_asserted),
    }
}

/// How much is said by asserting that something is there.
fn there(at: At<'_>) -> Strength {
    if is_constant(at) {
        Strength::Trivial
    } else if is_imported(at) {
        Strength::Same
    } else {
        Strength::Weak
    }
}

/// How much is said by asserting that something does not hold.
fn denied(at: At<'_>) -> Strength {
    if matches!(at.text(), "False" | "0" | "None") {
        Strength::Trivial
    } else {
        Strength::Strong
    }
}

/// How far off a number may be: `approx(x, abs=…)`, `assertAlmostEqual(…, places=…)`, `abs(a - b) < …`.
fn tolerance(at: At<'_>) -> Option<f64> {
    for part in at.below() {
        if part.is(&["keyword_argument"]) {
            let value = part.field("value").map(number);
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
            if let Some(limit) = part.children().last().filter(|_| near) {
                return Some(number(limit));
            }
        }
    }
    None
}

/// A limit as a number; what is larger than any number people write, where it is said in words.
fn number(at: At<'_>) -> f64 {
    let plain = |text: &str| text.replace('_', "").parse::<f64>().ok();
    let power = || {
        let (base, exponent) = at.text().split_once("**")?;
        Some(plain(base.trim_matches([' ', '(']))?.powf(plain(exponent.trim_matches([' ', ')']))?))
    };
    let endless = ["inf", "maxsize", "MAX"].iter().any(|word| at.text().contains(word));
    let unknown = if endless { f64::INFINITY } else { 0.0 };
    plain(at.text()).or_else(power).unwrap_or(unknown)
}

/// A return on a condition before anything is checked.
pub(super) fn early_return(body: At<'_>) -> Option<Mark> {
    let first_check = body.below().find(|at| strength_of(*at).is_some())?;
    let before = body.children().take_while(|at| !at.holds(first_check));
    let leaving = before.filter(|at| at.is(&["if_statement"]) && at.below().any(|part| part.is(&["return_statement"])));
    let condition = leaving.filter_map(|at| at.field("condition")).next()?;
    let what = format!(
        "the test returns before it checks anything if {}",
        quoted(condition.text())
    );
    Some(Mark::at(Rule::AssertionRemoved, condition, what))
}
