//! Everything that is run and read for one task's commit, in one report.

use crate::gates::{
    base_tests,
    bench::{Bench, GateError},
    change::Change,
    checks, compare, coverage, dulled, hollow, judged, needless, red, rerun, rewritten,
    stand::{From, Stand},
    stored,
    subject::Subject,
    unheard, vague,
};
use domain::evidence::{Evidence, Excuse, GateReport};
use git::Blob;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// One run of all Gates.
#[derive(Clone, Copy)]
pub(crate) struct Run<'a> {
    pub(crate) bench: &'a Bench,
    pub(crate) subject: &'a Subject<'a>,
    pub(crate) change: &'a Arc<Change>,
    pub(crate) cancel: &'a CancellationToken,
}

/// Runs every Gate of a task's commit.
///
/// # Errors
///
/// A cancellation, or a failure of the service itself. What a command does is evidence, never an error.
pub async fn verify(bench: &Bench, subject: &Subject<'_>, cancel: &CancellationToken) -> Result<GateReport, GateError> {
    let change = Arc::new(Change::read(subject.mirror, subject.fork, subject.head).await?);
    let run = Run {
        bench,
        subject,
        change: &change,
        cancel,
    };
    let settings = subject.settings;
    let stand = Stand::new(bench, subject.mirror, subject.head, settings, From::Cache, cancel).await?;
    let ran = stand.tests().await?;
    let mut report = run.tests(stand.setup.clone(), ran.clone()).await?;
    let mut shown_by_running = Vec::new();
    if is_sound(&report) {
        report
            .more
            .extend(base_tests::base_tests(&run, &stand.chosen, &ran).await?);
        report
            .more
            .extend(red::red_before_green(&run, &stand.chosen, &ran).await?);
        report.more.extend(coverage::coverage(&stand, subject).await?);
        shown_by_running = hollow::tests_of_nothing(&run, &stand.chosen, (&ran, &report)).await?;
        shown_by_running.extend(needless::tests_of_anything(&run, &stand.chosen, &ran).await?);
        shown_by_running.extend(unheard::tests_that_nobody_hears(&run, &stand.chosen, &ran).await?);
        shown_by_running.extend(vague::tests_of_any_value(&run, &stand.chosen, &ran).await?);
        shown_by_running.extend(stored::answers_written_anew(&run, &stand.chosen, &ran).await?);
        shown_by_running.extend(dulled::tests_that_notice_less(&run, &stand.chosen, &ran).await?);
    }
    let (held, shown) = rewritten::by_setup(&stand.rewritten, subject.baseline);
    shown_by_running.extend(held);
    report
        .more
        .push(judged::integrity(&run, &ran, shown_by_running, shown).await?);
    report.more.extend(checks::checks(&run, &ran, stand.is_ready()).await?);
    report.isolation = Some(bench.sandbox.level());
    Ok(report)
}

/// Whether the tests ran and nothing is held against the work: only then it is worth the time to look closer.
fn is_sound(report: &GateReport) -> bool {
    match &report.tests {
        Evidence::Passed(_) => true,
        Evidence::Failed(_) => {
            compare::names(&report.tests).is_some() && compare::held(&report.tests, &report.excused).is_empty()
        }
        Evidence::Absent(_) => false,
    }
}

impl Run<'_> {
    /// The regular files of the change's commit whose path is wanted and that are not too large: path, bytes, mode. None where
    /// there are more than `most`.
    pub(crate) async fn files(
        &self,
        is_wanted: impl Fn(&str) -> bool,
        most: usize,
        largest: u64,
    ) -> Result<Vec<(String, Vec<u8>, u32)>, GateError> {
        let subject = self.subject;
        let listed = subject.mirror.list_files(subject.head, usize::MAX).await?;
        let regular = listed
            .entries
            .iter()
            .filter(|entry| matches!(entry.mode, 0o100_644 | 0o100_755))
            .filter_map(|entry| Some((entry.path.to_str()?.to_owned(), entry.mode)));
        let files: Vec<(String, u32)> = regular
            .filter(|(path, _)| is_wanted(path) && !path.contains('\n'))
            .collect();
        if files.len() > most {
            return Ok(Vec::new());
        }
        let names = files.iter().map(|(path, _)| format!("{}:{path}", subject.head));
        let names: Vec<String> = names.collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let blobs = subject.mirror.blobs(&names, largest).await?;
        let read = |((path, mode), blob)| match blob {
            Blob::Bytes(bytes) => Some((path, bytes, mode)),
            Blob::Large(_) | Blob::None => None,
        };
        Ok(files.into_iter().zip(blobs).filter_map(read).collect())
    }

    /// The tests with what excuses their failures.
    async fn tests(&self, setup: Option<Evidence>, ran: Evidence) -> Result<GateReport, GateError> {
        let subject = self.subject;
        let mut excused = compare::excused(&ran, subject.baseline, subject.waived);
        // Another test of that name is not the one that failed before.
        excused.retain(|excused| excused.why != Excuse::Baseline || self.change.keeps(&excused.test));
        let tests = compare::against(ran, subject.baseline);
        let mut report = GateReport::new(setup, tests);
        report.excused = excused;
        let held = compare::held(&report.tests, &report.excused);
        let of = (subject.mirror, subject.head);
        let flaky = rerun::flaky(self.bench, of, subject.settings, &held, Some(self.change), self.cancel).await?;
        report.excused.extend(flaky);
        Ok(report)
    }
}
