//! Everything that is run and read for one task's commit, in one report.

use crate::gates::{
    base_tests,
    change::Change,
    checks, compare, coverage, dulled, hollow, judged, needless, red, rerun, rewritten,
    run::{
        context::{Bench, GateError},
        prepared::{Coverage, Prepared},
        result_cache::Tested,
    },
    said, stored,
    subject::Subject,
    turn::Run,
    unheard, vague,
};
use domain::evidence::{Evidence, Excuse, Excused, GateReport};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Runs every Gate of a task's commit.
///
/// # Errors
///
/// A cancellation, or a failure of the service itself. What a command does is evidence, never an error.
pub async fn verify(bench: &Bench, subject: &Subject<'_>, cancel: &CancellationToken) -> Result<GateReport, GateError> {
    let change = Arc::new(Change::read(subject.mirror, subject.fork, subject.head).await?);
    let prepared = Prepared::new(bench, (subject.mirror, subject.head), subject.settings, cancel)
        .await?
        .adding(subject.baseline.additions);
    let run = Run {
        bench,
        subject,
        change: &change,
        prepared: &prepared,
    };
    let tested = prepared.tests(Coverage::Measured, |ran| run.is_kept(ran)).await?;
    let ran = &tested.tests;
    let mut report = run.tests(&tested).await?;
    let mut shown_by_running = Vec::new();
    // Only then it is worth the time to look closer.
    if compare::is_sound(&report.tests, &report.excused) {
        report.more.extend(base_tests::base_tests(&run, ran).await?);
        report.more.extend(red::red_before_green(&run, ran).await?);
        if let Some(measured) = &tested.coverage {
            report.more.push(coverage::judge(measured, subject).await?);
        }
        shown_by_running = hollow::tests_of_nothing(&run, (ran, &report)).await?;
        shown_by_running.extend(needless::tests_of_anything(&run, ran).await?);
        shown_by_running.extend(unheard::tests_that_nobody_hears(&run, ran).await?);
        shown_by_running.extend(vague::tests_of_any_value(&run, ran).await?);
        shown_by_running.extend(stored::answers_written_anew(&run, ran).await?);
        shown_by_running.extend(dulled::tests_that_notice_less(&run, ran).await?);
    }
    let (held, shown) = rewritten::by_setup(&tested.rewritten, subject.baseline);
    shown_by_running.extend(held);
    report
        .more
        .push(judged::integrity(&run, ran, shown_by_running, shown).await?);
    let is_ready = !matches!(tested.setup, Some(Evidence::Failed(_) | Evidence::Absent(_)));
    report.more.extend(checks::checks(&run, ran, is_ready).await?);
    report.isolation = Some(bench.sandbox.level());
    report.tests = said::with_origin(report.tests, tested.origin);
    Ok(report)
}

impl Run<'_> {
    /// Whether a result may be kept: nothing in it is held against the work.
    fn is_kept(&self, ran: &Evidence) -> bool {
        compare::is_sound(ran, &self.excused(ran))
    }

    /// The failing tests that are not held against the work, as far as one run can tell.
    fn excused(&self, ran: &Evidence) -> Vec<Excused> {
        let mut excused = compare::excused(ran, self.subject.baseline, self.subject.waived);
        // Another test of that name is not the one that failed before.
        excused.retain(|excused| excused.why != Excuse::Baseline || self.change.keeps(&excused.test));
        excused
    }

    /// The tests with what excuses their failures.
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
