//! Tests whose assertions nobody hears: the change's new tests are run with each of their assertions replaced by a failure.
//! One that still passes never comes to them, or keeps what they say to itself.

use crate::gates::{
    change::Change,
    compare, red,
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
    language::outline::{Failing, Strength, Test},
};
use std::{collections::BTreeMap, sync::Arc};

/// The most tests that are told.
const MOST: usize = 20;

/// The new tests that pass although all that they assert fails; none where that is not so, or cannot be said.
pub(crate) async fn tests_that_nobody_hears(
    run: &Run<'_>,
    head: &Evidence,
) -> Result<Vec<IntegrityFinding>, GateError> {
    let is_wanted = matches!(run.subject.task.kind, TaskType::Feature | TaskType::Testing);
    let Some((new, _)) = red::brought(run, head).filter(|_| is_wanted) else {
        return Ok(Vec::new());
    };
    let change = Arc::clone(run.change);
    let looking = blocking(move || Failed::of(&change, &new)).await;
    let failed = looking.map_err(|error| host("reading tests")(error.into()))?;
    if failed.tests.is_empty() {
        return Ok(Vec::new());
    }
    let overlay = Overlay::of_bytes(failed.files);
    let found = run
        .prepared
        .tests_with(run.subject.head, &overlay, Expected::Red, &Selection::All)
        .await?;
    let Some(names) = compare::names(&found) else {
        return Ok(Vec::new());
    };
    let unheard = failed
        .tests
        .into_iter()
        .filter(|(_, called)| called.iter().all(|name| names.passed.contains(name)));
    let finding = |((path, line), called): ((String, u32), Vec<String>)| IntegrityFinding {
        rule: Rule::AssertionTrivial,
        path,
        line: Some(line),
        what: format!(
            "`{}` passes even where each of its assertions fails: they are not reached, or nobody hears them",
            called.first().map_or("", String::as_str)
        ),
        by: Author::Player,
    };
    Ok(unheard.take(MOST).map(finding).collect())
}

/// Tests whose assertions fail, whatever they are about.
struct Failed {
    /// Where each of them stands, and how its runner calls it: more than once where it has rows.
    tests: BTreeMap<(String, u32), Vec<String>>,
    /// The files that they stand in, with assertions that fail.
    files: Vec<(String, Vec<u8>, u32)>,
}

impl Failed {
    fn of(change: &Change, new: &[String]) -> Self {
        let mut tests: BTreeMap<(String, u32), Vec<String>> = BTreeMap::new();
        for name in new {
            if let [site] = change.after.find(name).as_slice() {
                let called = tests.entry((site.path.clone(), site.line)).or_default();
                called.push(name.clone());
            }
        }
        let (mut kept, mut files) = (BTreeMap::new(), Vec::new());
        for file in &change.files {
            let raw = change.raw.iter().find(|raw| raw.path.to_str() == Some(&file.path));
            let text = file.after.bytes().and_then(|bytes| std::str::from_utf8(bytes).ok());
            let (Some(raw), Some(text)) = (raw, text) else { continue };
            let Some(outline) = language::read(&file.path, text) else {
                continue;
            };
            let mut failing: Vec<&Failing> = Vec::new();
            for test in &outline.tests {
                let at = (file.path.clone(), test.line);
                if let (Some(called), Some(all)) = (tests.get(&at), all_failing(test)) {
                    failing.extend(all);
                    kept.insert(at, called.clone());
                }
            }
            if let Some(put) = (!failing.is_empty()).then(|| with_failing(text, failing)).flatten() {
                files.push((file.path.clone(), put.into_bytes(), raw.new_mode));
            }
        }
        Self { tests: kept, files }
    }
}

/// All assertions of a test, as they fail; `None` where it has none, or checks in a way that cannot be made to fail.
fn all_failing(test: &Test) -> Option<Vec<&Failing>> {
    let cannot = |check: &&language::outline::Check| check.failing.is_none() && check.strength >= Strength::Weak;
    if test.checks.iter().any(|check| cannot(&check)) {
        return None;
    }
    let counts = test.checks.iter().filter(|check| check.strength >= Strength::Same);
    let all: Vec<&Failing> = counts.filter_map(|check| check.failing.as_ref()).collect();
    (!all.is_empty()).then_some(all)
}

/// A text with assertions that fail; one inside another goes with it.
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

    /// The file with the assertions of those of its tests that can be judged, as they fail.
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
