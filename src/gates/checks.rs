//! Runs the checks of acceptance criteria: a test that must pass, a command that must exit with 0, a file that must
//! exist.

use crate::gates::{change::is_of_tests, compare, gate_result, run::context::GateError, turn::Run};
use domain::{
    evidence::{Absence, Counts, Evidence, Fact, Finding, Gate, GateResult, NamedTest, TestNames, Weight},
    feature::flow::HeldCheck,
    plan::{Check, Criterion},
    problem::{Problem, ReviewItem},
};
use git::Blob;
use runners::{
    test_index,
    test_line::{is_unbuilt, own_name},
};
use std::collections::BTreeSet;

/// The largest file that is searched for a test's name, in bytes.
const MAX_FILE: u64 = 1024 * 1024;

/// The most similar tests that are shown for a missing one.
const MOST_SIMILAR: usize = 10;

/// The characters that separate the parts of a test's name in any runner's output.
const SEPARATORS: [char; 7] = [':', '.', '#', '>', '›', ' ', '/'];

/// The result of a criterion's check on the change's commit and on the base.
pub(crate) struct CheckResult {
    /// The criterion's number, from 1.
    pub(crate) number: usize,
    pub(crate) check: Check,
    pub(crate) result: GateResult,
    /// The names of the passed tests that match the criterion's name.
    pub(crate) named: Vec<String>,
    pub(crate) base: OnBase,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnBase {
    Fails,
    /// The check succeeds without the change too, so it only guards against regressions.
    Holds,
    Unknown,
}

impl CheckResult {
    /// Sets the result on the base, and notes in the finding if the check passes there too.
    pub(crate) fn set_base(&mut self, base: OnBase) {
        self.base = base;
        if let (OnBase::Holds, Evidence::Passed(finding)) = (base, &mut self.result.evidence) {
            finding.facts.push(Fact::RegressionCheck);
        }
    }
}

/// Runs the check of every criterion, except those that a person must judge. If set-up or the build broke, checks that
/// need it are not run: the breakage alone is the finding.
pub(crate) async fn checks(run: &Run<'_>, tests: &Evidence, is_ready: bool) -> Result<Vec<CheckResult>, GateError> {
    let mut results = Vec::new();
    let criteria = &run.subject.task.acceptance_criteria;
    for (at, criterion) in criteria.iter().enumerate() {
        let number = at.saturating_add(1);
        let mut named = Vec::new();
        let result = match &criterion.check {
            Check::Human => continue,
            Check::Test(_) | Check::Command(_) if !is_ready => {
                Some(gate_result::absent(Gate::Check(number), Absence::NotReached))
            }
            Check::Test(name) => {
                let passed = compare::passed(tests).iter();
                named.extend(passed.filter(|passed| is_called(passed, name)).cloned());
                Some(match test(number, name, tests) {
                    _ if is_nowhere(run, name, tests).await? => of_test(number, name, NamedTest::Nowhere),
                    result => with_place(run, number, name, result, tests),
                })
            }
            Check::Command(command) => Some(self::command(run, number, command).await?),
            Check::File(path) => Some(file(run, number, path).await?),
        };
        results.extend(result.map(|result| CheckResult {
            number,
            check: criterion.check.clone(),
            result: with_item(result, criterion, number),
            named,
            base: OnBase::Unknown,
        }));
    }
    Ok(results)
}

/// Returns the results of checks that held in their tasks, and do not on the result of all. A later task may have changed that
/// on purpose, so the person who merges is asked.
pub(crate) async fn no_longer_held(run: &Run<'_>, checks: &[HeldCheck]) -> Result<Vec<GateResult>, GateError> {
    let mut results = Vec::new();
    for HeldCheck { task, number, criterion } in checks {
        let result = match &criterion.check {
            Check::Command(command) => self::command(run, *number, command).await?,
            Check::File(path) => file(run, *number, path).await?,
            Check::Test(_) | Check::Human => continue,
        };
        if !matches!(result.evidence, Evidence::Passed(_)) {
            let text = format!("{task}: {}", criterion.text);
            let failed = result.evidence.failure().map(Finding::without_output);
            let failed = failed.map(|finding| Problem::CheckFailed { number: *number, text, finding });
            let items = failed.map(|failed| gate_result::should_fix(failed, None)).into_iter().collect();
            results.push(GateResult { weight: Weight::Asked, items, ..result });
        }
    }
    Ok(results)
}

/// `true` if the run failed before any test had a result. A runner may name the files that it could not load.
pub(crate) fn is_broken(tests: &Evidence, files: &BTreeSet<String>) -> bool {
    let Evidence::Failed(finding) = tests else { return false };
    let is_unit = |name: &String| is_unit(name, files);
    let counted = match finding.counts {
        Counts::Known { passed, skipped, .. } => passed > 0 || skipped > 0,
        Counts::Unknown => false,
    };
    let has_result = |names: &TestNames| {
        let none = names.passed.is_empty() && names.skipped.is_empty();
        !none || !names.failed.iter().all(is_unit)
    };
    !counted && finding.failing.iter().all(is_unit) && !finding.names.as_ref().is_some_and(has_result)
}

/// `true` if the name is that of a file or a package, which failed as a whole: it was not built or loaded.
fn is_unit(name: &str, files: &BTreeSet<String>) -> bool {
    is_unbuilt(name) || files.contains(own_name(name))
}

/// Adds the place of a test to its failed check, if the change brings the test and it has no result. If something was
/// not built, the test could not run, and the breakage alone is the finding.
fn with_place(run: &Run<'_>, number: usize, wanted: &str, result: GateResult, tests: &Evidence) -> GateResult {
    let ran = compare::names(tests).is_some_and(|names| names.all().any(|name| is_called(name, wanted)));
    let broken = tests.failure().is_some_and(|finding| {
        let mut failed = finding.failed_names();
        failed.any(|name| is_unit(name, &run.change.head))
    });
    match (&result.evidence, run.change.after.place(wanted)) {
        (Evidence::Failed(_), Some(_)) if !ran && broken => {
            gate_result::absent(Gate::Check(number), Absence::NotReached)
        }
        (Evidence::Failed(_), Some((path, line))) if !ran => {
            of_test(number, wanted, NamedTest::WrittenNotRun { path, line })
        }
        _ => result,
    }
}

fn with_item(mut result: GateResult, criterion: &Criterion, number: usize) -> GateResult {
    if let Some(finding) = result.evidence.failure() {
        let text = criterion.text.clone();
        let finding = finding.without_output();
        let failed = Problem::CheckFailed { number, text, finding };
        result.items.push(ReviewItem::must_fix(failed));
    }
    result
}

fn test(number: usize, wanted: &str, tests: &Evidence) -> GateResult {
    let names = match tests {
        Evidence::Passed(finding) | Evidence::Failed(finding) => finding.names.as_ref(),
        Evidence::Absent(reason) => return gate_result::absent(Gate::Check(number), reason.clone()),
    };
    let find = |list: &[String]| list.iter().any(|name| is_called(name, wanted));
    let result = match names {
        Some(names) if find(&names.failed) => NamedTest::Failed,
        Some(names) if find(&names.skipped) => NamedTest::Skipped,
        Some(names) if find(&names.passed) => NamedTest::Passed,
        Some(names) if has_all(tests, names) => NamedTest::NotRun { similar: similar(names, wanted) },
        Some(_) | None => {
            let test = wanted.to_owned();
            return gate_result::absent(Gate::Check(number), Absence::NoResultByName { test });
        }
    };
    of_test(number, wanted, result)
}

fn of_test(number: usize, wanted: &str, result: NamedTest) -> GateResult {
    let test = wanted.to_owned();
    let create = match result {
        NamedTest::Passed => gate_result::passed,
        NamedTest::Failed
        | NamedTest::Skipped
        | NamedTest::NotRun { .. }
        | NamedTest::WrittenNotRun { .. }
        | NamedTest::Nowhere => gate_result::failed,
    };
    create(Gate::Check(number), Weight::Required, Fact::NamedTest { test, result })
}

/// Returns the tests whose names contain the wanted one, to help rename the test or correct the check.
fn similar(names: &TestNames, wanted: &str) -> Vec<String> {
    let wanted = plain(wanted);
    let is_similar = |name: &&String| !wanted.is_empty() && plain(name).contains(&wanted);
    names.all().filter(is_similar).take(MOST_SIMILAR).cloned().collect()
}

/// Returns only the letters and digits, in lower case, since runners spell names differently.
fn plain(text: &str) -> String {
    text.to_lowercase().chars().filter(|c| c.is_alphanumeric()).collect()
}

/// `true` if the runner named no tests, and neither its output nor any test file contains the wanted name.
async fn is_nowhere(run: &Run<'_>, wanted: &str, tests: &Evidence) -> Result<bool, GateError> {
    let (Evidence::Passed(finding) | Evidence::Failed(finding)) = tests else {
        return Ok(false);
    };
    let name = plain(wanted);
    if finding.names.is_some() || name.is_empty() || plain(&finding.output).contains(&name) {
        return Ok(false);
    }
    let files = run.list(|path| is_of_tests(path) || path.to_lowercase().contains("test"));
    let files = files.await?;
    if files.iter().any(|(path, _)| plain(path).contains(&name)) {
        return Ok(false);
    }
    let blobs = run.blobs(&files, MAX_FILE).await?;
    Ok(blobs.iter().all(|blob| match blob {
        Blob::Bytes(bytes) => !plain(&String::from_utf8_lossy(bytes)).contains(&name),
        // The file is too large to search, so it may contain the name.
        Blob::Large(_) => false,
        Blob::None => true,
    }))
}

/// `true` if a missing name means that the test did not run: the runner named all its tests, or the run failed with no
/// test passing. Such a failure is the Player's to fix, with or without names.
fn has_all(tests: &Evidence, names: &TestNames) -> bool {
    compare::all_names(tests).is_some() || matches!(tests, Evidence::Failed(_)) && names.passed.is_empty()
}

/// `true` if a runner's `name` is the plan's `wanted` name: exactly, or by its last parts.
pub fn is_called(name: &str, wanted: &str) -> bool {
    fn parts(text: &str) -> Vec<&str> {
        text.split(SEPARATORS).filter(|part| !part.is_empty()).collect()
    }
    let wanted_parts = parts(wanted);
    name == wanted
        || !wanted_parts.is_empty()
            && [name, test_index::bare(name)].into_iter().any(|name| parts(name).ends_with(&wanted_parts))
}

/// Runs the command in its own checkout, so that no other check sees the files that it writes.
async fn command(run: &Run<'_>, number: usize, command: &str) -> Result<GateResult, GateError> {
    let evidence = run.prepared.command(command).await?;
    Ok(gate_result::result(Gate::Check(number), Weight::Required, evidence))
}

async fn file(run: &Run<'_>, number: usize, path: &str) -> Result<GateResult, GateError> {
    let gate = Gate::Check(number);
    let wanted = path.trim_start_matches("./").trim_end_matches('/');
    let is_missing = run.list(|path| path == wanted).await?.is_empty();
    Ok(if !is_missing {
        gate_result::passed(gate, Weight::Required, Fact::FileThere(path.to_owned()))
    } else {
        gate_result::failed(gate, Weight::Required, Fact::FileMissing(path.to_owned()))
    })
}

#[cfg(test)]
mod tests {
    use super::{is_broken, is_called, similar};
    use domain::evidence::{Absence, Counts, Evidence, Finding, TestNames};
    use std::collections::BTreeSet;

