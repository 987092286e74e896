//! The wave's Gates: tasks that pass alone can fail together, and a feature can be broken although all unit tests pass.

use crate::gates::{
    change::Change,
    checks, compare, gate_result,
    mutation::of_feature,
    rerun,
    run::{
        context::{GateContext, GateError},
        prepared::{Coverage, Prepared},
    },
    subject::{Subject, WaveSubject, WholeFeature},
    table::{OldTests, TestTable, report},
    turn::Run,
};
use domain::{
    evidence::{Evidence, Gate, GateReport, GateResult, TestNames, Weight},
    ids::Sha,
    question,
    question::Question,
    task::Origin,
};
use git::Mirror;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// The most commits of the integration branch that are searched for the one that broke it.
const MOST_SUSPECTS: usize = 200;

/// Runs set-up, tests and the smoke command on the merged result of a wave.
/// A failing command is evidence, never an error.
pub async fn verify_wave(
    context: &GateContext,
    subject: &WaveSubject<'_>,
    cancel: &CancellationToken,
) -> Result<GateReport, GateError> {
    let prepared = Prepared::new(context, subject.mirror, subject.head, subject.settings, cancel)
        .await?
        .beside_earlier_command(&subject.baseline.commit)
        .await?
        .after(subject.baseline)
        .await?;
    let baseline = subject.baseline;
    let excused = |ran: &Evidence| compare::excused(ran, baseline, subject.waived);
    let is_sound = |ran: &Evidence| compare::is_sound(ran, &excused(ran));
    let tested = prepared.tests(Coverage::NotAsked, is_sound).await?;
    let excused = excused(&tested.tests);
    let mut report = rerun::report(context, &prepared, baseline, &tested, excused, None).await?;
    if let Some(whole) = subject.whole.filter(|_| compare::is_sound(&report.tests, &report.excused)) {
        let (results, questions) = of_whole(context, subject, whole, &prepared, &tested.tests).await?;
        report.more.extend(results);
        report.questions = question::arrange(questions);
    }
    if let Some(smoke) = subject.smoke {
        let evidence = prepared.command(smoke).await?;
        report.more.push(gate_result::result(Gate::Smoke, Weight::Required, evidence));
    }
    Ok(report)
}

/// Reads the table of the four runs for the whole Feature, and runs the checks of its tasks again: results that send it
/// back, and questions to the person who merges it.
async fn of_whole(
    context: &GateContext,
    wave: &WaveSubject<'_>,
    whole: &WholeFeature<'_>,
    prepared: &Prepared<'_>,
    tests: &Evidence,
) -> Result<(Vec<GateResult>, Vec<Question>), GateError> {
    let change = Arc::new(Change::read(wave.mirror, whole.fork, wave.head).await?);
    let subject = Subject {
        mirror: wave.mirror,
        fork: whole.fork,
        head: wave.head,
        task: whole.task,
        smoke: wave.smoke,
        origin: &Origin::Planned,
        mode: wave.settings.mode,
        baseline: wave.baseline,
        before: wave.baseline,
        settings: wave.settings,
        waived: wave.waived,
        people: &[],
    };
    let run = Run { context, subject: &subject, change: &change, prepared };
    let old = if whole.is_one_task { OldTests::ForUntouched } else { OldTests::All };
    let table = TestTable::read(&run, tests, old).await?;
    let (result, mut questions) = report::report(&run, &table, Weight::Required);
    questions.extend(of_feature(&run, &table).await?);
    let result = result.filter(|result| result.evidence.failure().is_some());
    let no_longer = checks::no_longer_held(&run, whole.checks).await?;
    Ok((result.into_iter().chain(no_longer).collect(), questions))
}

/// Returns the commit of the integration branch that caused the failures, by bisecting the commits since the wave's
/// Gates last passed on `green`. `failing` are the failing tests; if it is empty, the wave's smoke command or any test
/// counts. `None` if it cannot be found: nothing was merged since, or a commit could not be judged.
pub async fn blame(
    context: &GateContext,
    wave: &WaveSubject<'_>,
    green: &Sha,
    failing: &[String],
    cancel: &CancellationToken,
) -> Result<Option<Sha>, GateError> {
    let since = first_parents(wave.mirror, green, wave.head).await?;
    let Some(mut bad) = since.len().checked_sub(1) else {
        return Ok(None);
    };
    let mut low = 0;
    while low < bad {
        let middle = low.midpoint(bad);
        let Some(commit) = since.get(middle) else {
            return Ok(None);
        };
        match state(context, wave, commit, failing, cancel).await? {
            WaveState::Broken => bad = middle,
            WaveState::Sound => low = middle.saturating_add(1),
            WaveState::Unknown => return Ok(None),
        }
    }
    Ok(since.get(bad).cloned())
}

/// Returns the commits after `green` up to `head` along first parents, oldest first; empty if `green` is not among
/// them.
async fn first_parents(mirror: &Mirror, green: &Sha, head: &Sha) -> Result<Vec<Sha>, GateError> {
    let mut since = Vec::new();
    let mut at = head.clone();
    while at != *green {
        let info = mirror.commit_info(&at).await?;
        let parent = info.and_then(|info| info.parents.into_iter().next());
        since.push(at);
        match parent {
            Some(parent) if since.len() < MOST_SUSPECTS => at = parent,
            _ => return Ok(Vec::new()),
        }
    }
    since.reverse();
    Ok(since)
}

enum WaveState {
    Broken,
    Sound,
    Unknown,
}

async fn state(
    context: &GateContext,
    wave: &WaveSubject<'_>,
    commit: &Sha,
    failing: &[String],
    cancel: &CancellationToken,
) -> Result<WaveState, GateError> {
    let prepared =
        Prepared::new(context, wave.mirror, commit, wave.settings, cancel).await?.adding(wave.baseline.additions);
    let prepared = prepared.beside_earlier_command(&wave.baseline.commit).await?;
    let evidence = match wave.smoke {
        Some(smoke) => prepared.command(smoke).await?,
        None => {
            let passes = |ran: &Evidence| matches!(ran, Evidence::Passed(_));
            prepared.tests(Coverage::NotAsked, passes).await?.tests
        }
    };
    Ok(match &evidence {
        Evidence::Absent(_) => WaveState::Unknown,
        Evidence::Passed(_) => WaveState::Sound,
        Evidence::Failed(finding) => {
            let is_by_name = !failing.is_empty() && wave.smoke.is_none();
            let fails = |names: &TestNames| names.failed.iter().any(|name| failing.contains(name));
            match finding.names.as_ref().filter(|_| is_by_name) {
                None => WaveState::Broken,
                Some(names) if fails(names) => WaveState::Broken,
                // The run may not have reached the tests.
                Some(_) if compare::is_stopped(finding) => WaveState::Unknown,
                Some(_) => WaveState::Sound,
            }
        }
    })
}
