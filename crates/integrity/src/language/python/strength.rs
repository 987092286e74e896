//! How much a Python condition says that is asserted to hold.

use super::{
    names::{assigned, is_empty, is_imported},
    stand_ins::is_own_mock,
};
use crate::language::{outline::Strength, syntax::At};

/// Calls that turn nearly every value into one that counts as true.
const TURNS: [&str; 12] = [
    "isinstance",
    "hasattr",
    "bool",
    "len",
    "str",
    "repr",
    "type",
    "list",
    "dict",
    "set",
    "tuple",
    "issubclass",
];

fn unwrapped(at: At<'_>) -> At<'_> {
    match at.kind() {
        "parenthesized_expression" => at.children().next().map_or(at, unwrapped),
        "named_expression" => at.field("value").map_or(at, unwrapped),
        _ => at,
    }
}

/// Whether a value is the same in every run: written out, or a name that was given such a value once.
pub(super) fn is_constant(at: At<'_>) -> bool {
    let at = unwrapped(at);
    match at.kind() {
        "integer" | "float" | "true" | "false" | "none" | "ellipsis" => true,
        "string" => !at.below().any(|part| part.is(&["interpolation"])),
        "unary_operator"
        | "tuple"
        | "list"
        | "set"
        | "dictionary"
        | "pair"
        | "not_operator"
        | "binary_operator"
        | "comparison_operator"
        | "boolean_operator" => at.children().all(is_constant),
        "conditional_expression" => {
            let sides: Vec<At<'_>> = at.children().collect();
            sides
                .first()
                .zip(sides.last())
                .is_some_and(|(one, other)| is_constant(*one) && is_constant(*other) && one.phrase() == other.phrase())
        }
        "identifier" => assigned(at).is_some_and(|value| {
            value.is(&["integer", "float", "true", "false", "none", "string"]) && is_constant(value)
        }),
        _ => false,
    }
}

/// Whether a constant counts as true. Only the plain forms: nobody hides behind the rest.
fn is_true(at: At<'_>) -> bool {
    let at = unwrapped(at);
    match at.kind() {
        "true" | "lambda" | "generator_expression" => true,
        "integer" | "float" => at.text().chars().any(|c| ('1'..='9').contains(&c)),
        "string" => !at.text().trim_matches(['"', '\'', 'r', 'b', 'f']).is_empty(),
        "tuple" | "list" | "set" | "dictionary" => at.children().next().is_some(),
        "not_operator" => matches!(at.field_text("argument"), "False" | "None" | "0" | "[]" | "''" | "\"\""),
        _ => false,
    }
}

/// How much the condition of an assertion says.
pub(super) fn condition(at: At<'_>) -> Strength {
    let at = unwrapped(at);
    if is_true(at) {
        return Strength::Trivial;
    }
    match at.kind() {
        "boolean_operator" => {
            let sides = [at.field("left"), at.field("right")];
            let strengths = sides.into_iter().flatten().map(condition);
            match at.field_text("operator") {
                "or" if is_either(at) => Strength::Trivial,
                "or" => strengths.min().unwrap_or(Strength::Strong),
                _ => strengths.max().unwrap_or(Strength::Strong),
            }
        }
        "conditional_expression" => {
            let sides: Vec<At<'_>> = at.children().collect();
            let ends = sides.first().into_iter().chain(sides.last());
            ends.map(|side| condition(*side)).min().unwrap_or(Strength::Strong)
        }
        "comparison_operator" => comparison(at),
        "identifier" if is_imported(at) => Strength::Same,
        "identifier" | "attribute" => Strength::Weak,
        "not_operator" => Strength::Strong,
        "call" => called(at),
        _ => Strength::Strong,
    }
}

/// `a or not a`, `x >= 1 or x < 1`: one of both always holds.
fn is_either(at: At<'_>) -> bool {
    let Some((left, right)) = at.field("left").zip(at.field("right")) else {
        return false;
    };
    let (left, right) = (unwrapped(left), unwrapped(right));
    let negates = |one: At<'_>, other: At<'_>| {
        one.field("argument")
            .is_some_and(|inner| inner.phrase() == other.phrase())
    };
    let opposite = [
        (">=", "<"),
        ("<=", ">"),
        ("==", "!="),
        ("is", "is not"),
        ("in", "not in"),
    ];
    let (one, other) = (parts(left), parts(right));
    let compared = one.zip(other).is_some_and(|(one, other)| {
        let either = opposite.contains(&(&one.1, &other.1)) || opposite.contains(&(&other.1, &one.1));
        either && one.0.phrase() == other.0.phrase() && one.2.phrase() == other.2.phrase()
    });
    compared || negates(left, right) || negates(right, left)
}

fn called(at: At<'_>) -> Strength {
    let name = at.field_text("function");
    let given = at.field("arguments");
    let first = given
        .filter(|given| given.is(&["generator_expression"]))
        .or_else(|| given.and_then(|list| list.children().next()));
    let nothing = first.is_some_and(is_empty) || at.text().contains("in range(0)");
    match name {
        "all" if nothing => Strength::Trivial,
        "any" if first.is_some_and(|list| list.is(&["list", "tuple"]) && list.children().any(is_true)) => {
            Strength::Trivial
        }
        "callable" if first.is_some_and(|first| is_imported(first) || first.text() == "print") => Strength::Same,
        "hasattr" if first.is_some_and(is_imported) => Strength::Same,
        "isinstance" if at.phrase().ends_with(" object )") || at.phrase().ends_with(" object") => Strength::Trivial,
        "callable" => Strength::Weak,
        _ if TURNS.contains(&name) => Strength::Weak,
        _ if name.ends_with("match") || name.ends_with("search") => by_pattern(first),
        _ => Strength::Strong,
    }
}

fn by_pattern(pattern: Option<At<'_>>) -> Strength {
    let text = pattern.map_or("", At::text).trim_start_matches('r');
    match text.trim_matches(['"', '\'']) {
        ".*" | "^.*$" | "" | "^" | "$" => Strength::Trivial,
        "." | ".+" => Strength::Weak,
        _ => Strength::Strong,
    }
}

/// The first side of a comparison, its operator, the last side.
fn parts(at: At<'_>) -> Option<(At<'_>, String, At<'_>)> {
    let sides: Vec<At<'_>> = at.is(&["comparison_operator"]).then(|| at.children().collect())?;
    let operator: Vec<&str> = at
        .parts()
        .filter(|part| !sides.iter().any(|side| side.is_same(*part)))
        .map(At::text)
        .collect();
    let operator = operator.join(" ").split_whitespace().collect::<Vec<_>>().join(" ");
    Some((*sides.first()?, operator, *sides.last()?))
}

fn comparison(at: At<'_>) -> Strength {
    let sides: Vec<At<'_>> = at.children().collect();
    if sides.len() > 2 {
        let operator = if at.text().contains("==") { "==" } else { "<" };
        let pairs = sides.windows(2).filter_map(|pair| pair.first().zip(pair.last()));
        let strengths = pairs.map(|(left, right)| compared(*left, operator, *right));
        return strengths.max().unwrap_or(Strength::Strong);
    }
    parts(at).map_or(Strength::Strong, |(left, operator, right)| {
        compared(left, &operator, right)
    })
}

/// What stands for a value: a name that was given it once, or the value itself.
fn meant(at: At<'_>) -> At<'_> {
    let at = unwrapped(at);
    if at.is(&["identifier"]) {
        assigned(at).unwrap_or(at)
    } else {
        at
    }
}

/// Whether a class of the same file makes such an object equal to everything.
fn equals_all(at: At<'_>) -> bool {
    let at = meant(at);
    if matches!(at.text(), "ANY" | "mock.ANY" | "unittest.mock.ANY") {
        return true;
    }
    let Some(root) = at.ancestors().last().filter(|_| at.is(&["call"])) else {
        return false;
    };
    let class = at.field_text("function");
    let mut classes = root
        .children()
        .filter(|part| part.is(&["class_definition"]) && part.field_text("name") == class);
    classes.any(|class| {
        class.below().any(|part| {
            part.is(&["function_definition"])
                && part.field_text("name") == "__eq__"
                && part.phrase().ends_with("return True")
        })
    })
}

/// How much a comparison of two values says.
pub(super) fn compared(left: At<'_>, operator: &str, right: At<'_>) -> Strength {
    let (left, right) = (unwrapped(left), unwrapped(right));
    let calls = |at: At<'_>| at.below().any(|part| part.is(&["call", "await"]));
    let counts = left.is(&["call"]) && left.field_text("function") == "len";
    let same = left.phrase() == right.phrase() || meant(left).phrase() == meant(right).phrase();
    let is_type =
        |at: At<'_>| at.is(&["call"]) && at.field_text("function") == "type" || at.text().ends_with("__class__");
    match operator {
        "==" | "is" | "<=" | ">=" if same => {
            if calls(left) || left.phrase() != right.phrase() && calls(meant(left)) {
                Strength::Same
            } else {
                Strength::Trivial
            }
        }
        _ if is_constant(left) && is_constant(right) || is_own_mock(left) => Strength::Trivial,
        "==" if equals_all(left) || equals_all(right) => Strength::Trivial,
        "in" if matches!(left.text(), "\"\"" | "''" | "b\"\"") => Strength::Trivial,
        "in" if right.children().any(|item| item.phrase() == left.phrase()) => Strength::Same,
        "in" if right.field_text("function") == "range" => Strength::Weak,
        ">=" if counts && right.text() == "0" => Strength::Trivial,
        ">" if counts && right.text() == "-1" => Strength::Trivial,
        ">=" if right.text() == "0" => Strength::Weak,
        "==" | "is" if matches!(right.text(), "True") => condition(left),
        "==" | "is" | "!=" | "is not" if is_type(left) => Strength::Weak,
        "is not" | "!=" if is_imported(left) && right.text() == "None" => Strength::Same,
        "is not" | "!=" => Strength::Weak,
        "<" | ">" | "<=" | ">=" if !left.text().contains("abs(") => Strength::Weak,
        _ => Strength::Strong,
    }
}
