//! A test checks less than before: an assertion is gone, is replaced by a weaker one, is no longer reached, or covers
//! fewer rows. If existing product code changed too, most of these may be justified and are not reported.

use super::unknown_language;
use crate::{
    changed_file::{ChangedFile, LocatedTest, Reading},
    language::outline::{Check, Function, Of, Strength, Test, quoted},
    rules::rule::{ANYWHERE, ReadingRule, Violation, at},
    words::{added, is_one_of, likeness, names, values},
};
use domain::integrity::{Detail, Rule};

pub(super) static RULE: ReadingRule = ReadingRule {
    rule: Rule::AssertionRemoved,
    applies: ANYWHERE,
    refuses: &[
        (
            "tests/test_sum.py",
            "def test_adds():\n    assert add(1, 2) == 3\n    assert add(0, 0) == 0\n",
            "def test_adds():\n    assert add(1, 2) == 3\n",
        ),
        (
            "tests/test_sum.py",
            "@pytest.mark.parametrize(\"a, b\", [(1, 2), (3, 4), (5, 6)])\ndef test_follows(a, b):\n    assert follows(a) == b\n",
            "@pytest.mark.parametrize(\"a, b\", [pytest.param(1, 2)])\ndef test_follows(a, b):\n    assert follows(a) == b\n",
        ),
    ],
    accepts: &[
        (
            "tests/seek.rs",
            "#[test]\nfn seeks() {\n    let mut data = [0; 4];\n    for i in 0..256 {\n        data[i] = i as u8;\n    }\n    \
             assert_eq!(seek(&data), 3);\n}\n",
            "#[test]\nfn seeks() {\n    let mut data = [0; 4];\n    for (i, byte) in data.iter_mut().enumerate() {\n        \
             *byte = i as u8;\n    }\n    assert_eq!(seek(&data), 3);\n}\n",
        ),
        (
            "tests/test_sum.py",
            "def test_adds():\n    assert add(1, 2) == 3\n    assert add(0, 0) == 0\n",
            "@pytest.mark.parametrize(\"a, b, c\", [(1, 2, 3), (0, 0, 0)])\ndef test_adds(a, b, c):\n    assert add(a, b) == c\n",
        ),
        (
            "__tests__/render.spec.ts",
            "function testRender(render) {\n  expect(render('a')).toBe('<a>')\n}\n",
            "function testRender(render) {\n  expect(render('a')).toBe('<a>')\n  expect('a').toHaveBeenWarned()\n}\n",
        ),
    ],
    check,
};

fn check(reading: &Reading<'_>) -> Vec<Violation> {
    let is_same = |one: LocatedTest<'_>, other: LocatedTest<'_>| {
        one.test.words == other.test.words && one.test.strong() == other.test.strong()
    };
    let changed = reading.pairs.both.iter().filter(|(one, other)| !is_same(*one, *other));
    let found = changed.filter_map(|(one, other)| compared(reading, *one, *other));
    let mut found: Vec<Violation> = found.collect();
    found.extend(reading.files.iter().filter(|file| file.is_kept()).flat_map(helpers));
    found.extend(unknown_language::fewer(reading));
    found
}

/// Returns the lost assertions that checked a value, and those after the change that are not kept ones.
fn apart<'t>(before: &'t [Check], after: &'t [Check]) -> (Vec<&'t Check>, Vec<&'t Check>) {
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

fn compared(reading: &Reading<'_>, one: LocatedTest<'_>, other: LocatedTest<'_>) -> Option<Violation> {
    let violation = |what| Some(at(other.path, other.test.line, what));
    let in_test = |code: String| Detail::InTest {
        test: other.title(),
        code,
    };
    let explained = reading.explained.changes_product();
    if let (Some(condition), None, false) = (&other.test.returns_early, &one.test.returns_early, explained) {
        return violation(in_test(quoted(condition)));
    }
    let (lost, left) = apart(&one.test.checks, &other.test.checks);
    for check in &lost {
        let new = nearest(check, &left).filter(|new| asks_less(check, new));
        let is_sure = |new: &&Check| match new.strength {
            Strength::Strong => true,
            Strength::Trivial | Strength::Silenced | Strength::Same | Strength::Weak => {
                !explained && !is_gone_through(check, (one, other))
            }
        };
        if let Some(new) = new.filter(is_sure) {
            return violation(Detail::Instead {
                test: other.title(),
                was: shown(check),
                is: shown(new),
            });
        }
    }
    if explained {
        return None;
    }
    let is_gone = |check: &&&Check| !reading.still_says(&check.words) && !is_gone_through(check, (one, other));
    match lost.iter().find(is_gone) {
        Some(gone) if other.test.strong() < one.test.strong() => violation(in_test(shown(gone))),
        Some(_) | None => fewer_rows(reading, one, other).and_then(|row| violation(in_test(row))),
    }
}

