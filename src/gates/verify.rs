//! Verifies one task's commit: runs and reads everything, and returns one report.

mod judged;

use crate::gates::{
    change::Change,
    checks,
    checks::{CheckResult, OnBase},
    compare, coverage,
    mutation::{ExperimentResults, Facts, HeadResults, experiments},
    rerun,
    run::{
        context::{GateContext, GateError},
        prepared::{Coverage, Prepared},
        result_cache::Tested,
    },
    subject::Subject,
    table::{OldTests, TestTable, report, witness},
    turn::Run,
    unrun_tests::unrun_tests,
};
use domain::{
    evidence::{Evidence, Excuse, Excused, Gate, GateReport, Weight},
    plan::Check,
    question::{Question, Topic},
    test_outcome::TestOutcome,
};
use futures_util::future::BoxFuture;
use std::{collections::BTreeSet, sync::Arc};
use tokio_util::sync::CancellationToken;

/// One Gate of a task, or one step towards it.
struct GateRow {
    /// The Gate; `None` for a step towards others.
    gate: Option<Gate>,
    needs: Needs,
    /// Returns its weight for a task; `None` if the task does without it.
    weight: fn(&Run<'_>) -> Option<Weight>,
    run: for<'s, 'r> fn(&'s mut Judging<'r>, Weight) -> BoxFuture<'s, Result<(), GateError>>,
}

/// The results that a Gate needs to be worth its time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Needs {
    Nothing,
    /// Tests ran and nothing in them counts against the change, or none could run after a set-up that worked.
    Ready,
    /// Tests ran, and nothing in them counts against the change.
    Sound,
}

/// The Gates after set-up and tests, in their order.
static GATES: &[GateRow] = &[
    GateRow {
        gate: Some(Gate::BaseTests),
        needs: Needs::Sound,
        weight: |_| Some(Weight::Required),
        run: |judging, weight| Box::pin(judging.read_table(weight)),
    },
    GateRow {
        gate: None,
        needs: Needs::Ready,
        weight: |_| Some(Weight::Required),
        run: |judging, _| Box::pin(witness::note_base(judging.run, judging.table.as_ref(), &mut judging.checks)),
    },
    GateRow {
        gate: Some(Gate::Experiments),
        needs: Needs::Sound,
        weight: |_| Some(Weight::Informational),
        run: |judging, weight| Box::pin(judging.experiment(weight)),
    },
    GateRow {
        gate: Some(Gate::RedBeforeGreen),
        needs: Needs::Ready,
        weight: |run| run.weight_of_witness(),
        run: |judging, weight| Box::pin(judging.find_witness(weight)),
    },
    GateRow {
        gate: Some(Gate::Coverage),
        needs: Needs::Sound,
        weight: |run| Some(coverage::weight(run.subject.task.kind)),
        run: |judging, weight| Box::pin(judging.measure(weight)),
    },
    GateRow {
        gate: Some(Gate::Integrity),
        needs: Needs::Nothing,
        weight: |_| Some(Weight::Required),
        run: |judging, weight| Box::pin(judging.inspect(weight)),
    },
];

struct Judging<'r> {
    run: &'r Run<'r>,
    tested: &'r Tested,
    report: GateReport,
    checks: Vec<CheckResult>,
    table: Option<TestTable<'r>>,
    tried: ExperimentResults,
}

/// Runs every Gate of a task's commit.
/// A failing command is evidence, never an error.
pub async fn verify(
    context: &GateContext,
    subject: &Subject<'_>,
    cancel: &CancellationToken,
) -> Result<GateReport, GateError> {
    let change = Arc::new(Change::read(subject.mirror, subject.fork, subject.head).await?);
    let prepared = Prepared::new(context, subject.mirror, subject.head, subject.settings, cancel)
        .await?
        .beside_earlier_command(subject.fork)
        .await?
        .after(subject.before)
        .await?;
    let run = Run { context, subject, change: &change, prepared: &prepared };
    // A result is cached if nothing in it counts against the change.
    let is_kept = |ran: &Evidence| compare::is_sound(ran, &run.excused(ran));
    let tested = prepared.tests(Coverage::Measured, is_kept).await?;
    let excused = run.excused(&tested.tests);
    let report = rerun::report(context, &prepared, subject.before, &tested, excused, Some(&change)).await?;
    let is_ready = !matches!(tested.setup, Some(Evidence::Failed(_) | Evidence::Absent(_)))
        && !checks::is_broken(&report.tests, &change.head);
    let mut judging = Judging {
        checks: checks::checks(&run, &tested.tests, is_ready).await?,
        run: &run,
        tested: &tested,
        report,
        table: None,
        tried: ExperimentResults::default(),
    };
    let met = judging.needs_met(is_ready);
    for row in GATES.iter().filter(|row| row.needs <= met) {
        if let Some(weight) = (row.weight)(&run) {
            tracing::debug!(gate = row.gate.map(Gate::name), "a Gate runs");
            (row.run)(&mut judging, weight).await?;
        }
    }
    let Judging { mut report, checks, .. } = judging;
    report.more.extend(checks.into_iter().map(|check| check.result));
    Ok(report)
}

