//! Copies single tests of one version into another version of a file, for use if the first version as a whole does not
//! fit the code.

use crate::{language, language::outline::Test};
use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

/// Names a test within its file: by its suites, its name, and its number among those of that name.
type Key<'a> = (&'a [String], &'a str, usize);

/// Replaces each test of `frame` by the test of the same name in `tests`. Tests that only `tests` has are added after
/// the last test of their suite. Everything around the tests stays. Returns `None` if no grammar supports that, or if
/// nothing would differ.
#[must_use]
pub fn with_single_tests_of(path: &str, frame: &str, tests: &str) -> Option<String> {
    let (own, others) = (outermost(path, frame)?, outermost(path, tests)?);
    let (own, others) = (by_key(&own), by_key(&others));
    let text = |test: &Test| tests.get(test.range.clone()).unwrap_or_default().to_owned();
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    for (key, other) in &others {
        match own.get(key) {
            Some(test) => edits.push((test.range.clone(), text(other))),
            None => edits.extend(end_of(key.0, &own, frame).map(|end| (end..end, text(other)))),
        }
    }
    edits.sort_by_key(|(range, _)| (range.start, range.end));
    let merged = super::inline::edited(frame, edits);
    (merged != frame).then_some(merged)
}

/// Returns a file without the tests to which these lines belong; `None` if they belong to none.
#[must_use]
pub fn without_tests_at(path: &str, text: &str, lines: &BTreeSet<usize>) -> Option<String> {
    let line = |byte: usize| {
        let before = text.get(..byte).unwrap_or_default();
        before.matches('\n').count().saturating_add(1)
    };
    let is_named = |test: &&Test| lines.range(line(test.range.start)..line(test.range.end)).next().is_some();
    let tests = outermost(path, text)?;
    let named = tests.iter().filter(is_named);
    let edits: Vec<(Range<usize>, String)> = named.map(|test| (test.range.clone(), String::new())).collect();
    (!edits.is_empty()).then(|| super::inline::edited(text, edits))
}

fn outermost(path: &str, text: &str) -> Option<Vec<Test>> {
    let mut tests = language::read(path, text)?.tests;
    tests.sort_by_key(|test| (test.range.start, std::cmp::Reverse(test.range.end)));
    let mut end = 0;
    tests.retain(|test| {
        let is_outer = test.range.start >= end;
        end = end.max(test.range.end);
        is_outer
    });
    Some(tests)
}

fn by_key(tests: &[Test]) -> BTreeMap<Key<'_>, &Test> {
    let mut counts: BTreeMap<(&[String], &str), usize> = BTreeMap::new();
    let keyed = tests.iter().map(|test| {
        let count = counts.entry((&test.scope, &test.name)).or_default();
        *count = count.saturating_add(1);
        ((test.scope.as_slice(), test.name.as_str(), *count), test)
    });
    keyed.collect()
}

/// Returns where to add a test to a suite: after its last test. A test outside of suites may also be added at the end
/// of the file.
fn end_of(scope: &[String], own: &BTreeMap<Key<'_>, &Test>, frame: &str) -> Option<usize> {
    let same = own.iter().filter(|((of, ..), _)| *of == scope);
    let last = same.map(|(_, test)| test.range.end).max();
    last.or_else(|| scope.is_empty().then_some(frame.len()))
}

#[cfg(test)]
mod tests {
    use super::{with_single_tests_of, without_tests_at};
    use std::collections::BTreeSet;

    const PYTHON_OLD: &str = "from a import gone, kept\n\n\ndef test_one():\n    assert kept() == 1\n\n\n@pytest.mark.slow\ndef test_two():\n    assert gone() == 2\n\n\nclass TestBox:\n    def test_three(self):\n        assert kept() == 3\n\n    def test_four(self):\n        assert kept() == 4\n";
    const PYTHON_NEW: &str = "from a import kept\n\n\ndef helper():\n    return 1\n\n\ndef test_one():\n    assert kept() > 0\n\n\nclass TestBox:\n    def test_three(self):\n        assert kept()\n\n\ndef test_five():\n    assert helper() == 1\n";

    #[test]
    fn single_tests_stand_in_the_file_of_the_other_version() {
        let merged = with_single_tests_of("tests/test_a.py", PYTHON_NEW, PYTHON_OLD).unwrap();
        let expected = "from a import kept\n\n\ndef helper():\n    return 1\n\n\ndef test_one():\n    assert kept() == 1\n\n\nclass TestBox:\n    def test_three(self):\n        assert kept() == 3\n    def test_four(self):\n        assert kept() == 4\n\n\ndef test_five():\n    assert helper() == 1\n@pytest.mark.slow\ndef test_two():\n    assert gone() == 2\n";
        assert_eq!(merged, expected);
        let script = "import { kept } from './a.js';\n\ntest('one', () => {\n  expect(kept()).toBe(1);\n});\n";
        let old = "import { gone } from './a.js';\n\ntest('one', () => {\n  expect(kept()).toBe(2);\n});\ntest('two', () => gone());\n";
        let merged = with_single_tests_of("a.test.js", script, old).unwrap();
        assert_eq!(
            merged,
            "import { kept } from './a.js';\n\ntest('one', () => {\n  expect(kept()).toBe(2);\n});\ntest('two', () => gone());\n"
        );
        assert_eq!(with_single_tests_of("a.test.js", script, script), None);
        assert_eq!(with_single_tests_of("a.test.unknown", script, old), None);
    }

    #[test]
    fn tests_that_a_compiler_names_are_left_out() {
        let text = "use a::b;\n\n#[test]\n#[ignore]\nfn one() {\n    assert_eq!(b(), 1);\n}\n\n#[test]\nfn two() {\n    gone();\n}\n";
        let at =
            |lines: &[usize]| without_tests_at("tests/a.rs", text, &lines.iter().copied().collect::<BTreeSet<_>>());
        let without = at(&[1, 11]).unwrap();
        assert_eq!(without, "use a::b;\n\n#[test]\n#[ignore]\nfn one() {\n    assert_eq!(b(), 1);\n}\n\n");
        assert_eq!(at(&[3]).unwrap(), "use a::b;\n\n\n#[test]\nfn two() {\n    gone();\n}\n");
        assert_eq!(at(&[1]), None);
        let go =
            "package a\n\nfunc TestOne(t *testing.T) {\n\tt.Run(\"x\", func(t *testing.T) {\n\t\tgone()\n\t})\n}\n";
        let lines = [5].into_iter().collect();
        assert_eq!(without_tests_at("a_test.go", go, &lines).unwrap(), "package a\n\n");
    }
}
