//! Whether a check asks for less than the one whose place it took.

use crate::{
    language::outline::Check,
    words::{names, values},
};

/// Words that compare one thing with another.
const COMPARES: [&str; 24] = [
    "==",
    "===",
    "!=",
    "!==",
    "<",
    ">",
    "<=",
    ">=",
    "in",
    "is",
    "toBe",
    "toEqual",
    "toStrictEqual",
    "toMatchObject",
    "toContain",
    "equal",
    "strictEqual",
    "deepEqual",
    "deepStrictEqual",
    "eql",
    "equals",
    "assertEqual",
    "assertIn",
    "assertAlmostEqual",
];
/// Words that let one of several do.
const CHOOSES: [&str; 11] = [
    "in",
    "or",
    "||",
    "|",
    "includes",
    "contains",
    "matches",
    "toContain",
    "oneOf",
    "some",
    "any",
];
/// Words that ask whether something is true, or there.
const TRUTH: [&str; 7] = [
    "ok",
    "isOk",
    "truthy",
    "toBeTruthy",
    "toBeDefined",
    "toHaveProperty",
    "assertIsNotNone",
];
/// Words that expect an error.
const RAISES: [&str; 3] = ["raises", "assertRaises", "assertRaisesRegex"];

fn has(check: &Check, list: &[&str]) -> bool {
    check.words.iter().any(|word| list.contains(&word.as_str()))
}

/// Whether only a part of what was asked is asked now: what was compared with a value is compared with nothing, or what
/// was to be one value may be one of several.
pub(super) fn asks_less(old: &Check, new: &Check) -> bool {
    let (was, is) = (values(&old.words), values(&new.words));
    let known = names(&old.words);
    let says_nothing_new = names(&new.words)
        .iter()
        .all(|name| known.contains(name) || is.contains(name) || TRUTH.contains(name) || CHOOSES.contains(name));
    let is_truth = |value: &str| matches!(value, "True" | "true" | "None" | "null" | "undefined");
    let lost = was.iter().any(|value| !is.contains(value) && !is_truth(value));
    let asked = has(old, &COMPARES) || has(old, &["match"]);
    let cut_off =
        lost && asked && !has(new, &COMPARES) && is.iter().all(|value| was.contains(value) || known.contains(value));
    let several =
        has(new, &CHOOSES) && !has(old, &CHOOSES) && is.len() > was.len() && was.iter().all(|value| is.contains(value));
    says_nothing_new && (cut_off || several) || lets_more_errors(old, new) || looks_for_a_part(old, new)
}

/// Words that compare a text as a whole, and those that look for something in it.
const EQUALS: [&str; 12] = [
    "==",
    "===",
    "assert_eq",
    "toBe",
    "toEqual",
    "toStrictEqual",
    "assertEqual",
    "equal",
    "strictEqual",
    "deepEqual",
    "deepStrictEqual",
    "eql",
];
const LOOKS: [&str; 17] = [
    "in",
    "toMatch",
    "toContain",
    "match",
    "search",
    "includes",
    "include",
    "contains",
    "contain",
    "assertIn",
    "assertRegex",
    "starts_with",
    "ends_with",
    "startswith",
    "endswith",
    "startsWith",
    "endsWith",
];

/// Whether of a text that was compared as a whole only a part is looked for now, and nothing that was not in it.
fn looks_for_a_part(old: &Check, new: &Check) -> bool {
    let (was, is) = (values(&old.words), values(&new.words));
    let texts: Vec<&str> = was.into_iter().filter(|text| text.len() > 3).collect();
    let (known, named) = (names(&old.words), names(&new.words));
    // What a pattern says stands among the names.
    let of_pattern = named
        .into_iter()
        .filter(|name| !known.contains(name) && !LOOKS.contains(name));
    let mut parts = is.into_iter().chain(of_pattern).peekable();
    let looks = has(old, &EQUALS) && !has(new, &EQUALS) && has(new, &LOOKS);
    looks
        && parts.peek().is_some()
        && parts.all(|part| texts.iter().any(|text| part.len() < text.len() && text.contains(part)))
}

/// Whether another error will do besides the one that was expected.
fn lets_more_errors(old: &Check, new: &Check) -> bool {
    let (was, is) = (names(&old.words), names(&new.words));
    let mut more = is.difference(&was).peekable();
    let is_error = |name: &&str| name.ends_with("Error") || name.ends_with("Exception");
    has(old, &RAISES) && has(new, &RAISES) && was.is_subset(&is) && more.peek().is_some() && more.all(is_error)
}

/// Whether a number may be further off than before; from an exact one, further than rounding explains.
pub(super) fn is_wider(old: &Check, new: &Check) -> bool {
    new.tolerance.is_some_and(|new| match old.tolerance {
        Some(old) => new > old * 1.000_001,
        None => new >= 1.0,
    })
}

/// Whether a check only counts.
pub(super) fn is_count(check: &Check) -> bool {
    let counts = ["len", "length", "toHaveLength", "lengthOf", "size", "count"];
    check.words.iter().any(|word| counts.contains(&word.as_str()))
}
