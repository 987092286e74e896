//! Notifies the person who labelled the issue that something waits for them, once for each wait.

use crate::{
    engine::{
        job::{Done, EffectError},
        perform::context::EffectContext,
    },
    github::ReviewRequest,
    messages,
};
use domain::{
    effect::Thread,
    feature::Wait,
    ids::{IssueNumber, PullNumber},
};

/// Requests a review if the wait is for one. If that is impossible or the wait is for something else, mentions the
/// person in a comment. Does nothing if the wait is over.
pub(super) async fn ask_person(context: &EffectContext<'_>, wait: &Wait) -> Result<Done, EffectError> {
    let feature = &context.feature;
    if !feature.waits().contains(wait) {
        return Ok(Done::Nothing);
    }
    let (thread, reviewed) = thread_and_pull(context, wait);
    if let Some(pull) = reviewed
        && request_review(context, pull).await?
    {
        return Ok(Done::Nothing);
    }
    if let Some(text) = messages::wait(feature, wait, &context.links().await?) {
        context.may_write().await?;
        context.comment(IssueNumber(thread.number()), &text).await?;
    }
    Ok(Done::Nothing)
}

/// Returns the thread for the mention, and the pull request that the person should review, if any.
fn thread_and_pull(context: &EffectContext<'_>, wait: &Wait) -> (Thread, Option<PullNumber>) {
    let issue = Thread::Issue(context.feature.key.issue);
    match wait {
        Wait::Approval { .. } | Wait::NoPlan | Wait::Ci => (issue, None),
        Wait::Review { pull } => (Thread::Pull(*pull), Some(*pull)),
        Wait::Merge { task, .. } | Wait::MergeRefused { task, .. } => {
            let pull = context.feature.task(*task).and_then(|task| task.pull);
            let reviewed = pull.filter(|_| matches!(wait, Wait::Merge { .. }));
            (pull.map_or(issue, Thread::Pull), reviewed)
        }
    }
}

/// Requests a review. Returns `true` if that notified the person. A request that exists from an earlier wait notifies
/// nobody, but after a failed try or a restore of the database an existing one may be our own and counts. GitHub removes
/// a request that the person has answered, so then a review of the same commit counts too.
async fn request_review(context: &EffectContext<'_>, pull: PullNumber) -> Result<bool, EffectError> {
    let (repo, person) = (context.repo(), &context.feature.snapshot.labelled_by);
    context.may_write().await?;
    let may_have_asked = context.job.failed_before() || context.is_restored;
    if repo.is_review_requested(pull, person).await? {
        return Ok(may_have_asked);
    }
    if may_have_asked && repo.has_reviewed(pull, person).await? {
        return Ok(true);
    }
    match repo.request_review(pull, person).await? {
        ReviewRequest::Requested => Ok(true),
        ReviewRequest::Refused { text } => {
            tracing::info!(%pull, "{} cannot be asked for a review of {pull}: {text}", person.login);
            Ok(false)
        }
    }
}
