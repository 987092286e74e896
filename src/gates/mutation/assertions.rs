//! Makes assertions of the change's tests fail. A test that still passes does not reach them, or ignores their failure.

use crate::gates::{
    change::text,
    compare,
    mutation::{
        ExperimentResults,
        emptied::at_tests,
        trial::{Tests, Trial},
    },
    run::{context::GateError, overlay::FileToWrite},
};
use domain::{
    evidence::Experiment,
    integrity::Rule,
    question::{Question, Topic},
};
use integrity::{
    language,
    language::bodies::replaced,
    language::outline::{Check, ExpectedOutcome, FailingReplacement, Strength, Test},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};
use tokio::time::Instant;

/// A test whose assertions can be made to fail.
#[derive(Clone, Debug)]
pub(super) struct AssertingTest {
    name: String,
    path: String,
    checks: Vec<(u32, FailingReplacement)>,
    share: Share,
}

/// The assertions of a test that can be made to fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Share {
    All,
    Some,
}

impl AssertingTest {
    /// Returns the place that all rows of a parametrised test share.
    fn place(&self) -> (&str, Option<u32>) {
        (&self.path, self.checks.first().map(|(line, _)| *line))
    }
}

/// Makes all assertions of each test fail, and returns the tests that noticed. A test that ignores all of its
/// assertions is sent back; one that also has assertions that cannot be made to fail is asked about.
pub(super) async fn fail_all(
    trial: &mut Trial<'_>,
    tried: &mut ExperimentResults,
) -> Result<Vec<AssertingTest>, GateError> {
    let tests = asserting(trial);
    if tests.is_empty() {
        return Ok(tests);
    }
    let limit = trial.run.prepared.patience();
    let deaf = still_passing(trial, &tests, |checks| checks.iter().collect(), limit).await?;
    trial.budget.ran(Experiment::FailingAssertions);
    let (mut ignoring, others): (Vec<_>, Vec<_>) = tests.into_iter().partition(|test| deaf.contains(&test.name));
    // The rows of a parametrised test are one test, and some rows may expect an error.
    ignoring.retain(|test| others.iter().all(|other| other.place() != test.place()));
    let (all, some): (Vec<_>, Vec<_>) = ignoring.into_iter().partition(|test| test.share == Share::All);
    let names: Vec<String> = all.into_iter().map(|test| test.name).collect();
    tried.findings.extend(at_tests(trial, Rule::SwallowedFailure, &names));
    let lines = |test: &AssertingTest| -> Vec<((String, u32), String)> {
        let places = test.checks.iter().map(|(line, _)| (test.path.clone(), *line));
        places.map(|place| (place, test.name.clone())).collect()
    };
    tried.questions.extend(question(trial, &some.iter().flat_map(lines).collect()));
    Ok(others)
}

/// Makes one assertion of each test fail at a time, from the last, while time is left. Asks about those that were
/// ignored.
pub(super) async fn fail_each(
    trial: &mut Trial<'_>,
    tests: &[AssertingTest],
    tried: &mut ExperimentResults,
) -> Result<(), GateError> {
    let mut left: Vec<AssertingTest> = tests.iter().filter(|test| test.checks.len() > 1).cloned().collect();
    let mut ignored: BTreeMap<(String, u32), String> = BTreeMap::new();
    let mut heard: BTreeSet<(String, u32)> = BTreeSet::new();
    while !left.is_empty() {
        let Some(limit) = trial.budget.remaining() else {
            trial.budget.leave_out(Experiment::EachAssertion);
            break;
        };
        let limit = limit.min(trial.run.prepared.patience());
        let begun = Instant::now();
        let deaf = still_passing(trial, &left, |checks| checks.last().into_iter().collect(), limit).await?;
        trial.budget.spend(begun.elapsed());
        for test in &mut left {
            let Some((line, _)) = test.checks.pop() else { continue };
            let place = (test.path.clone(), line);
            if deaf.contains(&test.name) {
                ignored.insert(place, test.name.clone());
            } else {
                heard.insert(place);
            }
        }
        left.retain(|test| !test.checks.is_empty());
    }
    ignored.retain(|place, _| !heard.contains(place));
    tried.questions.extend(question(trial, &ignored));
    Ok(())
}

