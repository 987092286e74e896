//! Posts a review in the best form that GitHub accepts: the Coach App's review, a comment review by the AutoBuild App,
//! a comment on the pull request, or one on the issue. The Feature records any form but the usual one.

use crate::{
    engine::{
        job::{Done, EffectError},
        perform::context::EffectContext,
    },
    github::{GithubError, NewReview, PostedReview, Repo, ReviewEvent, model::Review},
    store::WaitsOn,
};
use domain::{
    feature::{
        event::Event,
        failed_acts::{FailedAct, PublicAct, Replacement},
    },
    ids::{IssueNumber, PullNumber, Sha, TaskId},
    inline_comment::InlineComment,
};

/// A review to be posted in any form.
pub(super) struct Post<'a> {
    pub(super) what: PublicAct,
    pub(super) task: TaskId,
    pub(super) pull: PullNumber,
    pub(super) commit: &'a Sha,
    pub(super) event: ReviewEvent,
    pub(super) body: &'a str,
    pub(super) inline: &'a [InlineComment],
    /// The text with the comments on lines folded into it.
    pub(super) folded: &'a str,
}

/// Posts once, in the first form that GitHub accepts.
pub(super) async fn post(context: &EffectContext<'_>, post: &Post<'_>) -> Result<Done, EffectError> {
    context.may_write().await?;
    let by_coach = by_coach(context, post).await?;
    let refused = match by_coach {
        ByCoach::Posted => return Ok(Done::Nothing),
        ByCoach::NotInstalled => None,
        ByCoach::Refused { why } => {
            context.may_write().await?;
            Some(why)
        }
    };
    // The AutoBuild App opened the pull request, so GitHub accepts only comment reviews from it.
    let by_autobuild = review(context, &context.repo(), post, ReviewEvent::Comment).await?;
    let refused = match (by_autobuild, refused) {
        (Ok(()), None) => return Ok(Done::Nothing),
        (Ok(()), Some(why)) => return Ok(report_failed_act(context, post, Replacement::CommentReview, why)),
        (Err(error), earlier) if context.is_final(&error) => earlier.unwrap_or_else(|| error.reason()),
        (Err(error), _) => return Err(error.into()),
    };
    let threads =
        [(IssueNumber(post.pull.0), Replacement::PullComment), (context.feature.key.issue, Replacement::IssueComment)];
    for (thread, instead) in threads {
        context.may_write().await?;
        match context.comment(thread, post.folded).await {
            Ok(()) => return Ok(report_failed_act(context, post, instead, refused)),
            Err(error) if context.is_final(&error) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(EffectError::refused(refused))
}

fn report_failed_act(context: &EffectContext<'_>, post: &Post<'_>, instead: Replacement, why: String) -> Done {
    context.event(Event::FailedAct(FailedAct { what: post.what, task: Some(post.task), instead, why }))
}

enum ByCoach {
    Posted,
    /// There is no Coach App here, so the AutoBuild App posts a comment review.
    NotInstalled,
    Refused {
        why: String,
    },
}

/// Posts as the Coach App. If a call finds the App's installation gone, looks it up once more.
async fn by_coach(context: &EffectContext<'_>, post: &Post<'_>) -> Result<ByCoach, EffectError> {
    let mut refused = None;
    for _ in 0..2 {
        let failed = match context.coach_repo().await {
            Ok(None) => break,
            Ok(Some(coach)) => match review(context, &coach, post, post.event).await? {
                Ok(()) => return Ok(ByCoach::Posted),
                Err(error) => error,
            },
            Err(error) => error,
        };
        let is_gone = is_gone(&failed);
        if !is_gone && !context.is_final(&failed) {
            return Err(failed.into());
        }
        refused = Some(failed.reason());
        if !is_gone {
            break;
        }
        context.engine.coach_installations.take(&context.feature.key.repo);
        context.may_write().await?;
    }
    Ok(refused.map_or(ByCoach::NotInstalled, |why| ByCoach::Refused { why }))
}

/// Returns `true` if the error may mean that the Coach App's installation was removed or replaced.
fn is_gone(error: &GithubError) -> bool {
    matches!(
        error,
        GithubError::Unauthorized
            | GithubError::Uninstalled
            | GithubError::NotFound
            | GithubError::Gone
            | GithubError::Suspended
    )
}

/// Posts once as a review. If GitHub refuses a comment on a line, the comments are moved into the body. If it refuses
/// the verdict, a comment review is posted.
async fn review(
    context: &EffectContext<'_>,
    repo: &Repo<'_>,
    post: &Post<'_>,
    event: ReviewEvent,
) -> Result<Result<(), GithubError>, EffectError> {
    let marker = context.job.marker();
    let (body, folded) = (format!("{}\n\n{marker}", post.body), format!("{}\n\n{marker}", post.folded));
    if !context.is_fresh {
        // A review from before the database was restored may say something else.
        let is_it = |found: &Review| !context.is_restored || [&body, &folded].contains(&&found.body);
        match repo.find_reviews(post.pull, &marker).await {
            Ok(found) if found.iter().any(is_it) => return Ok(Ok(())),
            Ok(_) => {}
            Err(error) => return Ok(Err(error)),
        }
    }
    let mut attempt = NewReview { event, commit: post.commit, body: &body, inline: post.inline };
    loop {
        match repo.create_review(post.pull, attempt).await {
            Err(error) => return Ok(Err(error)),
            Ok(PostedReview::Posted(_)) => return Ok(Ok(())),
            Ok(PostedReview::InlineRefused { text }) => {
                tracing::warn!(pull = %post.pull, "inline comments were refused and stand in the body: {text}");
                attempt = NewReview { body: &folded, inline: &[], ..attempt };
            }
            Ok(PostedReview::OwnPullRequest) => {
                attempt = NewReview { event: ReviewEvent::Comment, ..attempt };
            }
        }
        context.may_write().await?;
    }
}

impl EffectContext<'_> {
    /// Returns `true` if another try would fail too, or has done so for a day: GitHub may fail for one form of a text
    /// alone, and then another form helps.
    pub(super) fn is_final(&self, error: &GithubError) -> bool {
        let waited_long = |on| self.engine.has_waited_long(self.job, on);
        let is_last = waited_long(&WaitsOn::GitHub) || waited_long(&WaitsOn::Unknown);
        match error {
            GithubError::Forbidden { .. } | GithubError::NotFound | GithubError::Gone | GithubError::Refused { .. } => {
                true
            }
            GithubError::Transient { .. }
            | GithubError::Uncertain { .. }
            | GithubError::Unauthorized
            | GithubError::Malformed { .. } => is_last,
            GithubError::RateLimited { .. } | GithubError::Suspended | GithubError::Uninstalled => false,
        }
    }

    /// Posts a comment unless this effect has posted it before.
    pub(super) async fn comment(&self, thread: IssueNumber, text: &str) -> Result<(), GithubError> {
        post_comment(self.repo(), thread, text, &self.job.marker(), self.is_fresh).await
    }
}

/// Posts a comment. Unless its effect is fresh, the comment may be there, and is looked up first by its marker.
pub(super) async fn post_comment(
    repo: Repo<'_>,
    thread: IssueNumber,
    text: &str,
    marker: &str,
    is_fresh: bool,
) -> Result<(), GithubError> {
    if is_fresh || repo.find_comment(thread, marker).await?.is_none() {
        repo.create_comment(thread, &format!("{text}\n\n{marker}")).await?;
    }
    Ok(())
}
