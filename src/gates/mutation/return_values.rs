//! Tries new tests that only assert that a value exists. The functions that they name first return another value of the
//! same type, then nothing. Tests that notice only the second accept any wrong result.

use crate::gates::{
    change::Change,
    mutation::{
        code::Code,
        experiment::{Experiment, Facts, Found, Material, Mutant, Mutants, Suspicious},
    },
};
use domain::integrity::Rule;
use integrity::{
    language,
    language::outline::{Check, Outline, Strength, Test},
};
use std::collections::{BTreeMap, BTreeSet};

/// The share of the expected value from which a tolerance counts as too wide.
const WIDE: f64 = 0.45;

pub(super) static EXPERIMENT: Experiment = Experiment {
    name: "other return values",
    applies: |facts| {
        let new = &facts.tests.new;
        facts.asks_for_tests() && !new.is_empty() && words_if_vague(&facts.change, new).is_some()
    },
    needs: |_| Material::Code,
    mutants,
    rule: Rule::WeakAssertion,
};

fn mutants(facts: &Facts, code: Vec<Code>) -> Option<Mutants> {
    let words = words_if_vague(&facts.change, &facts.tests.new)?;
    let (mut other, mut nothing) = (Vec::new(), Vec::new());
    for file in code {
        if let Some([one, none]) = language::change_return_values(&file.path, &file.text, &words) {
            other.push(file.put(&one));
            nothing.push(file.put(&none));
        }
    }
    (!other.is_empty()).then(|| Mutants {
        suspects: facts.tests.new.iter().cloned().collect(),
        others: Vec::new(),
        found: Found::All,
        ways: vec![vec![
            Mutant::new(other, Suspicious::Passing),
            Mutant::new(nothing, Suspicious::Failing),
        ]],
        says: "passes even if what it calls returns another value of the same type: it only checks that there is one"
            .to_owned(),
    })
}

/// Returns the words of the tests; `None` unless each test asserts something, and none asserts more than that a value
/// exists.
fn words_if_vague(change: &Change, tests: &[String]) -> Option<BTreeSet<String>> {
    let mut outlines: BTreeMap<&str, Outline> = BTreeMap::new();
    let mut words = BTreeSet::new();
    for name in tests {
        let sites = change.after.find(name);
        let [site] = sites.as_slice() else { return None };
        if !outlines.contains_key(site.path.as_str()) {
            let text = change.text_after(&site.path)?;
            outlines.insert(&site.path, language::read(&site.path, text)?);
        }
        let outline = outlines.get(site.path.as_str())?;
        let test = outline.tests.iter().find(|test| test.line == site.line)?;
        is_vague(outline, test).then_some(())?;
        words.extend(test.words.iter().cloned());
    }
    Some(words)
}

/// `true` if a test asserts something, but neither it nor a function beside it that it calls asserts more than that a
/// value exists.
fn is_vague(outline: &Outline, test: &Test) -> bool {
    let functions = outline.functions.iter();
    let called = functions.filter(|function| test.words.contains(&function.name));
    let by_others = called.flat_map(|function| &function.checks);
    let mut checks = test.checks.iter().chain(by_others);
    let asserts = test.checks.iter().any(|check| check.strength >= Strength::Weak);
    asserts && checks.all(takes_any)
}

/// `true` if a check may accept any value of the same kind.
fn takes_any(check: &Check) -> bool {
    match check.strength {
        Strength::Trivial | Strength::Silenced | Strength::Same => true,
        Strength::Weak => !is_about_an_error(check) && !compares(check) && !asks_for_a_class(check),
        Strength::Strong => is_wide(check) || is_about_truth(check),
    }
}

/// `true` if a check has one of these words, which are separated by spaces.
fn has(check: &Check, words: &str) -> bool {
    check.words.iter().any(|word| is_among(word, words))
}

fn is_among(word: &str, words: &str) -> bool {
    words.split(' ').any(|one| one == word)
}

/// `true` if a check expects an error without naming it.
fn is_about_an_error(check: &Check) -> bool {
    has(
        check,
        "is_err unwrap_err expect_err should_panic raises assertRaises rejects throws toThrow",
    )
}

/// Words that compare two values, as an operator or method between them (`BETWEEN`) or as a call (`BY_CALL`).
const BETWEEN: &str = "< > <= >= != !== toBeGreaterThan toBeGreaterThanOrEqual toBeLessThan toBeLessThanOrEqual above below \
    least most";
const BY_CALL: &str = "assert_ne assertNotEqual assertIsNot assertGreater assertGreaterEqual assertLess assertLessEqual \
    notEqual notStrictEqual notDeepEqual notDeepStrictEqual not";

