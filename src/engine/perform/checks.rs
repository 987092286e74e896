//! The check run `AutoBuild`: the verdict where administrators can require it.

use crate::domain::ids::Sha;
use crate::domain::ids::TurnNumber;
use crate::domain::task::Task;
use crate::engine::ingest::button::Button;
use crate::engine::job::Done;
use crate::engine::job::Undone;
use crate::engine::perform::Scene;
use crate::engine::perform::annotations;
use crate::github::CheckAction;
use crate::github::CheckAnnotation;
use crate::github::CheckConclusion;
use crate::github::CheckOutput;
use crate::github::CheckReport;
use crate::messages;
use crate::messages::CheckRun;
use crate::messages::Conclusion;

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
            publish(scene, head, &check, buttons(task, number), &annotations).await
        }
        None => Ok(Done::Nothing),
    }
}

/// Publishes on a commit that nobody judged that the task waits for a person, while it does and this is its head.
pub(super) async fn publish_blocked(scene: &Scene<'_>, task: &Task, head: &Sha) -> Result<Done, Undone> {
    let check = messages::blocked_check(&scene.feature, task).filter(|_| task.head.as_ref() == Some(head));
    match check {
        Some(check) => publish(scene, head, &check, every_button(), &[]).await,
        None => Ok(Done::Nothing),
    }
}

/// Publishes the last wave gate on the integration branch's head.
pub(super) async fn publish_wave_check(scene: &Scene<'_>) -> Result<Done, Undone> {
    let Some(gate) = scene.feature.gates.last() else {
        return Ok(Done::Nothing);
    };
    let check = messages::wave_check(&scene.feature, gate);
    publish(scene, &gate.head, &check, Vec::new(), &[]).await
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
    head: &Sha,
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
    let repo = scene.repo();
    scene.may_write()?;
    let known = match scene.job.is_fresh() {
        true => None,
        false => repo.find_check(head, NAME, &id).await?,
    };
    let (run, there) = match known {
        Some(run) => (run, repo.annotations_of_check(run).await?),
        None => (repo.create_check(&report).await?, 0),
    };
    annotations::append(scene, run, &report.output, annotations.get(there..).unwrap_or_default()).await?;
    Ok(Done::Nothing)
}
