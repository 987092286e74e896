//! Compares the assertions of two forms of a test: which are gone, and which are replaced by one that asks for less.

use crate::{
    language::outline::{Check, Strength, Test},
    words::is_one_of,
};
use std::collections::{BTreeMap, BTreeSet};

/// Words that accept one of several values.
const CHOOSES: &str = "ok isOk assertTrue in or || | includes contains matches toContain oneOf some any assertIn";

/// Words that accept values near one.
const TOLERATES: &str =
    "approx isclose allclose toBeCloseTo closeTo assertAlmostEqual delta places abs rel epsilon tolerance";

/// Words without information about the tested code.
const COMMON: &str = "
    assert assert_eq assert_ne expect toBe toEqual toStrictEqual equal strictEqual deepEqual self assertEqual
    assertTrue let const var mut def fn return await async new in is not and or if else for unwrap Ok Err Some
    vec string len
";

/// The least share of common words for a new assertion to count as the replacement of an old one.
const ALIKE: f64 = 0.1;

/// Returns the assertions of a value that a test lost, for people. An assertion that the test still makes about each
/// row of a list is not lost, nor one that is only written differently.
pub fn lost_by_test(old: &Test, new: &Test) -> Vec<String> {
    let (lost, left) = removed_and_added(&old.checks, &new.checks);
    let has_fewer = strong(&new.checks) < strong(&old.checks);
    let is_lost = |check: &&&Check| match nearest(check, &left) {
        Some(other) if asks_less(check, other) => {
            other.strength == Strength::Strong || !is_gone_through(check, old, new)
        }
        Some(_) | None => has_fewer && !is_gone_through(check, old, new),
    };
    lost.iter().filter(is_lost).map(|check| check.words.join(" ")).collect()
}

/// Returns the assertions of a value that a helper of tests lost, for people.
pub fn lost_by_helper(old: &[Check], new: &[Check]) -> Vec<String> {
    let (lost, left) = removed_and_added(old, new);
    let is_less = |check: &&&Check| new.is_empty() || left.iter().any(|other| asks_less(check, other));
    lost.iter().filter(is_less).map(|check| check.words.join(" ")).collect()
}

fn strong(checks: &[Check]) -> usize {
    checks.iter().filter(|check| check.strength == Strength::Strong).count()
}

/// Returns the assertions that were removed, and those that were added.
fn removed_and_added<'t>(before: &'t [Check], after: &'t [Check]) -> (Vec<&'t Check>, Vec<&'t Check>) {
    let mut left: Vec<&Check> = after.iter().collect();
    let mut lost: Vec<&Check> = Vec::new();
    for check in before.iter().filter(|check| check.strength == Strength::Strong) {
        let is_kept = |new: &&Check| new.words == check.words && new.strength >= check.strength;
        match left.iter().position(is_kept) {
            Some(at) => drop(left.remove(at)),
            None => lost.push(check),
        }
    }
    (lost, left)
}

fn nearest<'c>(check: &Check, list: &[&'c Check]) -> Option<&'c Check> {
    let ranked = list.iter().map(|new| (likeness(&check.words, &new.words), *new));
    let best = ranked.max_by(|one, other| one.0.total_cmp(&other.0))?;
    (best.0 > ALIKE || list.len() == 1).then_some(best.1)
}

/// `true` if an assertion asks for less than the one that it replaced: one of several values, a wider tolerance, a part
/// of a text, or something that cannot fail.
fn asks_less(old: &Check, new: &Check) -> bool {
    let has = |check: &Check| check.words.iter().any(|word| is_one_of(CHOOSES, word));
    let (was, is) = (values(&old.words), values(&new.words));
    let is_new_name = |name: &&str| !is_one_of(CHOOSES, name) && !was.contains(name) && !is.contains(name);
    let says_more = names(&new.words).difference(&names(&old.words)).any(is_new_name);
    let chooses = has(new) && !has(old) && !says_more;
    let of_several = chooses && is.len() > was.len() && was.iter().all(|value| is.contains(value));
    let is_part = |part: &&str| was.iter().any(|text| part.len() < text.len() && text.contains(*part));
    let of_part = chooses && !is.is_empty() && is.iter().all(is_part);
    let tolerates = |check: &Check| check.words.iter().any(|word| is_one_of(TOLERATES, word));
    let is_wider = tolerates(new) && (!tolerates(old) || was != is);
    of_several || of_part || is_wider || new.strength < Strength::Same
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

/// Returns the share of words that two pieces have in common, from 0 to 1.
fn likeness(one: &[String], other: &[String]) -> f64 {
    let (one, other) = (counts(one), counts(other));
    let words: BTreeSet<&str> = one.keys().chain(other.keys()).copied().collect();
    let (mut shared, mut all) = (0_u32, 0_u32);
    for word in words {
        let [left, right] = [&one, &other].map(|counts| counts.get(word).copied().unwrap_or(0));
        shared = shared.saturating_add(left.min(right));
        all = all.saturating_add(left.max(right));
    }
    f64::from(shared) / f64::from(all.max(1))
}

fn counts(words: &[String]) -> BTreeMap<&str, u32> {
    let mut counts = BTreeMap::new();
    for word in words {
        let count: &mut u32 = counts.entry(word.as_str()).or_default();
        *count = count.saturating_add(1);
    }
    counts
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

/// Returns the names among the words that may identify the tested code.
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
    use super::{lost_by_helper, lost_by_test};
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
            (test("    assert f(1) == 2\n    assert f(2) in (3, 4)"), 1),
            (test("    assert f(1) == 2\n    assert f(2) == pytest.approx(3, abs=1000)"), 1),
            (test("    assert f(2) == 3\n    assert f(1) == 2\n    assert f(3) == 4"), 0),
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

    #[test]
    fn a_helper_lost_what_it_asserts_less_of() {
        let helper = |check: &str| format!("def check(a):\n    {check}\n\n\ndef test_a():\n    check(1)\n");
        let checks = |text: &str| outline(text).functions.first().unwrap().checks.clone();
        let was = checks(&helper("assert a == 1"));
        for (after, expected) in [("pass", 1), ("assert a in (1, 2)", 1), ("assert 1 == a", 0)] {
            assert_eq!(lost_by_helper(&was, &checks(&helper(after))).len(), expected, "{after}");
        }
    }
}
