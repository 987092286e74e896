//! Posts verdicts and blocked reports as pull request reviews.

use crate::{
    engine::{
        job::{Done, EffectError},
        perform::{coach::fork_point, context::EffectContext, post, post::Post},
    },
    github::{ReviewEvent, model::ReviewState},
    messages,
    messages::{Links, ReviewedDiff},
};
use domain::{
    decision::Outcome,
    effect::DismissedWhy,
    feature::failed_acts::PublicAct,
    ids::{IssueNumber, TurnNumber, User},
    task::{Task, Turn},
};
use git::Mirror;

/// Posts the verdict of a turn, using only the stored turn.
pub(super) async fn post_review(
    context: &EffectContext<'_>,
    task: &Task,
    number: TurnNumber,
) -> Result<Done, EffectError> {
    post_turn(context, task, number, |turn, links, change| {
        messages::review(&context.feature, task, turn, None, links, change)
    })
    .await
}

/// Posts the verdict of the turn that blocked the task together with the blocked report.
pub(super) async fn post_blocked_review(
    context: &EffectContext<'_>,
    task: &Task,
    number: TurnNumber,
) -> Result<Done, EffectError> {
    let cost = context.spending().await?.of_task(task.id);
    post_turn(context, task, number, |turn, links, change| {
        messages::review(&context.feature, task, turn, Some(cost), links, change)
    })
    .await
}

async fn post_turn(
    context: &EffectContext<'_>,
    task: &Task,
    number: TurnNumber,
    write: impl FnOnce(&Turn, &Links, ReviewedDiff<'_>) -> Option<messages::Review>,
) -> Result<Done, EffectError> {
    let (Some(turn), Some(pull)) = (task.turn(number), task.pull) else {
        return Ok(Done::Nothing);
    };
    let Some(commit) = turn.head.as_ref().or(task.head.as_ref()) else {
        return Ok(Done::Nothing);
    };
    // Without the commit, which a person may have taken off the branch, there are no lines to point at.
    let (shown, files) = match context.mirror_with(commit).await? {
        Some(mirror) => {
            let shown = mirror.hunks(&fork_point(context, &mirror, commit).await?, commit).await?;
            (shown, files_of_turn(&mirror, turn).await?)
        }
        None => Default::default(),
    };
    let links = context.links().await?;
    let in_diff = |path: &str, line: u32| shown.shows(path, line);
    let change = ReviewedDiff { in_diff: &in_diff, files: &files };
    let Some(review) = write(turn, &links, change) else {
        return Ok(Done::Nothing);
    };
    let event = match review.outcome {
        Outcome::Approve => ReviewEvent::Approve,
        Outcome::Feedback => ReviewEvent::RequestChanges,
    };
    let folded = messages::fold_inline(&review);
    let what = PublicAct::Review;
    let (body, inline, folded) = (review.body.as_str(), review.inline.as_slice(), folded.as_str());
    let post = Post { what, task: task.id, pull, commit, event, body, inline, folded };
    post::post(context, &post).await
}

/// Returns the files that the turn changed. There are none if it has no commit, or if its starting commit is gone.
async fn files_of_turn(mirror: &Mirror, turn: &Turn) -> Result<Vec<String>, EffectError> {
    let (Some(base), Some(head)) = (&turn.base, &turn.head) else {
        return Ok(Vec::new());
    };
    if !mirror.has_commit(base).await? {
        return Ok(Vec::new());
    }
    let changed = mirror.changed_files(base, head).await?;
    Ok(changed.into_iter().map(|file| file.path.to_string()).collect())
}

/// Posts the blocked report on the pull request, or on the issue if there is none. Questions are a comment.
pub(super) async fn post_blocked(context: &EffectContext<'_>, task: &Task) -> Result<Done, EffectError> {
    let cost = context.spending().await?.of_task(task.id);
    let text = messages::blocked_report(&context.feature, task, cost, &context.links().await?);
    let Some(text) = text else { return Ok(Done::Nothing) };
    match (task.pull, task.head.as_ref()) {
        // A question is no verdict on the work.
        (Some(pull), _) if task.inquiries().is_some() => {
            context.may_write().await?;
            context.comment(IssueNumber(pull.0), &text).await?;
            Ok(Done::Nothing)
        }
        (Some(pull), Some(head)) => {
            let post = Post {
                what: PublicAct::Report,
                task: task.id,
                pull,
                commit: head,
                event: ReviewEvent::RequestChanges,
                body: &text,
                inline: &[],
                folded: &text,
            };
            post::post(context, &post).await
        }
        _ => {
            context.may_write().await?;
            context.comment(context.feature.key.issue, &text).await?;
            Ok(Done::Nothing)
        }
    }
}

/// Dismisses the Coach's open requests for changes, as the AutoBuild App. They exist even if the Coach App was
/// uninstalled or reinstalled, so no installation of it is looked up.
pub(super) async fn dismiss_review(
    context: &EffectContext<'_>,
    task: &Task,
    by: &User,
    why: DismissedWhy,
) -> Result<Done, EffectError> {
    let (Some(pull), Some(coach)) = (task.pull, &context.engine.coach) else {
        return Ok(Done::Nothing);
    };
    let login = coach.identity().await?.bot_login();
    let repo = context.repo();
    let text = messages::dismissal(why, by);
    for review in repo.reviews(pull).await? {
        let author = review.author.as_ref();
        let theirs = author.is_some_and(|author| author.user.login.eq_ignore_ascii_case(&login));
        if theirs && review.state == ReviewState::ChangesRequested {
            context.may_write().await?;
            repo.dismiss_review(pull, review.id, &text).await?;
        }
    }
    Ok(Done::Nothing)
}
