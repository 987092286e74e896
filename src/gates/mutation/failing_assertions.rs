//! Runs the new tests with each assertion replaced by a failure. A test that still passes never reaches its assertions,
//! or swallows their failure.

use crate::gates::{
    change::text,
    mutation::{
        code::Put,
        experiment::{Experiment, Facts, Found, Material, Mutant, Mutants, Suspicious},
    },
};
use domain::integrity::Rule;
use integrity::{
    FileChange, language,
    language::outline::{Check, Failing, Strength, Test},
};
use std::collections::BTreeSet;

pub(super) static EXPERIMENT: Experiment = Experiment {
    name: "failing assertions",
    applies: |facts| facts.asks_for_tests() && !facts.tests.new.is_empty(),
    needs: |_| Material::Change,
    mutants: |facts, _| mutants(facts),
    rule: Rule::SwallowedFailure,
};

fn mutants(facts: &Facts) -> Option<Mutants> {
    let change = &facts.change;
    let stands_at = |name: &str, line: u32| change.after.place(name).is_some_and(|(_, at)| at == line);
    let (mut suspects, mut files) = (BTreeSet::new(), Vec::new());
    for file in &change.files {
        let is_here = |name: &&String| matches!(change.after.find(name).as_slice(), [site] if site.path == file.path);
        let here: Vec<&String> = facts.tests.new.iter().filter(is_here).collect();
        let mode = change.mode(&file.path);
        if let (false, Some(mode)) = (here.is_empty(), mode)
            && let Some((put, lines)) = failing(file, mode, |line| here.iter().any(|name| stands_at(name, line)))
        {
            files.push(put);
            let is_tried = |name: &&&String| lines.iter().any(|line| stands_at(name, *line));
            suspects.extend(here.iter().filter(is_tried).map(|name| (*name).clone()));
        }
    }
    (!suspects.is_empty()).then(|| Mutants {
        suspects,
        others: Vec::new(),
        found: Found::Each,
        ways: vec![vec![Mutant::new(files, Suspicious::Passing)]],
        says: "passes even if each of its assertions fails: they are not reached, or their failure is swallowed"
            .to_owned(),
    })
}

/// Returns the file with the assertions of the wanted tests replaced by failures, and the first lines of these tests.
fn failing(file: &FileChange, mode: u32, is_wanted: impl Fn(u32) -> bool) -> Option<(Put, BTreeSet<u32>)> {
    let text = text(&file.after)?;
    let outline = language::read(&file.path, text)?;
    let (mut lines, mut all) = (BTreeSet::new(), Vec::new());
    for test in outline.tests.iter().filter(|test| is_wanted(test.line)) {
        if let Some(failing) = all_failing(test) {
            lines.insert(test.line);
            all.extend(failing);
        }
    }
    let put = with_failing(text, all)?;
    (!lines.is_empty()).then(|| ((file.path.clone(), put.into_bytes(), mode), lines))
}

/// Returns the failing form of all assertions of a test; `None` if it has none, or one that cannot be made to fail.
fn all_failing(test: &Test) -> Option<Vec<&Failing>> {
    let cannot = |check: &&Check| check.failing.is_none() && check.strength >= Strength::Weak;
    if test.checks.iter().any(|check| cannot(&check)) {
        return None;
    }
    let counts = test.checks.iter().filter(|check| check.strength >= Strength::Same);
    let all: Vec<&Failing> = counts.filter_map(|check| check.failing.as_ref()).collect();
    (!all.is_empty()).then_some(all)
}

/// Replaces assertions by their failing form; an assertion inside another is replaced together with it.
fn with_failing(text: &str, mut failing: Vec<&Failing>) -> Option<String> {
    failing.sort_by_key(|one| (one.range.start, std::cmp::Reverse(one.range.end)));
    let mut changed = String::with_capacity(text.len());
    let mut from = 0;
    for one in failing {
        if one.range.start < from {
            continue;
        }
        changed.push_str(text.get(from..one.range.start)?);
        changed.push_str(&one.text);
        from = one.range.end;
    }
    changed.push_str(text.get(from..)?);
    Some(changed)
}

#[cfg(test)]
mod tests {
    use super::{all_failing, with_failing};
    use integrity::language;

    /// Returns the file with the assertions of all suitable tests replaced by failures.
    fn failing(path: &str, text: &str) -> String {
        let outline = language::read(path, text).unwrap();
        let all = outline.tests.iter().filter_map(all_failing).flatten().collect();
        with_failing(text, all).unwrap()
    }

    #[test]
    fn assertions_fail_and_everything_else_stays() {
        let rust = "#[test]\nfn one() {\n    for n in all() {\n        assert_eq!(n, 1);\n    }\n}\n";
        assert_eq!(
            failing("tests/a.rs", rust),
            rust.replace(
                "assert_eq!(n, 1)",
                "if true { panic!(\"made to fail\") } else { assert_eq!(n, 1) }"
            )
        );
        let python = "def test_one():\n    for n in every():\n        assert n == 1\n    self.assertEqual(n, 2)\n";
        let failed = "raise AssertionError('made to fail')";
        assert_eq!(
            failing("tests/test_a.py", python),
            python
                .replace("assert n == 1", failed)
                .replace("self.assertEqual(n, 2)", failed)
        );
        let script = "test('one', async () => {\n  expect(f(1)).toBe(2);\n  await assert.rejects(() => { assert.equal(g(), 1); }, Error);\n});\n";
        let failed = "void (() => { throw new Error('made to fail'); })()";
        assert_eq!(
            failing("test/a.test.js", script),
            script
                .replace("expect(f(1)).toBe(2)", failed)
                .replace("assert.rejects(() => { assert.equal(g(), 1); }, Error)", failed)
        );
    }

    #[test]
    fn a_test_that_checks_by_an_error_or_by_not_being_reached_is_left_alone() {
        for (path, text) in [
            (
                "tests/a.rs",
                "#[test]\n#[should_panic]\nfn one() { assert_eq!(f(), 1); }\n",
            ),
            (
                "tests/a.rs",
                "#[should_panic]\n#[test]\nfn one() { assert_eq!(f(), 1); }\n",
            ),
            (
                "tests/a.rs",
                "#[test]\nfn one() { f(|| panic!(\"called\")); assert!(g() == 1); }\n",
            ),
            (
                "tests/test_a.py",
                "def test_one():\n    with pytest.raises(ValueError):\n        f()\n    for n in every():\n        assert n == 1\n",
            ),
            (
                "test/a.test.js",
                "test('one', () => { on('x', () => assert.fail('called')); });\n",
            ),
        ] {
            assert_eq!(failing(path, text), text);
        }
    }
}