impl Judging<'_> {
    /// Returns the strongest need that the commit meets.
    fn needs_met(&self, is_ready: bool) -> Needs {
        let report = &self.report;
        match &report.tests {
            tests if compare::is_sound(tests, &report.excused) => Needs::Sound,
            Evidence::Absent(_) if is_ready => Needs::Ready,
            Evidence::Passed(_) | Evidence::Failed(_) | Evidence::Absent(_) => Needs::Nothing,
        }
    }

    async fn read_table(&mut self, weight: Weight) -> Result<(), GateError> {
        let table = TestTable::read(self.run, &self.tested.tests, OldTests::Touched).await?;
        let (result, questions) = report::report(self.run, &table, weight);
        self.report.more.extend(result);
        self.report.questions.extend(questions);
        self.report.intended = report::intended(self.run, &table);
        self.table = Some(table);
        Ok(())
    }

    /// Adds questions. A suspicion from reading about a test that no longer notices is dropped as the same question.
    fn ask(&mut self, questions: Vec<Question>) {
        let all = &mut self.report.questions;
        all.extend(questions);
        let tests = &self.run.change.after;
        let test = |question: &Question| {
            let (path, line) = question.place.as_ref()?;
            Some((path.clone(), tests.test_around(path, *line)?))
        };
        let deaf = |question: &&Question| question.topic == Topic::Outcome(TestOutcome::NoLongerNotices);
        let deaf: BTreeSet<(String, u32)> = all.iter().filter(deaf).filter_map(test).collect();
        let is_read = |topic: Topic| matches!(topic, Topic::Rule(_) | Topic::Outcome(TestOutcome::Loosened));
        let is_repeated = |question: &Question| test(question).is_some_and(|test| deaf.contains(&test));
        all.retain(|question| !is_read(question.topic) || !is_repeated(question));
    }

    async fn experiment(&mut self, weight: Weight) -> Result<(), GateError> {
        if let Some(table) = &self.table {
            let facts = self.run.facts(&self.tested.tests, table, &self.checks);
            self.tried = experiments(self.run, table, &facts, weight).await?;
            let questions = std::mem::take(&mut self.tried.questions);
            self.ask(questions);
        }
        Ok(())
    }

    async fn find_witness(&mut self, weight: Weight) -> Result<(), GateError> {
        let unrun = unrun_tests(self.run, &self.tested.tests).await?;
        let (table, noticed) = (self.table.as_ref(), self.tried.noticed.as_ref());
        let found = witness::judge(self.run, weight, table, &self.tested.tests, noticed, &self.checks, unrun);
        self.report.more.extend(found);
        Ok(())
    }

    async fn measure(&mut self, weight: Weight) -> Result<(), GateError> {
        if let Some(measured) = &self.tested.coverage {
            let result = coverage::judge(measured, self.run.subject, weight).await?;
            self.report.more.push(result);
        }
        Ok(())
    }

    async fn inspect(&mut self, weight: Weight) -> Result<(), GateError> {
        let (held, shown) = judged::rewritten_by_setup(&self.tested.rewritten, self.run.subject.before);
        let by_running = std::mem::take(&mut self.tried.findings).into_iter().chain(held).collect();
        let (result, questions) = judged::integrity(self.run, weight, by_running, shown).await?;
        // A broken build is one finding. Questions from reading are only about files that could be parsed.
        if !checks::is_broken(&self.report.tests, &self.run.change.head) {
            self.ask(questions);
        }
        self.report.more.push(result);
        self.report.more.extend(self.tried.result.take());
        Ok(())
    }
}

impl Run<'_> {
    /// Returns the failing tests that do not count against the change, as far as one run shows.
    fn excused(&self, ran: &Evidence) -> Vec<Excused> {
        let mut excused = compare::excused(ran, self.subject.baseline, self.subject.waived);
        // A rewritten test of the same name is not the one that failed before.
        excused.retain(|excused| excused.why != Excuse::Baseline || self.change.keeps(&excused.test));
        excused
    }

    fn weight_of_witness(&self) -> Option<Weight> {
        witness::weight(self.kind(), self.subject.origin, self.subject.mode)
    }

    fn facts(&self, tests: &Evidence, table: &TestTable<'_>, checks: &[CheckResult]) -> Facts {
        let shows = |checked: &&CheckResult| checked.base == OnBase::Fails;
        let command = |checked: &CheckResult| match &checked.check {
            Check::Command(command) => Some(command.to_string()),
            Check::Test(_) | Check::File(_) | Check::Human => None,
        };
        Facts {
            change: Arc::clone(self.change),
            kind: self.kind(),
            tests: table.new_or_changed(),
            commands: checks.iter().filter(shows).filter_map(command).collect(),
            head: HeadResults::of(tests),
            untested: self.weight_of_witness().filter(|weight| *weight == Weight::Required).unwrap_or(Weight::Asked),
        }
    }
}
