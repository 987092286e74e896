//! Posts on issues: reactions, replies, the living comment, the blocked Feature.

use crate::{
    engine::{
        Engine,
        job::{Done, EffectError, Job},
        perform::{context::EffectContext, post::post_comment},
        schedule,
    },
    github::{GithubError, model::Comment},
    messages,
    messages::Links,
};
use domain::{
    blocked::Defect,
    cost::Spending,
    effect::{Effect, Reaction, ReactionTarget, Reply, Thread},
    feature::{
        event::Event,
        failed_acts::{FailedAct, PublicAct, Replacement},
    },
    ids::{Emission, IssueNumber},
};

/// Performs an effect that belongs to no Feature: a reaction or a reply.
pub(super) async fn alone(engine: &Engine, job: &Job, effect: Effect) -> Result<Done, EffectError> {
    let repo = engine.autobuild.repo(job.effect.installation, job.repo()?);
    let repo = repo.permitted_by(&job.permit);
    match effect {
        Effect::React { on, reaction } => {
            job.may_write(engine).await?;
            repo.react(on, reaction).await?;
            Ok(Done::Nothing)
        }
        Effect::Reply { thread, reply, .. } => {
            let links = Links::new(engine.autobuild.urls.web(), &repo.name().await?);
            let text = messages::reply(&reply, None, &Spending::default(), &links);
            let is_fresh = job.is_fresh() && !engine.may_repeat_deliveries().await?;
            job.may_write(engine).await?;
            post_comment(repo, IssueNumber(thread.number()), &text, &job.marker(), is_fresh).await?;
            Ok(Done::Nothing)
        }
        Effect::Living { .. }
        | Effect::Plan { .. }
        | Effect::PreFlight { .. }
        | Effect::CompareDefault { .. }
        | Effect::OpenIntegration { .. }
        | Effect::MergeDefault { .. }
        | Effect::WaveGate { .. }
        | Effect::ReadCi { .. }
        | Effect::OpenFeaturePull { .. }
        | Effect::PublishWaveCheck { .. }
        | Effect::PostFeatureBlocked { .. }
        | Effect::AskPerson { .. }
        | Effect::CloseFeaturePull { .. }
        | Effect::CleanUp { .. }
        | Effect::Task { .. } => Err(EffectError::defect(Defect::NotOfAFeature)),
    }
}

pub(super) async fn react(
    context: &EffectContext<'_>,
    on: ReactionTarget,
    reaction: Reaction,
) -> Result<Done, EffectError> {
    context.may_write().await?;
    context.repo().react(on, reaction).await?;
    Ok(Done::Nothing)
}

pub(super) async fn reply(context: &EffectContext<'_>, thread: Thread, reply: &Reply) -> Result<Done, EffectError> {
    let spending = context.spending().await?;
    let text = messages::reply(reply, Some(&context.feature), &spending, &context.links().await?);
    context.may_write().await?;
    context.comment(IssueNumber(thread.number()), &text).await?;
    Ok(Done::Nothing)
}

pub(super) async fn feature_blocked(context: &EffectContext<'_>) -> Result<Done, EffectError> {
    let cost = context.spending().await?.total();
    let Some(text) = messages::feature_blocked(&context.feature, cost, &context.links().await?) else {
        return Ok(Done::Nothing);
    };
    context.may_write().await?;
    let (refused, pull) = match (context.comment(context.feature.key.issue, &text).await, context.feature.pull) {
        (Ok(()), _) => return Ok(Done::Nothing),
        (Err(error), Some(pull)) if context.is_final(&error) => (error, pull),
        (Err(error), _) => return Err(error.into()),
    };
    context.may_write().await?;
    context.comment(IssueNumber(pull.0), &text).await?;
    Ok(context.event(Event::FailedAct(FailedAct {
        what: PublicAct::Report,
        task: None,
        instead: Replacement::PullComment,
        why: refused.reason(),
    })))
}

