//! Reads the repository's own CI: the checks of other Apps on the turn's commit. It never blocks a worker: if a result
//! is missing, the effect looks again later.

use crate::{
    engine::{
        job::{Done, EffectError},
        perform::{coach::fork_point, context::EffectContext, turn},
    },
    gates,
    github::{GithubError, SeenApp, SeenCheck, SeenStatus},
};
use domain::{
    blocked::Defect,
    ci,
    ci::{BeforeChange, CheckOrigin, CheckRelation, CiCheck, CiReading, CiSays},
    evidence::GateResult,
    feature::event::Event,
    ids::{AppId, Emission, Millis, PullNumber, Sha},
    task,
    task::Task,
};
use git::Mirror;
use runners::workflows::{Jobs, is_workflow};
use std::collections::BTreeMap;
use text::shorten;

/// The most workflows that are read, and the largest size of one in bytes.
const MOST_WORKFLOWS: usize = 100;
const MAX_WORKFLOW: usize = 256 * 1024;

/// The longest output of one check that the Player gets, in characters.
const MAX_OUTPUT: usize = 4_000;

/// The longest name of a check that is shown, in characters.
const MAX_NAME: usize = 120;

/// Reads the checks once. Ends if CI has finished or its time is over.
pub(super) async fn ci(context: &EffectContext<'_>, task: &Task, emission: Emission) -> Result<Done, EffectError> {
    let (turn, head) = turn::open(task)?;
    if is_held(context, head).await? {
        let (head, result) = (head.clone(), Box::new(ci::result_while_held()));
        return Ok(context.task_event(task.id, task::Event::CiRead { emission, head, result }));
    }
    let since = turn.ci_since.unwrap_or(turn.started_at);
    let result = await_end(context, Change { head, pull: task.pull, base: None }, since).await?;
    let head = head.clone();
    Ok(context.task_event(task.id, task::Event::CiRead { emission, head, result }))
}

/// Reads the checks on the feature pull request once, after the wave gate on its head has ended, so that one task
/// repairs the findings of both.
pub(super) async fn of_feature(
    context: &EffectContext<'_>,
    emission: Emission,
    since: Millis,
) -> Result<Done, EffectError> {
    let feature = &context.feature;
    let (Some(head), true) = (feature.reviewed_head(), feature.reading_ci == Some(emission)) else {
        return Ok(Done::Nothing);
    };
    if feature.checking.is_some() {
        let until = context.engine.now().plus(context.engine.settings.ci.every);
        return Err(EffectError::Waiting { until });
    }
    let base =
        Some(&feature.integration.as_ref().ok_or_else(|| EffectError::defect(Defect::NoIntegrationBranch))?.base);
    let result = await_end(context, Change { head, pull: feature.pull, base }, since).await?;
    let head = head.clone();
    Ok(context.event(Event::CiRead { emission, head, result }))
}

/// The commit whose checks are read.
#[derive(Clone, Copy)]
struct Change<'a> {
    head: &'a Sha,
    pull: Option<PullNumber>,
    /// The commit from which it starts; `None` for a task, which starts at its fork from the integration branch.
    base: Option<&'a Sha>,
}

/// Returns the result of CI; the error says when to look again if it has not ended.
async fn await_end(
    context: &EffectContext<'_>,
    change: Change<'_>,
    since: Millis,
) -> Result<Box<GateResult>, EffectError> {
    let times = context.engine.settings.ci;
    let read = read_checks(context, change).await;
    let now = context.engine.now();
    let reading = match read {
        Ok(checks) => ci::reading(&checks, since, now, &times),
        Err(error) => {
            let error = EffectError::from(error);
            let is_late = now >= since.plus(times.deadline);
            if matches!(error, EffectError::Limited { .. } | EffectError::Suspended) && !is_late {
                return Err(error);
            }
            ci::unreadable(&error.to_string(), since, now, &times)
        }
    };
    match reading {
        CiReading::Again(until) => Err(EffectError::Waiting { until }),
        CiReading::Ended(result) => Ok(result),
    }
}