async fn still_passing(
    trial: &mut Trial<'_>,
    tests: &[AssertingTest],
    chosen: impl Fn(&[(u32, FailingReplacement)]) -> Vec<&(u32, FailingReplacement)>,
    limit: Duration,
) -> Result<BTreeSet<String>, GateError> {
    let mut by_file: BTreeMap<&str, Vec<&FailingReplacement>> = BTreeMap::new();
    for test in tests {
        let failing = chosen(&test.checks).into_iter().map(|(_, failing)| failing);
        by_file.entry(&test.path).or_default().extend(failing);
    }
    let change = &trial.facts.change;
    let write_file = |(path, failing): (&str, Vec<&FailingReplacement>)| -> Option<FileToWrite> {
        let text = with_failing(change.text_after(path)?, failing)?;
        Some(FileToWrite { path: path.to_owned(), bytes: text.into_bytes(), mode: change.mode(path)? })
    };
    let files: Vec<FileToWrite> = by_file.into_iter().filter_map(write_file).collect();
    // A pass says nothing if no assertion could be replaced.
    let is_put = |test: &&AssertingTest| files.iter().any(|file| file.path == test.path);
    let names: Vec<String> = tests.iter().filter(is_put).map(|test| test.name.clone()).collect();
    if names.is_empty() {
        return Ok(BTreeSet::new());
    }
    let found = trial.evidence(files, &Tests::Named(names.clone()), limit).await?;
    let passed: BTreeSet<&String> = compare::passed(&found).iter().collect();
    Ok(names.into_iter().filter(|name| passed.contains(name)).collect())
}

/// Returns the change's tests, each with its assertions that can be made to fail.
fn asserting(trial: &Trial<'_>) -> Vec<AssertingTest> {
    let change = &trial.facts.change;
    let mut tests = Vec::new();
    for file in &change.files {
        let is_here = |name: &&String| matches!(change.after.find(name).as_slice(), [site] if site.path == file.path);
        let here: Vec<&String> = trial.facts.tests.iter().filter(is_here).collect();
        let outline = text(&file.after).filter(|_| !here.is_empty());
        let outline = outline.and_then(|text| language::read(&file.path, text)).unwrap_or_default();
        for name in here {
            let line = change.after.place(name).map(|(_, line)| line);
            let test = outline.tests.iter().find(|test| Some(test.line) == line);
            if let Some((checks, share)) = test.and_then(all_failing) {
                tests.push(AssertingTest { name: name.clone(), path: file.path.clone(), checks, share });
            }
        }
    }
    tests
}

/// Returns the failing form of a test's outermost assertions, with their lines; `None` if it has none, or expects one
/// to fail.
fn all_failing(test: &Test) -> Option<(Vec<(u32, FailingReplacement)>, Share)> {
    if test.checks.iter().any(|check| check.expects == ExpectedOutcome::Failure) {
        return None;
    }
    let cannot = |check: &Check| check.failing.is_none() && check.strength >= Strength::Weak;
    let share = if test.checks.iter().any(cannot) { Share::Some } else { Share::All };
    let counts = test.checks.iter().filter(|check| check.strength >= Strength::Same);
    let mut all: Vec<(u32, FailingReplacement)> =
        counts.filter_map(|check| Some((check.line, check.failing.clone()?))).collect();
    all.sort_by_key(|(_, one)| (one.range.start, std::cmp::Reverse(one.range.end)));
    let mut until = 0;
    all.retain(|(_, one)| {
        let is_outermost = one.range.start >= until;
        until = until.max(one.range.end);
        is_outermost
    });
    (!all.is_empty()).then_some((all, share))
}