    #[test]
    fn a_test_is_known_by_its_last_parts_however_its_runner_spells_it() {
        let table = [
            ("auth::tests::refresh_once", "auth::tests::refresh_once", true),
            ("auth::tests::refresh_once", "refresh_once", true),
            ("auth::tests::refresh_once", "tests::refresh_once", true),
            ("auth::tests::refresh_once", "auth::refresh_once", false),
            ("auth::tests::refresh_once", "once", false),
            ("tests/test_a.py::TestA::test_x[1-b]", "test_x", true),
            ("tests/test_a.py::test_x", "tests/test_a.py::test_x", true),
            ("tests.test_a.TestA.test_x", "TestA.test_x", true),
            ("sum > adds two numbers", "adds two numbers", true),
            ("sum › adds two numbers", "sum adds two numbers", true),
            ("sum > adds two numbers", "adds two", false),
            ("demo tests::adds ⟨2⟩", "tests::adds", true),
            ("./a.test.js › sum › adds two", "sum › adds two", true),
            ("a", "", false),
        ];
        for (name, wanted, expected) in table {
            assert_eq!(is_called(name, wanted), expected, "{name} as {wanted}");
        }
    }

    #[test]
    fn a_run_without_a_result_of_any_test_is_broken() {
        let files = BTreeSet::from(["tests/test_a.py".to_owned()]);
        let ran = |passed: u32, failing: &[&str], names: Option<TestNames>| {
            Evidence::Failed(Finding {
                command: "t".to_owned(),
                exit_code: Some(1),
                counts: match passed {
                    0 => Counts::Unknown,
                    passed => Counts::Known { passed, failed: 1, skipped: 0 },
                },
                failing: failing.iter().map(|name| (*name).to_owned()).collect(),
                names,
                ..Finding::default()
            })
        };
        let named = |passed: &[&str], failed: &[&str]| {
            let own = |list: &[&str]| list.iter().map(|name| (*name).to_owned()).collect();
            Some(TestNames { passed: own(passed), failed: own(failed), skipped: Vec::new() })
        };
        let table = [
            (ran(0, &[], None), true),
            (ran(0, &[], named(&[], &[])), true),
            (ran(0, &["tests/test_a.py"], named(&[], &["tests/test_a.py"])), true),
            (ran(0, &["x.org/a (did not run)"], named(&[], &["x.org/a (did not run)"])), true),
            (ran(0, &["tests/test_a.py::test_b"], None), false),
            (ran(0, &[], named(&[], &["tests/test_a.py::test_b"])), false),
            (ran(0, &["tests/test_a.py"], named(&["tests/test_b.py::test_c"], &["tests/test_a.py"])), false),
            (ran(3, &[], None), false),
            (Evidence::Absent(Absence::NotReached), false),
        ];
        for (tests, expected) in table {
            assert_eq!(is_broken(&tests, &files), expected, "{tests:?}");
        }
    }

    #[test]
    fn a_check_that_names_part_of_a_test_is_told_the_whole_name() {
        let names = TestNames {
            passed: vec!["tests/test_a.py::test_discounted".to_owned(), "TestTotal".to_owned()],
            ..TestNames::default()
        };
        assert_eq!(similar(&names, "discounted"), ["tests/test_a.py::test_discounted"]);
        assert!(similar(&names, "refunded").is_empty());
        assert!(similar(&names, "::").is_empty());
    }
}