/// Writes or edits the living comment from the current state. Emission 0 belongs to no event. It creates the comment
/// only if something waits for a model or GitHub, because nothing else shows that before there is a plan.
pub(super) async fn living(context: &EffectContext<'_>, emission: Emission) -> Result<Done, EffectError> {
    let feature = &context.feature;
    let spending = context.spending().await?;
    if emission == Emission(0) && feature.living.is_none() && spending.waiting.is_empty() {
        return Ok(Done::Nothing);
    }
    let spacing = context.engine.settings.write_spacing_ms;
    if let Some(living) = feature.living
        && let Some(until) = schedule::living_waits(living.edited_at, context.engine.now(), spacing)
    {
        return Err(EffectError::Waiting { until });
    }
    let text = messages::living(feature, &spending, &context.links().await?);
    // All effects use the same mark, because there is only one living comment.
    let marker = format!("<!-- autobuild:{}/living -->", feature.key);
    let body = format!("{text}\n\n{marker}");
    let comment = match write_living(context, &marker, &body).await? {
        WrittenLiving::Shown(comment) => *comment,
        // The progress of an agent is not worth a new comment.
        WrittenLiving::NotEdited(error) if context.is_final(&error) && emission == Emission(0) => {
            return Ok(Done::Nothing);
        }
        WrittenLiving::NotEdited(
            GithubError::Forbidden { .. } | GithubError::NotFound | GithubError::Refused { .. },
        ) => instead_of(context, &marker, &body).await?,
        WrittenLiving::NotEdited(error) => return Err(error.into()),
    };
    let version = feature.plan.as_ref().map(|plan| plan.number);
    let at = comment.updated_at.unwrap_or_else(|| context.engine.now());
    Ok(context.event(Event::LivingShown { comment: comment.id, version, at }))
}

enum WrittenLiving {
    Shown(Box<Comment>),
    /// The comment was not edited: GitHub refused it, or was away.
    NotEdited(GithubError),
}

impl WrittenLiving {
    fn of_edit(edited: Result<Comment, GithubError>) -> Self {
        edited.map_or_else(Self::NotEdited, |comment| Self::Shown(Box::new(comment)))
    }
}

/// Edits the living comment, or creates it if there is none or somebody deleted it.
async fn write_living(context: &EffectContext<'_>, marker: &str, body: &str) -> Result<WrittenLiving, EffectError> {
    let (repo, issue) = (context.repo(), context.feature.key.issue);
    context.may_write().await?;
    if let Some(living) = context.feature.living {
        let edited = repo.update_comment(living.comment, body).await;
        if !matches!(edited, Err(GithubError::Gone)) {
            return Ok(WrittenLiving::of_edit(edited));
        }
        context.may_write().await?;
    }
    // Another effect or try may have created it without receiving the reply.
    match repo.find_comment(issue, marker).await? {
        Some(made) => Ok(WrittenLiving::of_edit(repo.update_comment(made.id, body).await)),
        None => Ok(WrittenLiving::Shown(Box::new(repo.create_comment(issue, body).await?))),
    }
}

/// Writes a new living comment if GitHub does not let us edit the old one. A new comment notifies everybody on the
/// issue, so these are written rarely. Only a new plan is shown at once. A comment of an earlier try is reused only if
/// it says the same: it cannot be edited either, and people may approve the plan that it shows.
async fn instead_of(context: &EffectContext<'_>, marker: &str, body: &str) -> Result<Comment, EffectError> {
    let (feature, now) = (&context.feature, context.engine.now());
    let spacing = context.engine.settings.write_spacing_ms;
    let is_seen = feature.plan.as_ref().is_none_or(|plan| plan.shown_at.is_some());
    if let Some(living) = feature.living
        && is_seen
        && let Some(until) = schedule::another_living_waits(living.edited_at, now, spacing)
    {
        return Err(EffectError::Waiting { until });
    }
    if !context.is_fresh
        && let Some(made) = context.repo().find_comment(feature.key.issue, marker).await?
        && made.body == body
    {
        return Ok(made);
    }
    context.may_write().await?;
    Ok(context.repo().create_comment(feature.key.issue, body).await?)
}