/// Replaces assertions, which do not overlap, by their failing form.
fn with_failing(text: &str, mut failing: Vec<&FailingReplacement>) -> Option<String> {
    failing.sort_by_key(|one| one.range.start);
    // Each row of a parametrised test brings the same assertions.
    failing.dedup_by_key(|one| one.range.clone());
    replaced(text, failing.into_iter().map(|one| (&one.range, Some(&one.text))))
}

/// Returns the question about assertions whose failure their test ignores.
fn question(trial: &Trial<'_>, ignored: &BTreeMap<(String, u32), String>) -> Option<Question> {
    let ((path, line), _) = ignored.first_key_value()?;
    let about: BTreeSet<&String> = ignored.values().collect();
    let lines = ignored.keys().map(|(path, line)| {
        let text = trial.facts.change.text_after(path).unwrap_or_default();
        let at = usize::try_from(*line).unwrap_or_default().saturating_sub(1);
        format!("{path}:{line} {}", text.lines().nth(at).unwrap_or_default().trim())
    });
    Some(Question {
        topic: Topic::IgnoredAssertions,
        about: about.into_iter().cloned().collect(),
        place: Some((path.clone(), *line)),
        material: lines.collect::<Vec<_>>().join("\n"),
        absence: None,
    })
}

#[cfg(test)]
mod tests {
    use super::{Share, all_failing, with_failing};
    use integrity::language;

    /// Returns the file with the assertions of all suitable tests replaced by failures.
    fn failing(path: &str, text: &str) -> String {
        let outline = language::read(path, text).unwrap();
        let of_each = outline.tests.iter().filter_map(all_failing);
        let all: Vec<_> = of_each.flat_map(|(checks, _)| checks).collect();
        with_failing(text, all.iter().map(|(_, one)| one).collect()).unwrap()
    }

    #[test]
    fn assertions_fail_and_everything_else_stays() {
        let rust = "#[test]\nfn one() {\n    for n in all() {\n        assert_eq!(n, 1);\n    }\n}\n";
        assert_eq!(
            failing("tests/a.rs", rust),
            rust.replace("assert_eq!(n, 1)", "if true { panic!(\"made to fail\") } else { assert_eq!(n, 1) }")
        );
        let python = "def test_one():\n    for n in every():\n        assert n == 1\n    self.assertEqual(n, 2)\n";
        let failed = "raise AssertionError('made to fail')";
        assert_eq!(
            failing("tests/test_a.py", python),
            python.replace("assert n == 1", failed).replace("self.assertEqual(n, 2)", failed)
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
    fn a_test_that_expects_an_error_is_left_alone() {
        for text in [
            "#[test]\n#[should_panic]\nfn one() { assert_eq!(f(), 1); }\n",
            "#[should_panic]\n#[test]\nfn one() { assert_eq!(f(), 1); }\n",
        ] {
            assert_eq!(failing("tests/a.rs", text), text);
        }
        let guard = "test('one', () => { on('x', () => assert.fail('called')); });\n";
        assert_eq!(failing("test/a.test.js", guard), guard);
    }

    #[test]
    fn assertions_that_cannot_be_made_to_fail_leave_the_others() {
        let rust = "#[test]\nfn one() { let n = f().unwrap(); f(|| panic!(\"called\")); assert!(n == 1); }\n";
        assert_eq!(
            failing("tests/a.rs", rust),
            rust.replace("assert!(n == 1)", "if true { panic!(\"made to fail\") } else { assert!(n == 1) }")
        );
        let outline = language::read("tests/a.rs", rust).unwrap();
        assert_eq!(all_failing(&outline.tests[0]).map(|(_, share)| share), Some(Share::Some));
        let block = "def test_one():\n    with pytest.raises(ValueError) as error:\n        f()\n    g()\n";
        assert_eq!(
            failing("tests/test_a.py", block),
            "def test_one():\n    raise AssertionError('made to fail')\n    g()\n"
        );
    }
}
