//! Compares the assertions of two forms of a test: which of those of a value are gone. Running broken code does not show
//! it, as long as another assertion of the same function is left.

use crate::{
    language::outline::{Check, Strength, Test},
    words::is_one_of,
};
use std::collections::BTreeSet;

/// Words that say nothing about what is tested.
const COMMON: &str = "
    assert assert_eq assert_ne expect toBe toEqual toStrictEqual equal strictEqual deepEqual self assertEqual
    assertTrue let const var mut def fn return await async new in is not and or if else for unwrap Ok Err Some
    vec string len
";

/// Returns the assertions of a value that a test lost, for people. One that the test still makes of each row of a list is
/// not lost, nor one that is only written in another way.
#[must_use]
pub fn lost_by_test(old: &Test, new: &Test) -> Vec<String> {
    let has_fewer = strong(&new.checks) < strong(&old.checks);
    let lost = lost(&old.checks, &new.checks).into_iter();
    let lost = lost.filter(|check| has_fewer && !is_gone_through(check, old, new));
    lost.map(|check| check.words.join(" ")).collect()
}

fn strong(checks: &[Check]) -> usize {
    checks.iter().filter(|check| check.strength == Strength::Strong).count()
}

/// Returns the assertions of a value that are not among the new ones.
fn lost<'t>(before: &'t [Check], after: &[Check]) -> Vec<&'t Check> {
    let mut left: Vec<&Check> = after.iter().collect();
    let mut lost: Vec<&Check> = Vec::new();
    for check in before.iter().filter(|check| check.strength == Strength::Strong) {
        let is_kept = |new: &&Check| new.words == check.words && new.strength >= check.strength;
        match left.iter().position(is_kept) {
            Some(at) => drop(left.remove(at)),
            None => lost.push(check),
        }
    }
    lost
}

/// `true` if a new assertion of the test covers the old one: it asks each item of a list, or calls a function that does.
fn is_gone_through(old: &Check, one: &Test, other: &Test) -> bool {
    let there = values(&other.words);
    let own = values(&old.words);
    let called = |check: &Check| -> Vec<String> {
        let said = values(&check.words);
        let names = names(&check.words).into_iter().filter(|name| !said.contains(name));
        names.map(str::to_owned).collect()
    };
    let wanted = called(old);
    let is_there = own.iter().all(|value| there.contains(value));
    let is_new = |new: &Check| one.checks.iter().all(|known| known.words != new.words);
    let asks = |new: &Check| {
        let is_given = own.iter().any(|value| !values(&new.words).contains(value)) || called(new) != wanted;
        let asks_it = wanted.iter().all(|name| called(new).contains(name));
        new.strength == Strength::Strong && is_new(new) && is_given && asks_it
    };
    is_there && other.checks.iter().any(asks)
}

/// Returns the values among the words, in order: numbers, texts, booleans.
fn values(words: &[String]) -> Vec<&str> {
    let mut values = Vec::new();
    let mut in_text = false;
    for word in words {
        let word = word.as_str();
        if word == "\"" {
            in_text = !in_text;
        } else if in_text || is_value(word) {
            values.push(word.trim_matches(['"', '\'']));
        }
    }
    values
}

fn is_value(word: &str) -> bool {
    is_one_of("true false True False None null undefined", word)
        || word.starts_with(|c: char| c.is_ascii_digit())
        || word.len() > 1 && word.starts_with(['"', '\''])
}

/// Returns the names among the words that may say what is tested.
fn names(words: &[String]) -> BTreeSet<&str> {
    let is_name = |word: &&str| {
        word.len() > 1
            && word.chars().all(|c| c.is_alphanumeric() || c == '_')
            && !is_value(word)
            && !is_one_of(COMMON, word)
    };
    words.iter().map(String::as_str).filter(is_name).collect()
}

#[cfg(test)]
mod tests {
    use super::lost_by_test;
    use crate::language::{self, outline::Outline};

    fn outline(text: &str) -> Outline {
        language::read("tests/test_a.py", text).unwrap()
    }

    #[test]
    fn a_test_lost_what_nothing_in_it_asserts_any_more() {
        let test = |lines: &str| format!("def test_a():\n{lines}\n");
        let base = "    assert f(1) == 2\n    assert f(2) == 3";
        let table = [
            (test(base), 0),
            (test("    assert f(1) == 2"), 1),
            (
                test("    assert f(2) == 3\n    assert f(1) == 2\n    assert f(3) == 4"),
                0,
            ),
            (test("    assert f(1)  ==  2\n    self.assertEqual(f(2), 3)"), 0),
            (test("    for a, b in [(1, 2), (2, 3)]:\n        assert f(a) == b"), 0),
            (test("    assert True\n    assert True"), 2),
        ];
        let was = outline(&test(base));
        for (after, expected) in table {
            let is = outline(&after);
            let lost = lost_by_test(was.tests.first().unwrap(), is.tests.first().unwrap());
            assert_eq!(lost.len(), expected, "{after} {lost:?}");
        }
    }
}
