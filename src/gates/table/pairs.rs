//! Pairs the tests of the base with those of the head: the same test may have another name or place.

use crate::gates::{change::Change, run::overlay::Revision};
use domain::evidence::TestNames;
use runners::{test_index, test_index::TestIndex};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// One test with its names on the base and on the head, of which at least one is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TestPair {
    pub(crate) base: Option<String>,
    pub(crate) head: Option<String>,
}

/// Pairs the tests. First by name, then rows of the same parametrised test, then tests with the same body.
pub(crate) fn pair(before: &TestNames, after: &TestNames, change: &Change) -> Vec<TestPair> {
    let mut pairs = Vec::new();
    let mut base: Vec<&str> = before.all().map(String::as_str).collect();
    let mut head: Vec<&str> = after.all().map(String::as_str).collect();
    join(&mut pairs, &mut base, &mut head, |_, name| Some(name.to_owned()));
    join(&mut pairs, &mut base, &mut head, |_, name| Some(test_index::bare(name).to_owned()));
    let body = |side: Revision, name: &str| match side {
        Revision::Base => body(&change.before, name),
        Revision::Head => body(&change.after, name),
    };
    join(&mut pairs, &mut base, &mut head, body);
    let renamed = change.renamed_words();
    join(&mut pairs, &mut base, &mut head, |side, name| Some(without_names(body(side, name)?, &renamed)));
    // If no body is known on either side, tests of a moved file are paired by the last part of their names.
    let moved = |_, name: &str| {
        let is_unknown = change.before.find(name).is_empty() && change.after.find(name).is_empty();
        is_unknown.then(|| last_part(name).to_owned())
    };
    join(&mut pairs, &mut base, &mut head, moved);
    let only = |name: &str| Some(name.to_owned());
    pairs.extend(base.into_iter().map(|name| TestPair { base: only(name), head: None }));
    pairs.extend(head.into_iter().map(|name| TestPair { base: None, head: only(name) }));
    pairs
}

/// Joins names of both sides that have the same key, in order, and leaves the others.
fn join<K: Ord>(
    pairs: &mut Vec<TestPair>,
    base: &mut Vec<&str>,
    head: &mut Vec<&str>,
    key: impl Fn(Revision, &str) -> Option<K>,
) {
    let mut by_key: BTreeMap<K, VecDeque<usize>> = BTreeMap::new();
    for (at, name) in head.iter().enumerate() {
        if let Some(key) = key(Revision::Head, name) {
            by_key.entry(key).or_default().push_back(at);
        }
    }
    let mut joined = BTreeSet::new();
    base.retain(|name| {
        let same = key(Revision::Base, name).and_then(|key| by_key.get_mut(&key)?.pop_front());
        let Some(other) = same.and_then(|at| Some((at, head.get(at)?))) else {
            return true;
        };
        joined.insert(other.0);
        pairs.push(TestPair { base: Some((*name).to_owned()), head: Some((*other.1).to_owned()) });
        false
    });
    let mut at = 0_usize;
    head.retain(|_| {
        let is_left = !joined.contains(&at);
        at = at.saturating_add(1);
        is_left
    });
}

/// Returns the words of a test's body; `None` if it is not in a changed file, or does nothing.
fn body(tests: &TestIndex, name: &str) -> Option<Vec<Vec<String>>> {
    let sites = tests.find_written(name);
    let words: Vec<Vec<String>> = sites.iter().map(|site| site.words.clone()).collect();
    (!words.is_empty() && words.iter().all(|words| !words.is_empty())).then_some(words)
}

/// Returns a test's words without the names that were renamed with it.
fn without_names(words: Vec<Vec<String>>, renamed: &[BTreeSet<String>; 2]) -> Vec<Vec<String>> {
    let plain =
        |word: String| if renamed.iter().any(|names| names.contains(word.as_str())) { String::new() } else { word };
    words.into_iter().map(|words| words.into_iter().map(plain).collect()).collect()
}

