//! Runs the tests of one version on the code of the other, and reads the result of each test.

use crate::gates::{
    compare,
    run::{context::GateError, result_cache::Expected},
    table::forms::{Form, TestSide},
    test_index,
    test_line::Selection,
    turn::Run,
};
use domain::{
    evidence::{Absence, Evidence, Finding},
    test_outcome::TestResult,
};
use std::collections::{BTreeMap, BTreeSet};

/// The most builds of one mixed run: files that do not fit are left out of the next.
const MOST_BUILDS: usize = 3;

/// The results of a mixed run.
pub(crate) struct MixedRun {
    evidence: Evidence,
    results: BTreeMap<String, TestResult>,
    /// The worst result of the rows of each parametrised test.
    families: BTreeMap<String, TestResult>,
}

impl MixedRun {
    /// Runs these tests. Files that keep the others from being built are left out, and their tests are then not
    /// comparable.
    pub(crate) async fn new(
        run: &Run<'_>,
        form: Form,
        side: &TestSide<'_>,
        selection: &Selection,
    ) -> Result<Self, GateError> {
        let (commit, expected, limit) = match form {
            Form::Old => (run.subject.head, Expected::Green, run.prepared.longest()),
            Form::New => (run.subject.fork, Expected::Red, run.prepared.patience_on_base()),
        };
        let mut left_out = BTreeSet::new();
        let mut builds = 0_usize;
        loop {
            let overlay = side.overlay(run, form, &left_out).await?;
            let of = (selection, limit);
            let evidence = run.prepared.tests_with(commit, &overlay, expected, of).await?;
            builds = builds.saturating_add(1);
            let unbuilt = match builds < MOST_BUILDS {
                true => unbuilt(&evidence, overlay.paths()),
                false => BTreeSet::new(),
            };
            let before = left_out.len();
            left_out.extend(unbuilt);
            if left_out.len() == before {
                return Ok(Self::of(evidence));
            }
        }
    }

    fn of(evidence: Evidence) -> Self {
        let results = match &evidence {
            Evidence::Passed(finding) | Evidence::Failed(finding) => of_finding(finding),
            Evidence::Absent(Absence::TimedOut { in_test, failed, .. }) => {
                let names = in_test.iter().chain(failed);
                names.map(|name| (name.clone(), TestResult::Failed)).collect()
            }
            Evidence::Absent(_) => BTreeMap::new(),
        };
        let mut families: BTreeMap<String, TestResult> = BTreeMap::new();
        for (name, result) in &results {
            let worst = families.entry(test_index::bare(name).to_owned()).or_insert(*result);
            if badness(*result) > badness(*worst) {
                *worst = *result;
            }
        }
        Self {
            evidence,
            results,
            families,
        }
    }

    /// Returns the result of a test: by its name, else of a test that differs from it only in its parameters.
    pub(crate) fn result(&self, name: &str) -> TestResult {
        let family = || self.families.get(test_index::bare(name)).copied();
        let known = self.results.get(name).copied().or_else(family);
        known.unwrap_or(TestResult::NotComparable)
    }

    /// Returns the result of the whole suite, for a runner that names no tests.
    pub(crate) fn result_of_all(&self) -> TestResult {
        match &self.evidence {
            Evidence::Passed(_) => TestResult::Passed,
            Evidence::Failed(finding) if !compare::is_stopped(finding) => TestResult::Failed,
            Evidence::Failed(_) | Evidence::Absent(_) => TestResult::NotComparable,
        }
    }

    /// `true` if no test has a result.
    pub(crate) fn is_empty(&self) -> bool {
        self.results.is_empty()
    }

    /// Returns why nothing ran, if nothing did.
    pub(crate) fn absence(&self) -> Option<&Absence> {
        match &self.evidence {
            Evidence::Absent(reason) if self.results.is_empty() => Some(reason),
            Evidence::Passed(_) | Evidence::Failed(_) | Evidence::Absent(_) => None,
        }
    }
}

