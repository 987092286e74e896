//! The check run `AutoBuild`: the verdict where administrators can require it.

use crate::{
    engine::{
        ingest::button::Button,
        job::{Done, EffectError},
        perform::{EffectContext, annotations},
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
pub(super) async fn publish_check(
    context: &EffectContext<'_>,
    task: &Task,
    number: TurnNumber,
) -> Result<Done, EffectError> {
    let Some(turn) = task.turn(number) else {
        return Ok(Done::Nothing);
    };
    let Some(head) = &turn.head else {
        return Ok(Done::Nothing);
    };
    match messages::check_run(&context.feature, task, turn, &context.links().await?) {
        Some(check) => {
            let annotations = annotations::of_turn(context, task, turn, head).await?;
            publish(context, (Some(task), head), &check, buttons(task, number), &annotations).await
        }
        None => Ok(Done::Nothing),
    }
}

/// Publishes on a commit that nobody judged that the task waits for a person, while it does and this is its head.
pub(super) async fn publish_blocked(context: &EffectContext<'_>, task: &Task, head: &Sha) -> Result<Done, EffectError> {
    let check = messages::blocked_check(&context.feature, task).filter(|_| task.head.as_ref() == Some(head));
    match check {
        Some(check) => publish(context, (Some(task), head), &check, every_button(), &[]).await,
        None => Ok(Done::Nothing),
    }
}

/// Publishes the last wave gate on the integration branch's head.
pub(super) async fn publish_wave_check(context: &EffectContext<'_>) -> Result<Done, EffectError> {
    let Some(gate) = context.feature.gates.last() else {
        return Ok(Done::Nothing);
    };
    let check = messages::wave_check(&context.feature, gate);
    publish(context, (None, gate.newest()), &check, Vec::new(), &[]).await
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
    context: &EffectContext<'_>,
    (task, head): (Option<&Task>, &Sha),
    check: &CheckRun,
    actions: Vec<CheckAction>,
    annotations: &[CheckAnnotation],
) -> Result<Done, EffectError> {
    let conclusion = match check.conclusion {
        Conclusion::Success => CheckConclusion::Success,
        Conclusion::Failure => CheckConclusion::Failure,
        Conclusion::ActionRequired => CheckConclusion::ActionRequired,
    };
    let id = context.job.effect.id.clone();
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
    context.may_write()?;
    match made(context, &report).await {
        Ok((run, there)) => {
            let left = annotations.get(there..).unwrap_or_default();
            annotations::append(context, run, &report.output, left).await?;
            Ok(Done::Nothing)
        }
        Err(error) if context.is_final(&error) => in_words(context, task, check, head, error).await,
        Err(error) => Err(error.into()),
    }
}

/// The check run, and how many annotations it has: an earlier try may have made it.
async fn made(context: &EffectContext<'_>, report: &CheckReport<'_>) -> Result<(CheckRunId, usize), GithubError> {
    let repo = context.repo();
    let known = match context.job.is_fresh() {
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
    context: &EffectContext<'_>,
    task: Option<&Task>,
    check: &CheckRun,
    head: &Sha,
    error: GithubError,
) -> Result<Done, EffectError> {
    let pull = task.map_or(context.feature.pull, |task| task.pull);
    let pull = pull.map(|pull| (IssueNumber(pull.0), Instead::PullComment));
    let (thread, instead) = pull.unwrap_or((context.key().issue, Instead::IssueComment));
    context.may_write_again().await?;
    context.comment(thread, &messages::check_in_words(check, head)).await?;
    Ok(context.event(Event::Unsaid(Unsaid {
        what: Saying::Check,
        task: task.map(|task| task.id),
        instead,
        why: error.to_string(),
    })))
}