/// Returns test helpers that checked a value and now check less or nothing.
fn helpers(file: &ChangedFile<'_>) -> Vec<Violation> {
    let of_tests = |function: &&Function| function.of == Of::Tests;
    let strong = |function: &Function| function.checks.iter().any(|check| check.strength == Strength::Strong);
    let before = file.before.functions.iter().filter(of_tests).filter(|old| strong(old));
    let now = |old: &Function| {
        let mut same = file.after.functions.iter().filter(|new| new.name == old.name);
        same.next().filter(|_| same.next().is_none() && !old.name.is_empty())
    };
    let weakened = before.filter_map(|old| {
        let new = now(old).filter(|new| new.words != old.words)?;
        let (lost, left) = apart(&old.checks, &new.checks);
        let asks = |check: &&Check| lost.iter().all(|old| asks_less(old, check));
        let is_less = !lost.is_empty() && (new.checks.is_empty() || left.iter().any(asks));
        is_less.then(|| at(file.path, new.line, Detail::Function(new.name.clone())))
    });
    weakened.collect()
}

fn shown(check: &Check) -> String {
    quoted(&check.words.join(" "))
}

/// `true` if a new check of the test covers the old one indirectly: it checks each item of a list, or calls a function
/// that does.
fn is_gone_through(old: &Check, (one, other): (LocatedTest<'_>, LocatedTest<'_>)) -> bool {
    let there = values(&other.test.words);
    let own = values(&old.words);
    let called = |check: &Check| -> Vec<String> {
        let said = values(&check.words);
        let names = names(&check.words).into_iter().filter(|name| !said.contains(name));
        names.map(str::to_owned).collect()
    };
    let wanted = called(old);
    let is_there = own.iter().all(|value| there.contains(value));
    let is_new = |new: &Check| one.test.checks.iter().all(|known| known.words != new.words);
    let asks = |new: &Check| {
        let is_given = own.iter().any(|value| !values(&new.words).contains(value)) || called(new) != wanted;
        let asks_it = wanted.iter().all(|name| called(new).contains(name));
        new.strength == Strength::Strong && is_new(new) && is_given && asks_it
    };
    is_there && other.test.checks.iter().any(asks)
}

/// Returns the new check that is most similar to an old one.
fn nearest<'c>(check: &Check, list: &[&'c Check]) -> Option<&'c Check> {
    let ranked = list.iter().map(|new| (likeness(&check.words, &new.words), *new));
    let best = ranked.max_by(|one, other| one.0.total_cmp(&other.0))?;
    (best.0 > 0.1 || list.len() == 1).then_some(best.1)
}

/// Words that accept one of several values.
const CHOOSES: &str = "ok isOk assertTrue in or || | includes contains matches toContain oneOf some any assertIn";

/// `true` if a check demands less than the one that it replaced: one of several values, a wider tolerance, a part of
/// the text, or something that cannot fail.
fn asks_less(old: &Check, new: &Check) -> bool {
    let has = |check: &Check| check.words.iter().any(|word| is_one_of(CHOOSES, word));
    let (was, is) = (values(&old.words), values(&new.words));
    let is_new_name = |name: &&str| !is_one_of(CHOOSES, name) && !was.contains(name) && !is.contains(name);
    let says_more = names(&new.words).difference(&names(&old.words)).any(is_new_name);
    let chooses = has(new) && !has(old) && !says_more;
    let of_several = chooses && is.len() > was.len() && was.iter().all(|value| is.contains(value));
    let is_part = |part: &&str| was.iter().any(|text| part.len() < text.len() && text.contains(*part));
    let of_part = chooses && !is.is_empty() && is.iter().all(is_part);
    let is_wider = new.tolerance.is_some_and(|new| match old.tolerance {
        Some(old) => new > old * 1.000_001,
        None => new >= 1.0,
    });
    of_several || of_part || is_wider || new.strength < Strength::Same
}

/// Returns a row that a test no longer covers, if its checks are the same and no row was added.
fn fewer_rows(reading: &Reading<'_>, one: LocatedTest<'_>, other: LocatedTest<'_>) -> Option<String> {
    let checks = |test: &Test| -> Vec<Vec<String>> { test.checks.iter().map(|check| check.words.clone()).collect() };
    let owned = |words: Vec<&str>| -> Vec<String> { words.into_iter().map(str::to_owned).collect() };
    let [before, after] = [one, other].map(|located| owned(values(&located.test.words)));
    let lost = added(&after, &before);
    let first = lost.first()?;
    let is_less =
        !one.test.checks.is_empty() && checks(one.test) == checks(other.test) && added(&before, &after).is_empty();
    let (was, there) = (names(&one.test.words), names(&other.test.words));
    let is_kept = |name: &&&str| there.contains(**name) || before.iter().any(|value| value == **name);
    let calls = || was.iter().filter(|name| name.starts_with(char::is_lowercase));
    // A loop written in another way needs other bounds.
    let is_another_loop = lost.len() <= 2 && !there.is_subset(&was);
    let does_the_same = !is_another_loop && calls().all(|name| is_kept(&name));
    let is_elsewhere = reading.files.iter().any(|file| {
        let there = values(&file.after.words);
        file.path != other.path && lost.iter().all(|value| there.contains(&value.as_str()))
    });
    (is_less && does_the_same && !is_elsewhere).then(|| quoted(first))
}