fn badness(result: TestResult) -> u8 {
    match result {
        TestResult::Passed => 0,
        TestResult::DidNotRun | TestResult::Missing => 1,
        TestResult::NotComparable => 2,
        TestResult::Failed => 3,
    }
}

fn of_finding(finding: &Finding) -> BTreeMap<String, TestResult> {
    let mut results = BTreeMap::new();
    let Some(names) = &finding.names else { return results };
    let lists = [
        (&names.passed, TestResult::Passed),
        (&names.skipped, TestResult::DidNotRun),
        (&names.failed, TestResult::Failed),
    ];
    // A run that a signal or a limit ended tells nothing of the tests that it did not reach.
    for (list, result) in lists {
        results.extend(list.iter().map(|name| (name.clone(), result)));
    }
    let is_unfit = |name: &str| {
        let mut unfit = finding.unfit.iter();
        unfit.any(|unfit| name == unfit || name.ends_with(unfit.as_str()))
    };
    for (name, result) in &mut results {
        if *result == TestResult::Failed && is_unfit(name) {
            *result = TestResult::NotComparable;
        }
    }
    results
}

/// Returns the laid files that the output of a failed build names, if the run named no test.
fn unbuilt<'p>(evidence: &Evidence, laid: impl Iterator<Item = &'p str>) -> BTreeSet<String> {
    let Some(finding) = evidence.failure() else {
        return BTreeSet::new();
    };
    let has_results = |names: &domain::evidence::TestNames| names.all().next().is_some();
    if finding.names.as_ref().is_some_and(has_results) {
        return BTreeSet::new();
    }
    let is_named = |path: &&str| finding.output.contains(&format!("{path}:"));
    laid.filter(is_named).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::{MixedRun, unbuilt};
    use domain::{
        evidence::{Absence, Evidence, Finding, TestNames},
        test_outcome::TestResult,
    };

    fn owned(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn each_test_of_a_mixed_run_has_its_result() {
        let finding = Finding {
            exit_code: Some(1),
            names: Some(TestNames {
                passed: owned(&["a", "p[1]"]),
                failed: owned(&["b", "tests/t.py::c", "x::p[2]"]),
                skipped: owned(&["d"]),
            }),
            unfit: owned(&["tests/t.py::c"]),
            ..Finding::default()
        };
        let run = MixedRun::of(Evidence::Failed(finding));
        let table = [
            ("a", TestResult::Passed),
            ("b", TestResult::Failed),
            ("tests/t.py::c", TestResult::NotComparable),
            ("d", TestResult::DidNotRun),
            ("gone", TestResult::NotComparable),
            ("x::p[3]", TestResult::Failed),
        ];
        for (name, expected) in table {
            assert_eq!(run.result(name), expected, "{name}");
        }
        let stopped = MixedRun::of(Evidence::Absent(Absence::TimedOut {
            command: "t".to_owned(),
            seconds: 1,
            in_test: Some("slow".to_owned()),
            failed: owned(&["b"]),
        }));
        assert_eq!(stopped.result("slow"), TestResult::Failed);
        assert_eq!(stopped.result("b"), TestResult::Failed);
        assert_eq!(stopped.result("a"), TestResult::NotComparable);
    }

    #[test]
    fn files_that_do_not_build_are_named_by_the_build() {
        let failed = |output: &str| {
            Evidence::Failed(Finding {
                output: output.to_owned(),
                ..Finding::default()
            })
        };
        let laid = ["tests/a.rs", "tests/b.rs"];
        let found = unbuilt(&failed("error[E0061]\n --> tests/a.rs:12:5"), laid.into_iter());
        assert_eq!(found.into_iter().collect::<Vec<_>>(), ["tests/a.rs"]);
        assert!(unbuilt(&failed("error: src/lib.rs:1"), laid.into_iter()).is_empty());
    }
}
