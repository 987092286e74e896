//! How much a Rust condition says that is asserted to hold.

use crate::language::{
    outline::{Strength, is_number},
    syntax::At,
};

/// Whether one of the tokens is called.
pub(super) fn calls(tokens: &[At<'_>]) -> bool {
    tokens
        .iter()
        .any(|part| part.is(&["token_tree"]) && part.text().starts_with('('))
}

/// How much an equality of two sides says.
pub(super) fn equality(left: &[String], right: &[String], calls: bool) -> Strength {
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
pub(super) fn condition(words: &[String]) -> Strength {
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
        all if is_either(all) => Strength::Trivial,
        _ if sides.is_some_and(|(left, right)| left == right && !left.contains(&".")) => Strength::Trivial,
        _ if sides.is_some_and(|(left, right)| left == right) => Strength::Weak,
        [.., "is_finite" | "is_normal" | "is_nan"] => Strength::Weak,
        all if all.contains(&"contains") && all.iter().any(|word| matches!(*word, ".." | "..=")) => Strength::Weak,
        [.., "is_ok" | "is_some" | "is_err"] | ["!", .., "is_empty" | "is_none"] | [.., ">=", "0"] | [.., "!=", _] => {
            Strength::Weak
        }
        all if is_ordering(all) => Strength::Weak,
        ["matches", "!", .., "Ok" | "Some" | "Err", "_" | ".."] => Strength::Weak,
        _ => Strength::Strong,
    }
}

/// `x.is_ok() || x.is_err()`, `a || !a`, `x >= 1 || x < 1`: one of both always holds.
fn is_either(words: &[&str]) -> bool {
    let opposite = [
        ("is_ok", "is_err"),
        ("is_some", "is_none"),
        (">=", "<"),
        ("<=", ">"),
        ("==", "!="),
    ];
    let are_opposite = |one: &str, other: &str| opposite.contains(&(one, other)) || opposite.contains(&(other, one));
    let negates = |one: &[&str], other: &[&str]| {
        one.split_first()
            .is_some_and(|(not, rest)| *not == "!" && rest == other)
    };
    let differ_by_one = |one: &[&str], other: &[&str]| {
        let mut apart = one.iter().zip(other).filter(|(one, other)| one != other);
        let first = apart.next();
        one.len() == other.len() && apart.next().is_none() && first.is_some_and(|(one, other)| are_opposite(one, other))
    };
    let mut sides = words.split(|word| *word == "||");
    match (sides.next(), sides.next(), sides.next()) {
        (Some(one), Some(other), None) => negates(one, other) || negates(other, one) || differ_by_one(one, other),
        _ => false,
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
