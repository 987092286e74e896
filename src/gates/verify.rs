//! Verifies one task's commit: runs and reads everything, and returns one report.

mod judged;

use crate::gates::{
    change::Change,
    checks,
    checks::{Checked, OnBase},
    compare, coverage,
    mutation::{Facts, HeadResults, Tried, experiments},
    rerun, rewritten,
    run::{
        context::{GateContext, GateError},
        prepared::{Coverage, Prepared},
    },
    subject::Subject,
    table::{Table, report, witness},
    turn::Run,
    unrun_tests::unrun_tests,
};
use domain::{
    evidence::{Evidence, Excuse, Excused, GateReport, Weight},
    plan::Check,
};
use std::sync::Arc;
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
        .after(subject.before)
        .await?;
    let run = Run {
        context,
        subject,
        change: &change,
        prepared: &prepared,
    };
    // A result is cached if nothing in it counts against the change.
    let is_kept = |ran: &Evidence| compare::is_sound(ran, &run.excused(ran));
    let tested = prepared.tests(Coverage::Measured, is_kept).await?;
    let tests = &tested.tests;
    let (before, excused) = (subject.before, run.excused(tests));
    let of = (context, &prepared);
    let mut report = rerun::report(of, (before, &tested), excused, Some(&change)).await?;
    let is_ready = !matches!(tested.setup, Some(Evidence::Failed(_) | Evidence::Absent(_)))
        && !checks::is_broken(&report.tests, &change.head);
    let mut checks = checks::checks(&run, tests, is_ready).await?;
    let mut tried = Tried::default();
    // The further Gates are only worth their time if nothing fails.
    let is_sound = compare::is_sound(&report.tests, &report.excused);
    let table = match is_sound {
        true => Some(Table::read(&run, tests).await?),
        false => None,
    };
    if let Some(table) = &table {
        let (result, questions) = report::report(&run, table);
        report.more.extend(result);
        report.questions.extend(questions);
        report.intended = report::intended(&run, table);
    }
    if is_sound || is_ready && matches!(report.tests, Evidence::Absent(_)) {
        witness::note_base(&run, table.as_ref(), &mut checks).await?;
        if let Some(table) = &table {
            tried = experiments(&run, &run.facts(tests, table, &checks)).await?;
            report.questions.append(&mut tried.questions);
        }
        let unrun = unrun_tests(&run, tests).await?;
        let noticed = tried.noticed.as_ref();
        let result = witness::judge(&run, table.as_ref(), noticed, (&checks, unrun));
        report.more.extend(result);
    }
    if let Some(measured) = tested.coverage.as_ref().filter(|_| is_sound) {
        report.more.push(coverage::judge(measured, subject).await?);
    }
    let (held, shown) = rewritten::by_setup(&tested.rewritten, before);
    let by_running = tried.findings.into_iter().chain(held).collect();
    let (integrity, questions) = judged::integrity(&run, by_running, shown).await?;
    report.questions.extend(questions);
    report.more.push(integrity);
    report.more.extend(tried.result);
    report.more.extend(checks.into_iter().map(|check| check.result));
    Ok(report)
}

impl Run<'_> {
    /// Returns the failing tests that do not count against the change, as far as one run shows.
    fn excused(&self, ran: &Evidence) -> Vec<Excused> {
        let mut excused = compare::excused(ran, self.subject.baseline, self.subject.waived);
        // A rewritten test of the same name is not the one that failed before.
        excused.retain(|excused| excused.why != Excuse::Baseline || self.change.keeps(&excused.test));
        excused
    }

    /// Collects the facts for the experiments.
    fn facts(&self, tests: &Evidence, table: &Table<'_>, checks: &[Checked]) -> Facts {
        let shows = |checked: &&Checked| checked.base == OnBase::Fails;
        let command = |checked: &Checked| match &checked.check {
            Check::Command(command) => Some(command.to_string()),
            Check::Test(_) | Check::File(_) | Check::Human => None,
        };
        let weight = witness::weight(self.kind(), self.subject.origin, self.subject.mode);
        Facts {
            change: Arc::clone(self.change),
            kind: self.kind(),
            tests: table.new_or_changed(),
            commands: checks.iter().filter(shows).filter_map(command).collect(),
            head: HeadResults::of(tests),
            untested: weight
                .filter(|weight| *weight == Weight::Required)
                .unwrap_or(Weight::Asked),
        }
    }
}