/// Returns the last part of a name, which stays when a test moves.
fn last_part(name: &str) -> &str {
    let name = test_index::bare(name);
    let part = name.rsplit([':', '>', '›']).next().unwrap_or(name).trim();
    if part.contains(' ') { part } else { part.rsplit(['.', '/']).next().unwrap_or(part) }
}

#[cfg(test)]
mod tests {
    use super::{TestPair, pair};
    use crate::gates::change::Change;
    use domain::evidence::TestNames;
    use integrity::FileContent;
    use runners::test_index::TestIndex;

    fn index(files: &[(&str, &str)]) -> TestIndex {
        let versions: Vec<(&str, FileContent)> =
            files.iter().map(|(path, text)| (*path, FileContent::Bytes(text.as_bytes().to_vec()))).collect();
        TestIndex::of(versions.iter().map(|(path, version)| (*path, version)))
    }

    fn pairs(before: &[&str], after: &[&str], files: [&[(&str, &str)]; 2]) -> Vec<(String, String)> {
        let names = |names: &[&str]| TestNames {
            passed: names.iter().map(|name| (*name).to_owned()).collect(),
            ..TestNames::default()
        };
        let paths = |files: &[(&str, &str)]| files.iter().map(|(path, _)| (*path).to_owned()).collect();
        let change = Change {
            files: Vec::new(),
            raw: Vec::new(),
            base: paths(files[0]),
            head: paths(files[1]),
            before: index(files[0]),
            after: index(files[1]),
        };
        let text = |name: Option<String>| name.unwrap_or_else(|| "-".to_owned());
        let found = pair(&names(before), &names(after), &change);
        let mut found: Vec<(String, String)> =
            found.into_iter().map(|TestPair { base, head }| (text(base), text(head))).collect();
        found.sort();
        found
    }

    #[test]
    fn a_test_is_known_by_its_name_its_rows_and_its_body() {
        type Case<'c> = (&'c [&'c str], &'c [&'c str], &'c [(&'c str, &'c str)]);
        let table: [Case<'_>; 4] = [
            (&["a", "b"], &["b", "c"], &[("a", "-"), ("b", "b"), ("-", "c")]),
            (&["a", "a"], &["a"], &[("a", "a"), ("a", "-")]),
            (&["t.py::p[1]", "t.py::p[2]"], &["t.py::p[3]"], &[("t.py::p[1]", "t.py::p[3]"), ("t.py::p[2]", "-")]),
            (&["store::tests::opens"], &["db::tests::opens"], &[("store::tests::opens", "db::tests::opens")]),
        ];
        for (before, after, expected) in table {
            let mut expected: Vec<(String, String)> =
                expected.iter().map(|(base, head)| ((*base).to_owned(), (*head).to_owned())).collect();
            expected.sort();
            assert_eq!(pairs(before, after, [&[], &[]]), expected, "{before:?} {after:?}");
        }
    }

    #[test]
    fn another_test_of_the_same_last_name_is_another_test() {
        let old = [("test_a.py", "def test_opens():\n    assert load(1) == 2\n")];
        let moved = [("test_b.py", "def test_starts():\n    assert load(1) == 2\n")];
        let other = [("test_b.py", "def test_opens():\n    assert save(1) == 3\n")];
        assert_eq!(
            pairs(&["test_a.py::test_opens"], &["test_b.py::test_starts"], [&old, &moved]),
            [("test_a.py::test_opens".to_owned(), "test_b.py::test_starts".to_owned())]
        );
        let apart = pairs(&["test_a.py::test_opens"], &["test_b.py::test_opens"], [&old, &other]);
        assert_eq!(apart.len(), 2, "{apart:?}");
        let old = [("a.py", ""), ("test_a.py", "def test_opens():\n    assert a.load(1) == 2\n")];
        let renamed = [("b.py", ""), ("test_b.py", "def test_opens():\n    assert b.load(1) == 2\n")];
        let joined = pairs(&["test_a.py::test_opens"], &["test_b.py::test_opens"], [&old, &renamed]);
        assert_eq!(joined, [("test_a.py::test_opens".to_owned(), "test_b.py::test_opens".to_owned())]);
    }
}
