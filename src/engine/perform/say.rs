//! What AutoBuild says on issues: reactions, replies, the living comment, the blocked Feature.

use crate::{
    engine::{
        Engine,
        job::{Done, Job, Undone},
        perform::Scene,
        schedule,
    },
    github,
    github::{GithubError, ReactionTarget, Repo},
    messages,
    messages::Links,
};
use domain::{
    cost::Spending,
    effect::{Effect, ReactOn, Reaction, Reply, Thread},
    feature::{
        Feature,
        event::Event,
        unsaid::{Instead, Saying, Unsaid},
    },
    ids::{CommentId, IssueNumber, Millis},
};

/// An answer to something that belongs to no Feature.
pub(super) async fn alone(engine: &Engine, job: &Job, effect: Effect) -> Result<Done, Undone> {
    let repo = engine.autobuild.repo(job.installation(), job.repo()?);
    match effect {
        Effect::React { on, reaction } => {
            job.may_write(engine)?;
            add(repo, on, reaction).await
        }
        Effect::Reply { thread, reply, .. } => {
            let links = Links::new(engine.autobuild.urls().web(), &repo.name().await?);
            let text = messages::reply(&reply, None, &Spending::default(), &links);
            comment_once(engine, job, repo, thread, &text)
                .await
                .map(|_| Done::Nothing)
        }
        Effect::Living { .. }
        | Effect::Plan { .. }
        | Effect::PreFlight { .. }
        | Effect::CompareDefault { .. }
        | Effect::OpenIntegration { .. }
        | Effect::MergeDefault { .. }
        | Effect::WaveGate { .. }
        | Effect::OpenFeaturePull { .. }
        | Effect::PublishWaveCheck { .. }
        | Effect::PostFeatureBlocked { .. }
        | Effect::AskPerson { .. }
        | Effect::CloseFeaturePull { .. }
        | Effect::CleanUp { .. }
        | Effect::Task { .. } => Err(Undone::defect("the effect needs a Feature")),
    }
}

pub(super) async fn react(scene: &Scene<'_>, on: ReactOn, reaction: Reaction) -> Result<Done, Undone> {
    scene.may_write()?;
    add(scene.repo(), on, reaction).await
}

async fn add(repo: Repo<'_>, on: ReactOn, reaction: Reaction) -> Result<Done, Undone> {
    let target = match on {
        ReactOn::Issue(number) => ReactionTarget::Issue(number),
        ReactOn::Comment(id) => ReactionTarget::Comment(id),
    };
    let reaction = match reaction {
        Reaction::Eyes => github::Reaction::Eyes,
        Reaction::Rocket => github::Reaction::Rocket,
        Reaction::Confused => github::Reaction::Confused,
    };
    repo.react(target, reaction).await?;
    Ok(Done::Nothing)
}

pub(super) async fn reply(scene: &Scene<'_>, thread: Thread, reply: &Reply) -> Result<Done, Undone> {
    let spending = scene.spending().await?;
    let text = messages::reply(reply, Some(&scene.feature), &spending, &scene.links().await?);
    comment_once(scene.engine, scene.job, scene.repo(), thread, &text).await?;
    Ok(Done::Nothing)
}

pub(super) async fn feature_blocked(scene: &Scene<'_>) -> Result<Done, Undone> {
    let cost = scene.spending().await?.in_all();
    let Some(text) = messages::feature_blocked(&scene.feature, cost, &scene.links().await?) else {
        return Ok(Done::Nothing);
    };
    scene.may_write()?;
    let (refused, pull) = match (scene.comment(scene.key().issue, &text).await, scene.feature.pull) {
        (Ok(()), _) => return Ok(Done::Nothing),
        (Err(error), Some(pull)) if scene.is_final(&error) => (error, pull),
        (Err(error), _) => return Err(error.into()),
    };
    scene.may_write_again().await?;
    scene.comment(IssueNumber(pull.0), &text).await?;
    Ok(scene.event(Event::Unsaid(Unsaid {
        what: Saying::Report,
        task: None,
        instead: Instead::PullComment,
        why: refused.to_string(),
    })))
}

/// Posts `text` unless this effect posted it before.
pub(super) async fn comment_once(
    engine: &Engine,
    job: &Job,
    repo: Repo<'_>,
    thread: Thread,
    text: &str,
) -> Result<CommentId, Undone> {
    let number = IssueNumber(thread.number());
    let marker = job.marker();
    job.may_write(engine)?;
    if !job.is_fresh()
        && let Some(found) = repo.find_comment(number, &marker, None).await?
    {
        return Ok(found.id);
    }
    Ok(repo.create_comment(number, &format!("{text}\n\n{marker}")).await?.id)
}

/// Writes or edits the living comment from the state as it is now; `run` 0 follows from no event and makes one only where
/// something waits for a model, which nobody would hear of before there is a plan.
pub(super) async fn living(scene: &Scene<'_>, run: u64) -> Result<Done, Undone> {
    let feature = &scene.feature;
    let spending = scene.spending().await?;
    if run == 0 && feature.living.is_none() && spending.waiting.is_empty() {
        return Ok(Done::Nothing);
    }
    let spacing = scene.engine.settings.write_spacing_ms;
    if let Some(living) = feature.living
        && let Some(until) = schedule::living_waits(living.edited_at, scene.engine.now(), spacing)
    {
        return Err(Undone::Waiting { until });
    }
    let text = messages::living(feature, &spending, &scene.links().await?);
    // One mark for all edits: whichever effect made the comment, there is only one.
    let marker = format!("<!-- autobuild:{}/living -->", feature.key);
    let body = format!("{text}\n\n{marker}");
    let repo = scene.repo();
    scene.may_write()?;
    let known = match feature.living {
        Some(living) => Some(living.comment),
        // Another effect may have made it and lost the reply.
        None => repo
            .find_comment(feature.key.issue, &marker, None)
            .await?
            .map(|comment| comment.id),
    };
    let comment = match known {
        None => repo.create_comment(feature.key.issue, &body).await?,
        Some(id) => match repo.update_comment(id, &body).await {
            Err(GithubError::Gone) => {
                scene.may_write_again().await?;
                repo.create_comment(feature.key.issue, &body).await?
            }
            edited => edited?,
        },
    };
    Ok(shown(scene, feature, comment.id, comment.updated_at))
}

fn shown(scene: &Scene<'_>, feature: &Feature, comment: CommentId, at: Option<Millis>) -> Done {
    let version = feature.plan.as_ref().map(|plan| plan.number);
    scene.event(Event::LivingShown {
        comment,
        version,
        at: at.unwrap_or_else(|| scene.engine.now()),
    })
}