/// `true` if AutoBuild held CI on the commit. Nothing will report on it, even if CI was let run since.
async fn is_held(context: &EffectContext<'_>, head: &Sha) -> Result<bool, EffectError> {
    let info = context.holding(head).await?.commit_info(head).await?;
    Ok(info.is_some_and(|info| ci::without_held_line(&info.message) != info.message.trim_end()))
}

/// A check, with its text without addresses.
struct Report {
    check: CiCheck,
    words: String,
    reporter: Reporter,
    relation: CheckRelation,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Reporter {
    Actions,
    Other,
}

/// Returns all checks and statuses of others on the commit.
pub(super) async fn checks(context: &EffectContext<'_>, head: &Sha) -> Result<Vec<CiCheck>, GithubError> {
    let reports = reports(context, head, None).await?;
    Ok(reports.into_iter().map(|report| report.check).collect())
}

/// Returns the results of others on a commit; of check runs, those of the pull request if there is one.
async fn reports(context: &EffectContext<'_>, head: &Sha, of: Option<PullNumber>) -> Result<Vec<Report>, GithubError> {
    let repo = context.repo();
    let ours = context.engine.own_apps();
    let mut found = newest(repo.seen_checks(head, of).await?, &ours);
    found.extend(repo.seen_statuses(head).await?.iter().map(status));
    let secrets = &context.engine.secrets;
    for Report { check, .. } in &mut found {
        check.name = shorten::middle(&secrets.mask(&check.name), MAX_NAME);
        if let CiSays::Failed(output) = &mut check.says {
            *output = shorten::middle(&secrets.mask(output), MAX_OUTPUT);
        }
    }
    Ok(found)
}

/// Returns the checks on a commit. Those that judge the pull request and not the code are marked.
async fn read_checks(context: &EffectContext<'_>, change: Change<'_>) -> Result<Vec<CiCheck>, GithubError> {
    let mut found = reports(context, change.head, change.pull).await?;
    if found.iter().any(|report| matches!(report.check.says, CiSays::Failed(_)))
        && let Err(error) = judge(context, change, &mut found).await
    {
        tracing::warn!(%error, "what failed checks judge could not be read, so they count as judging the code");
    }
    Ok(found.into_iter().map(|report| report.check).collect())
}

async fn judge(context: &EffectContext<'_>, change: Change<'_>, found: &mut [Report]) -> Result<(), EffectError> {
    let head = change.head;
    let mirror = context.holding(head).await?;
    let mut jobs = Jobs::default();
    workflows(&mirror, head).await?.iter().for_each(|text| jobs.add(text));
    let fork = match change.base {
        Some(base) => base.clone(),
        None => fork_point(context, &mirror, head).await?,
    };
    let changed = mirror.diff_raw(&fork, head).await?;
    let changed: Vec<String> = changed.iter().map(|change| change.path.to_string()).collect();
    let mut before: Option<Vec<Report>> = None;
    for report in found {
        let CiSays::Failed(_) = report.check.says else { continue };
        let names_file = changed.iter().any(|path| report.words.contains(path.as_str()));
        let relation = if names_file { CheckRelation::AtFiles } else { report.relation };
        let origin = match (jobs.origin(&report.check.name), report.reporter) {
            (Some(origin), _) => origin,
            (None, Reporter::Actions) => CheckOrigin::CodeJob,
            (None, Reporter::Other) => {
                if before.is_none() {
                    before = Some(without_change(context, &fork).await?);
                }
                CheckOrigin::Elsewhere(before_change(report, before.as_deref().unwrap_or_default()))
            }
        };
        if let Some(why) = ci::judges_pull(origin, relation) {
            report.check.says = CiSays::FailedOnPull(why);
        }
    }
    Ok(())
}

/// Returns the checks on the commits from which the change starts: its fork from the integration branch, and the commit
/// of the default branch.
async fn without_change(context: &EffectContext<'_>, fork: &Sha) -> Result<Vec<Report>, EffectError> {
    let base = context.feature.integration.as_ref().map(|integration| &integration.base);
    let mut found = reports(context, fork, None).await?;
    if let Some(base) = base.filter(|base| *base != fork) {
        found.extend(reports(context, base, None).await?);
    }
    Ok(found)
}

fn before_change(report: &Report, before: &[Report]) -> BeforeChange {
    let same: Vec<&Report> = before.iter().filter(|known| known.check.name == report.check.name).collect();
    let is_alike = |known: &&Report| matches!(known.check.says, CiSays::Failed(_)) && known.words == report.words;
    match same.as_slice() {
        [] => BeforeChange::Missing,
        same if same.iter().all(is_alike) => BeforeChange::FailedAlike,
        _ => BeforeChange::Differs,
    }
}

async fn workflows(mirror: &Mirror, head: &Sha) -> Result<Vec<String>, EffectError> {
    let paths = gates::commands::paths(mirror, head).await?;
    let mut texts = Vec::new();
    for path in paths.iter().filter(|path| is_workflow(path)).take(MOST_WORKFLOWS) {
        if let Some(file) = mirror.read_file(head, path, MAX_WORKFLOW).await? {
            texts.push(file.text());
        }
    }
    Ok(texts)
}

/// Returns the newest run of each name, without those of our own Apps. Runs of different suites are different checks.
fn newest(runs: Vec<SeenCheck>, ours: &[AppId]) -> Vec<Report> {
    let mut newest = BTreeMap::new();
    for run in runs {
        let app = run.app.as_ref().map(|app| AppId(app.id));
        if app.is_some_and(|app| ours.contains(&app)) {
            continue;
        }
        let key = (run.name.clone(), app, run.suite);
        let known: Option<&SeenCheck> = newest.get(&key);
        if known.is_none_or(|known| known.id < run.id) {
            newest.insert(key, run);
        }
    }
    newest.values().map(report).collect()
}

fn report(run: &SeenCheck) -> Report {
    let shown = run.output.clone().unwrap_or_default();
    let is_annotated = shown.annotations_count.is_some_and(|count| count > 0);
    Report {
        check: check(run),
        words: [shown.title, shown.summary, shown.text].join("\n"),
        reporter: if run.app.as_ref().is_some_and(SeenApp::is_actions) { Reporter::Actions } else { Reporter::Other },
        relation: if is_annotated { CheckRelation::AtFiles } else { CheckRelation::Nowhere },
    }
}

fn check(run: &SeenCheck) -> CiCheck {
    let says = match (run.status.as_str(), run.conclusion.as_str()) {
        ("completed", "success" | "neutral" | "skipped") => CiSays::Passed,
        ("completed", "failure" | "timed_out") => CiSays::Failed(output(run)),
        ("completed", "") => CiSays::NoAnswer("completed without a conclusion".to_owned()),
        ("completed", other) => CiSays::NoAnswer(other.to_owned()),
        (status, _) => CiSays::Running(status.replace('_', " ")),
    };
    CiCheck { name: run.name.clone(), says, at: run.completed_at }
}

fn output(run: &SeenCheck) -> String {
    let shown = run.output.clone().unwrap_or_default();
    let timed_out = (run.conclusion == "timed_out").then(|| "it took too long".to_owned());
    let parts = [shown.title, shown.summary, shown.text, run.details_url.clone()];
    let parts = timed_out.into_iter().chain(parts);
    let said: Vec<String> = parts.filter(|part| !part.trim().is_empty()).collect();
    said.join("\n")
}

/// Converts a commit status. The state `error` means that CI itself failed, not the commit.
fn status(status: &SeenStatus) -> Report {
    let said = [status.description.as_str(), status.target_url.as_str()];
    let said: Vec<&str> = said.into_iter().filter(|part| !part.trim().is_empty()).collect();
    let check = CiCheck {
        name: status.context.clone(),
        says: match status.state.as_str() {
            "success" => CiSays::Passed,
            "failure" => CiSays::Failed(said.join("\n")),
            "pending" => CiSays::Running("pending".to_owned()),
            other => CiSays::NoAnswer(other.to_owned()),
        },
        at: status.updated_at,
    };
    Report { check, words: status.description.clone(), reporter: Reporter::Other, relation: CheckRelation::Nowhere }
}
