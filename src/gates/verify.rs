//! Verifies one task's commit: runs and reads everything, and returns one report.

mod base_tests;
mod judged;
mod must_hold;
mod red_before_green;

use crate::gates::{
    change::Change,
    checks,
    checks::Checked,
    compare, coverage,
    mutation::{Facts, Tried, experiments},
    new_tests::{NewTests, known},
    overruled::Ran,
    rerun, rewritten,
    run::{
        context::{GateContext, GateError},
        prepared::{Coverage, Prepared},
        result_cache::Tested,
    },
    said,
    subject::Subject,
    turn::Run,
};
use domain::evidence::{Evidence, Excuse, Excused, GateReport, Ground};
use red_before_green::{RedBeforeGreen, red_before_green};
use std::{collections::BTreeSet, sync::Arc};
use tokio_util::sync::CancellationToken;

/// Runs every Gate of a task's commit.
///
/// # Errors
///
/// A cancellation, or a failure of the service itself. A failing command is evidence, never an error.
pub async fn verify(
    context: &GateContext,
    subject: &Subject<'_>,
    cancel: &CancellationToken,
) -> Result<GateReport, GateError> {
    let change = Arc::new(Change::read(subject.mirror, subject.fork, subject.head).await?);
    let prepared = Prepared::new(context, (subject.mirror, subject.head), subject.settings, cancel)
        .await?
        .after(subject.baseline)
        .await?;
    let run = Run {
        context,
        subject,
        change: &change,
        prepared: &prepared,
    };
    let tested = prepared.tests(Coverage::Measured, |ran| run.is_kept(ran)).await?;
    let tests = &tested.tests;
    let mut report = run.tests(&tested).await?;
    let is_ready = !matches!(tested.setup, Some(Evidence::Failed(_) | Evidence::Absent(_)));
    let mut checks = checks::checks(&run, tests, is_ready).await?;
    let (mut ran, mut tried) = (Ran::of(tests), Tried::default());
    // The further Gates are only worth their time if nothing fails.
    let is_sound = compare::is_sound(&report.tests, &report.excused);
    if is_sound {
        report.more.extend(base_tests::base_tests(&run, tests, &mut ran).await?);
    }
    if is_sound || is_ready && matches!(report.tests, Evidence::Absent(_)) {
        let names = compare::telling_names(tests, subject.baseline);
        let new = names.map(|names| NewTests::of(run.change, &known(subject.baseline), names));
        let new = new.unwrap_or_default();
        let red = red_before_green(&run, (tests, &new), &mut checks).await?;
        if is_sound {
            tried = experiments(&run, run.facts(tests, new, &red)).await?;
        }
        ran.red = red.red;
        report.more.extend(red.result);
    }
    if let Some(measured) = tested.coverage.as_ref().filter(|_| is_sound) {
        report.more.push(coverage::judge(measured, subject).await?);
    }
    let (held, shown) = rewritten::by_setup(&tested.rewritten, subject.baseline);
    let by_running = tried.findings.into_iter().chain(held).collect();
    let integrity = judged::integrity(&run, (tests, &ran), by_running, shown).await?;
    report.more.push(integrity);
    report.more.extend(tried.result);
    report.more.extend(checks.into_iter().map(Checked::told));
    report.isolation = Some(context.sandbox.level());
    report.tests = said::with_origin(report.tests, tested.origin);
    Ok(report)
}

impl Run<'_> {
    /// `true` if a result may be cached: nothing in it counts against the change.
    fn is_kept(&self, ran: &Evidence) -> bool {
        compare::is_sound(ran, &self.excused(ran))
    }

    /// Returns the failing tests that do not count against the change, as far as one run shows.
    fn excused(&self, ran: &Evidence) -> Vec<Excused> {
        let mut excused = compare::excused(ran, self.subject.baseline, self.subject.waived);
        // A rewritten test of the same name is not the one that failed before.
        excused.retain(|excused| excused.why != Excuse::Baseline || self.change.keeps(&excused.test));
        excused
    }

    /// Collects the facts for the experiments.
    fn facts(&self, tests: &Evidence, new: NewTests, red: &RedBeforeGreen) -> Facts {
        let passed = compare::names(tests)
            .map(|names| names.passed.clone())
            .unwrap_or_default();
        let before: BTreeSet<&String> = match self.subject.baseline.ground() {
            Ground::Named(names) => names.passed.iter().collect(),
            Ground::Empty | Ground::Green | Ground::Red => BTreeSet::new(),
        };
        Facts {
            change: Arc::clone(self.change),
            kind: self.kind(),
            tests: new,
            old: passed.iter().filter(|name| before.contains(name)).cloned().collect(),
            passed,
            witness: red.witness,
        }
    }

    /// Reports the tests with the failures that are excused.
    async fn tests(&self, tested: &Tested) -> Result<GateReport, GateError> {
        let subject = self.subject;
        let ran = tested.tests.clone();
        let excused = self.excused(&ran);
        let tests = compare::against(ran, subject.baseline);
        let mut report = GateReport::new(tested.setup.clone(), tests);
        report.excused = excused;
        let held = compare::held(&report.tests, &report.excused);
        let flaky = rerun::flaky(self.prepared, &held, Some(self.change)).await?;
        report.excused.extend(flaky);
        Ok(report)
    }
}
