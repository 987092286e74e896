//! The check run `AutoBuild`: the verdict where administrators can require it.

use crate::{
    engine::{
        ingest::button::Button,
        job::{Done, Undone},
        perform::{Scene, annotations},
    },
    github::{CheckAction, CheckAnnotation, CheckConclusion, CheckOutput, CheckReport, GithubError},
    messages,
    messages::{CheckRun, Conclusion},
};
use domain::{
    feature::{
        event::Event,
        unsaid::{Instead, Saying, Unsaid},
    },
    ids::{CheckRunId, IssueNumber, Sha, TurnNumber},
    task::Task,
};

/// The name under which the check can be required.
const NAME: &str = "AutoBuild";

/// Publishes the verdict of a turn on its commit.
pub(super) async fn publish_check(scene: &Scene<'_>, task: &Task, number: TurnNumber) -> Result<Done, Undone> {
    let Some(turn) = task.turn(number) else {
        return Ok(Done::Nothing);
    };
    let Some(head) = &turn.head else {
        return Ok(Done::Nothing);
    };
    match messages::check_run(&scene.feature, task, turn, &scene.links().await?) {
        Some(check) => {
            let annotations = annotations::of_turn(scene, task, turn, head).await?;
            publish(scene, (Some(task), head), &check, buttons(task, number), &annotations).await
        }
        None => Ok(Done::Nothing),
    }
}

/// Publishes on a commit that nobody judged that the task waits for a person, while it does and this is its head.
pub(super) async fn publish_blocked(scene: &Scene<'_>, task: &Task, head: &Sha) -> Result<Done, Undone> {
    let check = messages::blocked_check(&scene.feature, task).filter(|_| task.head.as_ref() == Some(head));
    match check {
        Some(check) => publish(scene, (Some(task), head), &check, every_button(), &[]).await,
        None => Ok(Done::Nothing),
    }
}

/// Publishes the last wave gate on the integration branch's head.
pub(super) async fn publish_wave_check(scene: &Scene<'_>) -> Result<Done, Undone> {
    let Some(gate) = scene.feature.gates.last() else {
        return Ok(Done::Nothing);
    };
    let check = messages::wave_check(&scene.feature, gate);
    publish(scene, (None, gate.newest()), &check, Vec::new(), &[]).await
}

/// The buttons of a blocked task, on the check run of its newest turn.
fn buttons(task: &Task, number: TurnNumber) -> Vec<CheckAction> {
    let newest = task.turns.last().is_some_and(|last| last.number == number);
    match newest && task.is_blocked() {
        true => every_button(),
        false => Vec::new(),
    }
}

fn every_button() -> Vec<CheckAction> {
    let action = |button: Button| CheckAction {
        label: button.label().to_owned(),
        description: button.description().to_owned(),
        identifier: button.identifier().to_owned(),
    };
    Button::ALL.map(action).to_vec()
}

async fn publish(
    scene: &Scene<'_>,
    (task, head): (Option<&Task>, &Sha),
    check: &CheckRun,
    actions: Vec<CheckAction>,
    annotations: &[CheckAnnotation],
) -> Result<Done, Undone> {
    let conclusion = match check.conclusion {
        Conclusion::Success => CheckConclusion::Success,
        Conclusion::Failure => CheckConclusion::Failure,
        Conclusion::Neutral => CheckConclusion::Neutral,
        Conclusion::ActionRequired => CheckConclusion::ActionRequired,
    };
    let id = scene.job.effect.id.clone();
    let report = CheckReport {
        name: NAME,
        head,
        external_id: &id,
        conclusion: Some(conclusion),
        output: CheckOutput {
            title: check.title.clone(),
            summary: check.summary.clone(),
        },
        actions,
    };
    scene.may_write()?;
    match made(scene, &report).await {
        Ok((run, there)) => {
            let left = annotations.get(there..).unwrap_or_default();
            annotations::append(scene, run, &report.output, left).await?;
            Ok(Done::Nothing)
        }
        Err(error) if scene.is_final(&error) => in_words(scene, task, check, head, error).await,
        Err(error) => Err(error.into()),
    }
}

/// The check run, and how many annotations it has: an earlier try may have made it.
async fn made(scene: &Scene<'_>, report: &CheckReport<'_>) -> Result<(CheckRunId, usize), GithubError> {
    let repo = scene.repo();
    let known = match scene.job.is_fresh() {
        true => None,
        false => repo.find_check(report.head, NAME, report.external_id).await?,
    };
    match known {
        Some(run) => Ok((run, repo.annotations_of_check(run).await?)),
        None => Ok((repo.create_check(report).await?, 0)),
    }
}

/// Says in a comment what no check run can say, on the pull request that it is about, else on the issue.
async fn in_words(
    scene: &Scene<'_>,
    task: Option<&Task>,
    check: &CheckRun,
    head: &Sha,
    error: GithubError,
) -> Result<Done, Undone> {
    let pull = task.map_or(scene.feature.pull, |task| task.pull);
    let pull = pull.map(|pull| (IssueNumber(pull.0), Instead::PullComment));
    let (thread, instead) = pull.unwrap_or((scene.key().issue, Instead::IssueComment));
    scene.may_write_again().await?;
    scene.comment(thread, &messages::check_in_words(check, head)).await?;
    Ok(scene.event(Event::Unsaid(Unsaid {
        what: Saying::Check,
        task: task.map(|task| task.id),
        instead,
        why: error.to_string(),
    })))
}
