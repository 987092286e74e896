//! Answers a trigger whose processing was given up, once and in its own thread, so that nobody waits in vain.
//! Deliveries that are no trigger (pushes, other labels, edits) get no answer.

use crate::{
    engine::{
        Engine,
        ingest::{Ingest, button, comment, context::rows, label},
        job::Job,
    },
    github::{
        model::{AccountType, Comment, Conversation, Issue, Pull, Review, ReviewState},
        webhook::{EventOrigin, Inbound, IssueEvent, PressedCheckRun, RepoEvent, ReviewChange, parse},
    },
    store::{NewEffect, StoreError},
};
use domain::{
    blocked::BlockReason,
    command::{Button, Parsed, parse as parse_command},
    effect::{Effect, ReactOn, Reaction, Reply, ReplyTo, Thread},
    feature::{
        command::{Refusal, Trigger},
        event::Target,
    },
    ids::{CommentId, IssueNumber},
};

/// A trigger by a person, and the place of the answer.
struct AwaitedTrigger {
    trigger: Trigger,
    thread: Thread,
    /// The id of the trigger. A repeat has the same id.
    cause: String,
    comment: Option<CommentId>,
}

/// Returns the answers to a delivery that is given up for `reason`. There are none if it was no trigger.
pub async fn answers(engine: &Engine, job: &Job, reason: BlockReason) -> Result<Vec<NewEffect>, StoreError> {
    let Ok(wanted) = serde_json::from_str::<Ingest>(&job.effect.payload) else {
        return Ok(Vec::new());
    };
    let (store, outcome) = (&engine.store, format!("failed: {reason:?}"));
    store.finish_delivery(wanted.app, &wanted.delivery, &outcome).await?;
    let stored = store.delivery(wanted.app, &wanted.delivery).await?;
    let payload = stored.and_then(|delivery| Some((delivery.event, delivery.payload?)));
    let Some(Ok(inbound)) = payload.map(|(event, payload)| parse(&event, payload.as_bytes())) else {
        return Ok(Vec::new());
    };
    let Inbound::Repo(origin, event) = inbound else {
        return Ok(Vec::new());
    };
    if origin.sender.kind != AccountType::Person {
        return Ok(Vec::new());
    }
    let given = find_awaited(engine, &origin, &event, &wanted.delivery).await?;
    Ok(given.map_or_else(Vec::new, |given| answer(engine, &origin, given, reason)))
}

fn answer(engine: &Engine, origin: &EventOrigin, given: AwaitedTrigger, reason: BlockReason) -> Vec<NewEffect> {
    let issue = IssueNumber(given.thread.number());
    let confused =
        given.comment.map(|comment| Effect::React { on: ReactOn::Comment(comment), reaction: Reaction::Confused });
    let reply = Effect::Reply {
        thread: given.thread,
        to: ReplyTo::Fact(format!("{}/unseen", given.cause)),
        reply: Reply::Refused(Refusal::NotLookedAt { trigger: given.trigger, reason: Box::new(reason) }),
    };
    let effects: Vec<Effect> = confused.into_iter().chain([reply]).collect();
    rows(engine, origin, issue, &effects)
}

/// Nobody waits for an answer to a delivery of any other event.
async fn find_awaited(
    engine: &Engine,
    origin: &EventOrigin,
    event: &RepoEvent,
    delivery: &str,
) -> Result<Option<AwaitedTrigger>, StoreError> {
    match event {
        RepoEvent::Issue { issue, event: IssueEvent::Labeled(Some(name)) } => {
            of_label(engine, origin, issue, name).await
        }
        RepoEvent::CommentCreated { issue, comment } => Ok(of_comment(issue, comment)),
        RepoEvent::Review { pull, review, event: ReviewChange::Submitted } => {
            of_review(engine, origin, pull, review).await
        }
        RepoEvent::CheckAction { run, identifier } => Ok(of_button(engine, run, identifier, delivery).await),
        RepoEvent::Issue { .. }
        | RepoEvent::Review { .. }
        | RepoEvent::Pull { .. }
        | RepoEvent::Push(_)
        | RepoEvent::Rerun { .. }
        | RepoEvent::Repository(_) => Ok(None),
    }
}

/// Returns the trigger for a label if it was ours when the settings were last read, or probably is if they never were.
async fn of_label(
    engine: &Engine,
    origin: &EventOrigin,
    issue: &Issue,
    name: &str,
) -> Result<Option<AwaitedTrigger>, StoreError> {
    let labels = engine.last_labels(origin.repo.id, &origin.repo.name).await?;
    if labels.request_of_label(name).is_none() || issue.conversation != Conversation::Issue {
        return Ok(None);
    }
    Ok(Some(AwaitedTrigger {
        trigger: Trigger::Label,
        thread: Thread::Issue(issue.number),
        cause: label::cause(issue, name),
        comment: None,
    }))
}

fn of_comment(issue: &Issue, comment: &Comment) -> Option<AwaitedTrigger> {
    let ours = parse_command(&comment.body) != Parsed::None && comment.via_app.is_none();
    ours.then(|| AwaitedTrigger {
        trigger: Trigger::Command,
        thread: comment::thread(issue),
        cause: format!("comment/{}", comment.id),
        comment: Some(comment.id),
    })
}

async fn of_button(engine: &Engine, run: &PressedCheckRun, identifier: &str, delivery: &str) -> Option<AwaitedTrigger> {
    Button::from_identifier(identifier)?;
    let (key, on) = button::subject(run.external_id.as_deref()?)?;
    let feature = engine.feature(&key).await.ok().flatten();
    let pull = match on {
        Target::Task(id) => feature.and_then(|feature| feature.task(id)?.pull),
        Target::Feature => None,
    };
    Some(AwaitedTrigger {
        trigger: Trigger::Button,
        thread: pull.map_or(Thread::Issue(key.issue), Thread::Pull),
        // The delivery's id is part of the cause, because a button can be pressed again.
        cause: format!("button/{}/{identifier}/{delivery}", run.id),
        comment: None,
    })
}

/// Returns the trigger for a review of our pull requests that has a verdict or a command.
async fn of_review(
    engine: &Engine,
    origin: &EventOrigin,
    pull: &Pull,
    review: &Review,
) -> Result<Option<AwaitedTrigger>, StoreError> {
    let decides = match review.state {
        ReviewState::Approved | ReviewState::ChangesRequested => true,
        ReviewState::Commented | ReviewState::Dismissed | ReviewState::Other => {
            parse_command(&review.body) != Parsed::None
        }
    };
    let (store, branch) = (&engine.store, &pull.head.branch);
    if !decides || store.by_branch(origin.repo.id, branch).await?.is_none() {
        return Ok(None);
    }
    Ok(Some(AwaitedTrigger {
        trigger: Trigger::Review,
        thread: Thread::Pull(pull.number),
        cause: format!("review/{}", review.id),
        comment: None,
    }))
}
