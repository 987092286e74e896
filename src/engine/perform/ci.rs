//! Reads the repository's own CI: the checks of other Apps on the turn's commit. It never blocks a worker: if a result
//! is missing, the effect looks again later.

use crate::{
    engine::{
        job::{Done, EffectError},
        perform::{context::EffectContext, turn},
    },
    gates,
    gates::workflows::{Jobs, is_workflow},
    github::{GithubError, SeenCheck, SeenStatus},
};
use domain::{
    ci,
    ci::{CiCheck, CiReading, CiSays},
    ids::{AppId, Emission, Sha},
    shorten, task,
    task::Task,
};
use std::collections::BTreeMap;

/// The most workflows that are read, and the largest size of one in bytes.
const MOST_WORKFLOWS: usize = 100;
const MAX_WORKFLOW: usize = 256 * 1024;

/// The longest output of one check that the Player gets, in characters.
const MAX_OUTPUT: usize = 4_000;

/// The longest name of a check that is shown, in characters.
const MAX_NAME: usize = 120;

/// Looks once. Ends if CI has finished or its time is over.
pub(super) async fn ci(context: &EffectContext<'_>, task: &Task, emission: Emission) -> Result<Done, EffectError> {
    let (turn, head) = turn::open(task)?;
    let since = turn.ci_since.unwrap_or(turn.started_at);
    let times = context.engine.settings.ci;
    let read = checks(context, head).await;
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
        CiReading::Ended(result) => {
            let head = head.clone();
            Ok(context.task_event(task.id, task::Event::CiRead { emission, head, result }))
        }
    }
}

/// Returns all checks and statuses of others on the commit.
pub(super) async fn checks(context: &EffectContext<'_>, head: &Sha) -> Result<Vec<CiCheck>, GithubError> {
    let repo = context.repo();
    let ours = context.engine.own_apps();
    let mut found = newest(repo.seen_checks(head).await?, &ours);
    let jobs = jobs(context, head, &found).await;
    for check in found.iter_mut().filter(|check| jobs.judges_the_pull(&check.name)) {
        if matches!(check.says, CiSays::Failed(_)) {
            check.says = CiSays::FailedOnPull;
        }
    }
    found.extend(repo.seen_statuses(head).await?.iter().map(status));
    let secrets = &context.engine.secrets;
    for check in &mut found {
        check.name = shorten::middle(&secrets.mask(&check.name), MAX_NAME);
        if let CiSays::Failed(output) = &mut check.says {
            *output = shorten::middle(&secrets.mask(output), MAX_OUTPUT);
        }
    }
    Ok(found)
}

/// Returns the jobs of the commit's workflows, if a check failed. Where they cannot be read, every check judges the code.
async fn jobs(context: &EffectContext<'_>, head: &Sha, checks: &[CiCheck]) -> Jobs {
    let mut jobs = Jobs::default();
    if !checks.iter().any(|check| matches!(check.says, CiSays::Failed(_))) {
        return jobs;
    }
    match workflows(context, head).await {
        Ok(texts) => texts.iter().for_each(|text| jobs.add(text)),
        Err(error) => tracing::warn!(%error, "workflows could not be read"),
    }
    jobs
}

async fn workflows(context: &EffectContext<'_>, head: &Sha) -> Result<Vec<String>, EffectError> {
    let mirror = context.holding(head).await?;
    let paths = gates::commands::paths(&mirror, head).await?;
    let mut texts = Vec::new();
    for path in paths.iter().filter(|path| is_workflow(path)).take(MOST_WORKFLOWS) {
        if let Some(file) = mirror.read_file(head, path, MAX_WORKFLOW).await? {
            texts.push(file.text());
        }
    }
    Ok(texts)
}

/// Returns the newest run of each name, without those of our own Apps. Runs of different suites are different checks.
fn newest(runs: Vec<SeenCheck>, ours: &[AppId]) -> Vec<CiCheck> {
    let mut newest = BTreeMap::new();
    for run in runs {
        if run.app.is_some_and(|app| ours.contains(&app)) {
            continue;
        }
        let key = (run.name.clone(), run.app, run.suite);
        let known: Option<&SeenCheck> = newest.get(&key);
        if known.is_none_or(|known| known.id < run.id) {
            newest.insert(key, run);
        }
    }
    newest.values().map(check).collect()
}

fn check(run: &SeenCheck) -> CiCheck {
    let says = match (run.status.as_str(), run.conclusion.as_str()) {
        ("completed", "success" | "neutral" | "skipped") => CiSays::Passed,
        ("completed", "failure" | "timed_out") => CiSays::Failed(output(run)),
        ("completed", "") => CiSays::NoAnswer("completed without a conclusion".to_owned()),
        ("completed", other) => CiSays::NoAnswer(other.to_owned()),
        (status, _) => CiSays::Running(status.replace('_', " ")),
    };
    CiCheck {
        name: run.name.clone(),
        says,
        at: run.completed_at,
    }
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
fn status(status: &SeenStatus) -> CiCheck {
    let said = [status.description.as_str(), status.target_url.as_str()];
    let said: Vec<&str> = said.into_iter().filter(|part| !part.trim().is_empty()).collect();
    CiCheck {
        name: status.context.clone(),
        says: match status.state.as_str() {
            "success" => CiSays::Passed,
            "failure" => CiSays::Failed(said.join("\n")),
            "pending" => CiSays::Running("pending".to_owned()),
            other => CiSays::NoAnswer(other.to_owned()),
        },
        at: status.updated_at,
    }
}
