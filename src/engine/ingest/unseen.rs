//! A trigger that could not be looked at in the end: said once where it was given, so that nobody waits for nothing. What
//! is no trigger (pushes, other labels, edits) stays silent.

use crate::{
    engine::{
        Engine,
        ingest::{Ingest, button, comment, context::stored, label},
        job::Job,
    },
    github::{
        model::{ActorKind, Comment, Conversation, Issue, Pull, Review, ReviewState},
        webhook::{Inbound, IssueEvent, Place, PressedCheckRun, ReviewChange, parse},
    },
    store::{NewEffect, StoreError},
};
use domain::{
    blocked::BlockReason,
    command::{Parsed, parse as parse_command},
    effect::{Effect, ReactOn, Reaction, Reply, ReplyTo, Thread},
    feature::command::{Refusal, Trigger},
    ids::{CommentId, FeatureKey, IssueNumber},
};

/// What a person gave, and where they are answered.
struct Given {
    trigger: Trigger,
    thread: Thread,
    /// What makes it the same trigger when it is told again.
    cause: String,
    /// The comment that it stands in.
    comment: Option<CommentId>,
}

/// What is to be said of a delivery that is given up for `reason`; nothing where it was no trigger.
pub async fn told(engine: &Engine, job: &Job, reason: BlockReason) -> Result<Vec<NewEffect>, StoreError> {
    let Ok(wanted) = serde_json::from_str::<Ingest>(&job.effect.payload) else {
        return Ok(Vec::new());
    };
    let outcome = format!("failed: {reason:?}");
    engine
        .store
        .finish_delivery(wanted.app, &wanted.delivery, &outcome)
        .await?;
    let stored = engine.store.delivery(wanted.app, &wanted.delivery).await?;
    let payload = stored.and_then(|delivery| Some((delivery.event, delivery.payload?)));
    let Some(Ok(inbound)) = payload.map(|(event, payload)| parse(&event, payload.as_bytes())) else {
        return Ok(Vec::new());
    };
    let Some(place) = inbound.place().filter(|place| place.sender.kind == ActorKind::Person) else {
        return Ok(Vec::new());
    };
    let given = given(engine, &inbound, &wanted.delivery).await?;
    Ok(given.map_or_else(Vec::new, |given| answer(engine, place, given, reason)))
}

fn answer(engine: &Engine, place: &Place, given: Given, reason: BlockReason) -> Vec<NewEffect> {
    let key = FeatureKey {
        repo: place.repo.id,
        issue: IssueNumber(given.thread.number()),
        run: 1,
    };
    let confused = given.comment.map(|comment| Effect::React {
        on: ReactOn::Comment(comment),
        reaction: Reaction::Confused,
    });
    let reply = Effect::Reply {
        thread: given.thread,
        to: ReplyTo::Fact(format!("{}/unseen", given.cause)),
        reply: Reply::Refused(Refusal::NotLookedAt {
            trigger: given.trigger,
            reason: Box::new(reason),
        }),
    };
    let effects: Vec<Effect> = confused.into_iter().chain([reply]).collect();
    stored(engine, key, place.installation, &effects)
}

async fn given(engine: &Engine, inbound: &Inbound, delivery: &str) -> Result<Option<Given>, StoreError> {
    match inbound {
        Inbound::Issue {
            place,
            issue,
            event: IssueEvent::Labeled(Some(name)),
        } => of_label(engine, place, issue, name).await,
        Inbound::CommentCreated { issue, comment, .. } => Ok(of_comment(issue, comment)),
        Inbound::Review {
            place,
            pull,
            review,
            event: ReviewChange::Submitted,
        } => of_review(engine, place, pull, review).await,
        Inbound::CheckAction { run, identifier, .. } => Ok(of_button(engine, run, identifier, delivery).await),
        Inbound::Issue { .. }
        | Inbound::Review { .. }
        | Inbound::Rerun { .. }
        | Inbound::Pull { .. }
        | Inbound::Push { .. }
        | Inbound::Repository { .. }
        | Inbound::Installation { .. }
        | Inbound::Ping
        | Inbound::Ignored { .. } => Ok(None),
    }
}

/// A label that was ours when the settings were last read, or that most likely is where they never were.
async fn of_label(engine: &Engine, place: &Place, issue: &Issue, name: &str) -> Result<Option<Given>, StoreError> {
    let ours = engine.last_labels(place.repo.id, &place.repo.name).await?.wanted(name);
    if ours.is_none() || issue.conversation != Conversation::Issue {
        return Ok(None);
    }
    Ok(Some(Given {
        trigger: Trigger::Label,
        thread: Thread::Issue(issue.number),
        cause: label::cause(issue, name),
        comment: None,
    }))
}

fn of_comment(issue: &Issue, comment: &Comment) -> Option<Given> {
    let ours = parse_command(&comment.body) != Parsed::None && comment.via_app.is_none();
    ours.then(|| Given {
        trigger: Trigger::Command,
        thread: comment::thread(issue),
        cause: format!("comment/{}", comment.id),
        comment: Some(comment.id),
    })
}

async fn of_button(engine: &Engine, run: &PressedCheckRun, identifier: &str, delivery: &str) -> Option<Given> {
    button::Button::named(identifier)?;
    let (key, id) = button::subject(run.external_id.as_deref()?)?;
    let feature = engine.feature(&key).await.ok().flatten();
    let pull = feature.and_then(|feature| feature.task(id)?.pull);
    Some(Given {
        trigger: Trigger::Button,
        thread: pull.map_or(Thread::Issue(key.issue), Thread::Pull),
        // A button can be pressed again.
        cause: format!("button/{}/{identifier}/{delivery}", run.id),
        comment: None,
    })
}

/// A review that decides or commands, on a pull request of ours.
async fn of_review(engine: &Engine, place: &Place, pull: &Pull, review: &Review) -> Result<Option<Given>, StoreError> {
    let decides = match review.state {
        ReviewState::Approved | ReviewState::ChangesRequested => true,
        ReviewState::Commented | ReviewState::Dismissed | ReviewState::Other => {
            parse_command(&review.body) != Parsed::None
        }
    };
    if !decides
        || engine
            .store
            .by_branch(place.repo.id, &pull.head.branch)
            .await?
            .is_none()
    {
        return Ok(None);
    }
    Ok(Some(Given {
        trigger: Trigger::Review,
        thread: Thread::Pull(pull.number),
        cause: format!("review/{}", review.id),
        comment: None,
    }))
}