/// `true` if a check compares a value with another one, other than null, zero or an empty text.
fn compares(check: &Check) -> bool {
    let [.., before, last] = check.words.as_slice() else {
        return false;
    };
    let by_call = has(check, BY_CALL);
    if !by_call && !has(check, BETWEEN) {
        return false;
    }
    let is_alone = || check.words.iter().filter(|word| *word == before).count() == 1;
    let with_nothing = match last.as_str() {
        "None" | "null" | "undefined" | "toBeNull" | "toBeUndefined" => true,
        "0" | "0.0" => is_among(before, BETWEEN) || by_call && is_alone(),
        "1" => is_among(before, BETWEEN),
        "\"" => before == "\"",
        _ => false,
    };
    !with_nothing
}

/// Built-in types, as they are written in a type check.
const OF_ALL: &str = "Object Array Function String Number Boolean Promise Map Set Date int str float bool list dict tuple \
    set bytes object number string boolean function array bigint undefined true";

/// `true` if a check asks for one of the program's own classes.
fn asks_for_a_class(check: &Check) -> bool {
    let asks = "instanceof isinstance toBeInstanceOf assertIsInstance instanceOf any type __class__";
    let is_name = |word: &&String| word.chars().any(char::is_alphanumeric);
    let last = check.words.iter().rfind(is_name);
    has(check, asks) && !last.is_some_and(|word| is_among(word, OF_ALL))
}

/// `true` if a check only asks whether a value counts as true, without a comparison. Unless the value is a boolean,
/// this only checks that it exists.
fn is_about_truth(check: &Check) -> bool {
    let words: Vec<&str> = check.words.iter().map(String::as_str).collect();
    let asked = match words.as_slice() {
        ["assert", ".", "ok", asked @ ..] | ["assertTrue", asked @ ..] => asked,
        ["assert", ".", ..] => return false,
        ["assert", asked @ ..] => asked,
        _ => return false,
    };
    let plain = |word: &str| {
        let is_sign = |c: char| c.is_alphanumeric() || "._\"'[]{}:?&$".contains(c);
        word.chars().all(is_sign) && !matches!(word, "in" | "not" | "is" | "and" | "or" | "for" | "lambda")
    };
    asked.iter().all(|word| plain(word))
}

/// `true` if a check's tolerance is too wide for the expected number.
fn is_wide(check: &Check) -> bool {
    let Some(tolerance) = check.tolerance else { return false };
    if has(check, "rel rtol rel_tol") {
        return tolerance >= WIDE;
    }
    let numbers = check
        .words
        .iter()
        .filter_map(|word| word.replace('_', "").parse::<f64>().ok());
    let expected = numbers
        .filter(|number| *number > 0.0 && *number != tolerance)
        .reduce(f64::min);
    expected.is_some_and(|expected| tolerance >= WIDE * expected)
}

#[cfg(test)]
mod tests {
    use super::is_vague;
    use integrity::language;

    #[test]
    fn only_what_asks_whether_something_is_there_may_take_any_value() {
        let rust = |check: &str| ("tests/a.rs", format!("#[test]\nfn one() {{\n    {check};\n}}\n"));
        let python = |check: &str| ("tests/test_a.py", format!("def test_one():\n    {check}\n"));
        let script = |check: &str| ("test/a.test.js", format!("test('one', () => {{\n  {check};\n}});\n"));
        let table = [
            (rust("assert!(f(1).is_some())"), true),
            (rust("assert!(f(1) > 0)"), true),
            (rust("assert!(f(1) > f(0))"), false),
            (rust("assert!(f(1).is_err())"), false),
            (rust("assert_eq!(f(1), 2)"), false),
            (python("assert f(1) is not None"), true),
            (python("assert isinstance(f(1), int)"), true),
            (python("assert isinstance(f(1), Cart)"), false),
            (python("assert f(1) != f(2)"), false),
            (python("assert f(10) == approx(25, abs=1000)"), true),
            (python("assert f(10) == approx(25, abs=1)"), false),
            (python("assert abs(f(10) - 25) < 100"), true),
            (script("expect(f(1)).toBeDefined()"), true),
            (script("expect(f(1)).toEqual({ id: expect.any(Number) })"), true),
            (
                script("expect(f(1)).toEqual({ id: expect.any(Number), name: 'a' })"),
                false,
            ),
            (script("expect(f(1)).not.toBeNull()"), true),
            (script("expect(f(1)).not.toBe(f(2))"), false),
            (script("assert.equal(typeof f(1), 'string')"), true),
            (script("assert.ok(f(1))"), true),
            (script("assert.ok(f(1) === 2)"), false),
        ];
        for ((path, text), expected) in table {
            let outline = language::read(path, &text).unwrap();
            assert_eq!(is_vague(&outline, &outline.tests[0]), expected, "{text}");
        }
    }
}
