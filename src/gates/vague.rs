//! Tests that take any value: the new tests, where all that they assert is that there is something, are run against code in
//! which whatever they name does what it does and then gives another value of the same kind, and against code in which it
//! gives nothing. Tests that notice the second alone would hold of every wrong answer.

use crate::gates::{
    change::Change,
    compare,
    forms::{Code, code},
    red,
    run::{
        context::{GateError, host},
        overlay::Overlay,
        result_cache::Expected,
    },
    test_line::Selection,
    turn::Run,
};
use domain::{
    evidence::Evidence,
    integrity::{Author, IntegrityFinding, Rule},
    plan::TaskType,
};
use git::blocking;
use integrity::{
    language,
    language::outline::{Check, Outline, Strength, Test},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// The most tests that are told.
const MOST: usize = 20;
/// How far off, as a part of the value that is expected, is as wide as the value itself.
const WIDE: f64 = 0.45;

/// The new tests, where all of them take any value; none where one does not, or that cannot be said.
pub(crate) async fn tests_of_any_value(run: &Run<'_>, head: &Evidence) -> Result<Vec<IntegrityFinding>, GateError> {
    let is_wanted = matches!(run.subject.task.kind, TaskType::Feature | TaskType::Testing);
    let Some((new, _)) = red::brought(run, head).filter(|_| is_wanted) else {
        return Ok(Vec::new());
    };
    let (change, names) = (Arc::clone(run.change), new.clone());
    let looking = blocking(move || words_if_vague(&change, &names)).await;
    let Some(words) = looking.map_err(|error| host("reading tests")(error.into()))? else {
        return Ok(Vec::new());
    };
    let code = code(run).await?;
    let making = blocking(move || otherwise(code, &words)).await;
    let [other, nothing] = making.map_err(|error| host("reading code")(error.into()))?;
    if other.is_empty() {
        return Ok(Vec::new());
    }
    let found = with(run, other, Expected::Red).await?;
    let takes = |name: &String| compare::names(&found).is_some_and(|names| names.passed.contains(name));
    if !new.iter().all(takes) {
        return Ok(Vec::new());
    }
    let found = with(run, nothing, Expected::Green).await?;
    let notices = |name: &String| compare::names(&found).is_some_and(|names| names.failed.contains(name));
    if !new.iter().all(notices) {
        return Ok(Vec::new());
    }
    Ok(new.iter().take(MOST).map(|name| finding(run.change, name)).collect())
}

/// A path, its bytes and its mode.
type Put = (String, Vec<u8>, u32);

/// The tests on the change's commit with these files in place of its own.
async fn with(run: &Run<'_>, files: Vec<Put>, expected: Expected) -> Result<Evidence, GateError> {
    let overlay = Overlay::of_bytes(files);
    run.prepared
        .tests_with(run.subject.head, &overlay, expected, &Selection::All)
        .await
}

/// The files in which one of the words names a function: giving another value, and giving none.
fn otherwise(code: Vec<Code>, words: &BTreeSet<String>) -> [Vec<Put>; 2] {
    let (mut other, mut nothing) = (Vec::new(), Vec::new());
    for file in code {
        if let Some([one, none]) = language::otherwise(&file.path, &file.text, words) {
            other.push((file.path.clone(), one.into_bytes(), file.mode));
            nothing.push((file.path, none.into_bytes(), file.mode));
        }
    }
    [other, nothing]
}

/// The words of the tests, where each of them asserts something, and none of them more than that there is something.
fn words_if_vague(change: &Change, tests: &[String]) -> Option<BTreeSet<String>> {
    let mut outlines: BTreeMap<&str, Outline> = BTreeMap::new();
    let mut words = BTreeSet::new();
    for name in tests {
        let sites = change.after.find(name);
        let [site] = sites.as_slice() else { return None };
        if !outlines.contains_key(site.path.as_str()) {
            let file = change.files.iter().find(|file| file.path == site.path)?;
            let text = std::str::from_utf8(file.after.bytes()?).ok()?;
            outlines.insert(&site.path, language::read(&site.path, text)?);
        }
        let outline = outlines.get(site.path.as_str())?;
        let test = outline.tests.iter().find(|test| test.line == site.line)?;
        is_vague(outline, test).then_some(())?;
        words.extend(test.words.iter().cloned());
    }
    Some(words)
}

/// Whether a test asserts something, and by itself or by functions beside it no more than that there is something.
fn is_vague(outline: &Outline, test: &Test) -> bool {
    let called = outline
        .functions
        .iter()
        .filter(|function| test.words.contains(&function.name));
    let by_others = called.flat_map(|function| &function.checks);
    let mut checks = test.checks.iter().chain(by_others).peekable();
    let asserts = test.checks.iter().any(|check| check.strength >= Strength::Weak);
    asserts && checks.all(takes_any)
}

/// Whether a check may hold of every value of a kind.
fn takes_any(check: &Check) -> bool {
    match check.strength {
        Strength::Trivial | Strength::Silenced | Strength::Same => true,
        Strength::Weak => !is_about_an_error(check) && !compares(check) && !asks_for_a_class(check),
        Strength::Strong => is_wide(check) || is_about_truth(check),
    }
}

fn has(check: &Check, list: &[&str]) -> bool {
    check.words.iter().any(|word| list.contains(&word.as_str()))
}

/// Whether a check asks for an error that has no name.
fn is_about_an_error(check: &Check) -> bool {
    has(
        check,
        &[
            "is_err",
            "unwrap_err",
            "expect_err",
            "should_panic",
            "raises",
            "assertRaises",
            "rejects",
            "throws",
            "toThrow",
        ],
    )
}

/// Words that say that two things differ, or which of them is more, with one on each side or by a call.
const BETWEEN: [&str; 14] = [
    "<",
    ">",
    "<=",
    ">=",
    "!=",
    "!==",
    "toBeGreaterThan",
    "toBeGreaterThanOrEqual",
    "toBeLessThan",
    "toBeLessThanOrEqual",
    "above",
    "below",
    "least",
    "most",
];
const BY_CALL: [&str; 12] = [
    "assert_ne",
    "assertNotEqual",
    "assertIsNot",
    "assertGreater",
    "assertGreaterEqual",
    "assertLess",
    "assertLessEqual",
    "notEqual",
    "notStrictEqual",
    "notDeepEqual",
    "notDeepStrictEqual",
    "not",
];

/// Whether a check compares a value with another one, and not with nothing.
fn compares(check: &Check) -> bool {
    let [.., before, last] = check.words.as_slice() else {
        return false;
    };
    let by_call = has(check, &BY_CALL);
    if !by_call && !has(check, &BETWEEN) {
        return false;
    }
    let is_alone = || check.words.iter().filter(|word| *word == before).count() == 1;
    let with_nothing = match last.as_str() {
        "None" | "null" | "undefined" | "toBeNull" | "toBeUndefined" => true,
        "0" | "0.0" => BETWEEN.contains(&before.as_str()) || by_call && is_alone(),
        "1" => BETWEEN.contains(&before.as_str()),
        "\"" => before == "\"",
        _ => false,
    };
    !with_nothing
}

/// Classes that every program has, as they are written where a value is asked what it is.
const OF_ALL: [&str; 28] = [
    "Object",
    "Array",
    "Function",
    "String",
    "Number",
    "Boolean",
    "Promise",
    "Map",
    "Set",
    "Date",
    "int",
    "str",
    "float",
    "bool",
    "list",
    "dict",
    "tuple",
    "set",
    "bytes",
    "object",
    "number",
    "string",
    "boolean",
    "function",
    "array",
    "bigint",
    "undefined",
    "true",
];

/// Whether a check asks for a class of the program's own.
fn asks_for_a_class(check: &Check) -> bool {
    let asks = [
        "instanceof",
        "isinstance",
        "toBeInstanceOf",
        "assertIsInstance",
        "instanceOf",
        "any",
        "type",
        "__class__",
    ];
    let is_name = |word: &&String| word.chars().any(char::is_alphanumeric);
    let last = check.words.iter().rfind(is_name);
    has(check, &asks) && !last.is_some_and(|word| OF_ALL.contains(&word.as_str()))
}

/// Whether a check asks whether something counts as true, and compares nothing: where that is no answer to a question of yes
/// or no, it only asks whether it is there.
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

/// Whether a number may be nearly as far off as it is large.
fn is_wide(check: &Check) -> bool {
    let Some(tolerance) = check.tolerance else { return false };
    if has(check, &["rel", "rtol", "rel_tol"]) {
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

fn finding(change: &Change, test: &str) -> IntegrityFinding {
    let (path, line) = change.after.place(test).unwrap_or_default();
    IntegrityFinding {
        rule: Rule::AssertionTrivial,
        path,
        line: (line > 0).then_some(line),
        what: format!(
            "`{test}` passes even where what it calls gives another value of the same kind: it only checks that there is one"
        ),
        by: Author::Player,
    }
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
