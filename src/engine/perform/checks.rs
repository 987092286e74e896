//! The check run `AutoBuild`: the verdict in a form that administrators can require.

use crate::{
    engine::{
        job::{Done, EffectError},
        perform::context::EffectContext,
    },
    github::{AnnotationLevel, CheckAction, CheckAnnotation, CheckOutput, CheckReport, GithubError, MOST_ANNOTATIONS},
    messages,
    messages::{Annotation, CheckRun, button},
};
use domain::{
    command::Button,
    feature::{
        event::Event,
        failed_acts::{FailedAct, PublicAct, Replacement},
    },
    ids::{CheckRunId, IssueNumber, Sha, TurnNumber},
    problem::Severity,
    task::{Task, Turn},
};
use std::collections::HashMap;

/// The name of the check, by which a rule can require it.
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
            let annotations = annotations_of_turn(context, task, turn, head).await?;
            publish(context, Some(task), head, &check, buttons(task, number), &annotations).await
        }
        None => Ok(Done::Nothing),
    }
}

/// Publishes, on a commit without a verdict, that the task waits for a person. Does nothing if the task no longer waits
/// or has another head.
pub(super) async fn publish_blocked(context: &EffectContext<'_>, task: &Task, head: &Sha) -> Result<Done, EffectError> {
    let check = messages::blocked_check(&context.feature, task).filter(|_| task.head.as_ref() == Some(head));
    match check {
        Some(check) => publish(context, Some(task), head, &check, every_button(task), &[]).await,
        None => Ok(Done::Nothing),
    }
}

/// Publishes the last wave gate that holds for `on` as a check run on that commit. Without `on`, publishes the last one
/// on its newest commit.
pub(super) async fn publish_wave_check(context: &EffectContext<'_>, on: Option<&Sha>) -> Result<Done, EffectError> {
    let mut gates = context.feature.gates.iter().rev();
    let Some(gate) = gates.find(|gate| on.is_none_or(|head| gate.holds_for(head))) else {
        return Ok(Done::Nothing);
    };
    let check = messages::wave_check(&context.feature, gate);
    let actions = match messages::held_ci(&context.feature, gate) {
        Some(_) => vec![action(Button::RunCi, button::description)],
        None => Vec::new(),
    };
    publish(context, None, on.unwrap_or(gate.newest()), &check, actions, &[]).await
}

/// Returns the buttons of a blocked task, if turn `number` is the one whose check run shows the task's state.
fn buttons(task: &Task, number: TurnNumber) -> Vec<CheckAction> {
    let newest = task.turn_for_check().is_some_and(|newest| newest.number == number);
    if newest && task.is_blocked() { every_button(task) } else { Vec::new() }
}

fn every_button(task: &Task) -> Vec<CheckAction> {
    let describe = match task.inquiries() {
        Some(_) => button::description_for_inquiry,
        None => button::description,
    };
    Button::OF_TASK.map(|button| action(button, describe)).to_vec()
}

fn action(button: Button, describe: fn(Button) -> &'static str) -> CheckAction {
    CheckAction {
        label: button::label(button).to_owned(),
        description: describe(button).to_owned(),
        identifier: button.identifier().to_owned(),
    }
}

async fn publish(
    context: &EffectContext<'_>,
    task: Option<&Task>,
    head: &Sha,
    check: &CheckRun,
    actions: Vec<CheckAction>,
    annotations: &[CheckAnnotation],
) -> Result<Done, EffectError> {
    let id = context.job.effect.id.clone();
    let report = CheckReport {
        name: NAME,
        head,
        external_id: &id,
        conclusion: check.conclusion,
        output: CheckOutput { title: check.title.clone(), summary: check.summary.clone() },
        actions,
    };
    context.may_write().await?;
    match find_or_create(context, &report).await {
        Ok((run, there)) => {
            let left = annotations.get(there..).unwrap_or_default();
            append_annotations(context, run, &report.output, left).await?;
            Ok(Done::Nothing)
        }
        Err(error) if context.is_final(&error) => comment_instead(context, task, check, head, error).await,
        Err(error) => Err(error.into()),
    }
}

/// Returns the check run and its number of annotations. An earlier try may have created it.
async fn find_or_create(
    context: &EffectContext<'_>,
    report: &CheckReport<'_>,
) -> Result<(CheckRunId, usize), GithubError> {
    let repo = context.repo();
    // One from before the database was restored may say something else. GitHub shows the newest of a name, so a second
    // one that says the same is no harm.
    let known = if context.is_fresh || context.is_restored {
        None
    } else {
        repo.find_check(report.head, NAME, report.external_id).await?
    };
    match known {
        Some(run) => Ok((run, repo.annotations_of_check(run).await?)),
        None => Ok((repo.create_check(report).await?, 0)),
    }
}

/// Posts the result as a comment on the pull request or the issue because GitHub refuses the check run.
async fn comment_instead(
    context: &EffectContext<'_>,
    task: Option<&Task>,
    check: &CheckRun,
    head: &Sha,
    error: GithubError,
) -> Result<Done, EffectError> {
    let pull = task.map_or(context.feature.pull, |task| task.pull);
    let pull = pull.map(|pull| (IssueNumber(pull.0), Replacement::PullComment));
    let (thread, instead) = pull.unwrap_or((context.feature.key.issue, Replacement::IssueComment));
    context.may_write().await?;
    context.comment(thread, &messages::check_in_words(check, head)).await?;
    Ok(context.event(Event::FailedAct(FailedAct {
        what: PublicAct::Check,
        task: task.map(|task| task.id),
        instead,
        why: error.reason(),
    })))
}

/// The most bytes of a file that are read to count its lines. A finding beyond them gets no annotation.
const MOST_BYTES: usize = 4 << 20;

/// Returns the annotations for a turn's findings on its commit.
async fn annotations_of_turn(
    context: &EffectContext<'_>,
    task: &Task,
    turn: &Turn,
    head: &Sha,
) -> Result<Vec<CheckAnnotation>, EffectError> {
    let files = messages::annotated_files(task, turn);
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let Some(mirror) = context.mirror_with(head).await? else {
        return Ok(Vec::new());
    };
    let mut lines: HashMap<String, u32> = HashMap::new();
    for path in files {
        if let Some(file) = mirror.read_file(head, &path, MOST_BYTES).await? {
            lines.insert(path, file.line_count());
        }
    }
    let found = messages::annotations(task, turn, &|path| lines.get(path).copied());
    Ok(found.into_iter().map(annotation).collect())
}

fn annotation(found: Annotation) -> CheckAnnotation {
    CheckAnnotation {
        path: found.path,
        line: found.line,
        level: match found.severity {
            Severity::MustFix => AnnotationLevel::Failure,
            Severity::ShouldFix => AnnotationLevel::Warning,
            Severity::NiceToHave => AnnotationLevel::Notice,
        },
        title: found.title,
        message: found.message,
    }
}

/// Adds annotations to a check run, as many per call as GitHub accepts.
async fn append_annotations(
    context: &EffectContext<'_>,
    run: CheckRunId,
    output: &CheckOutput,
    annotations: &[CheckAnnotation],
) -> Result<(), EffectError> {
    for batch in annotations.chunks(MOST_ANNOTATIONS) {
        context.may_write().await?;
        context.repo().annotate_check(run, output, batch).await?;
    }
    Ok(())
}
