//! Answers a trigger whose processing was given up, once and in its own thread, so that nobody waits in vain.
//! Deliveries that are no trigger (pushes, other labels, edits) get no answer.

use crate::{
    engine::{
        Engine,
        ingest::{
            Ingest, awaited,
            context::{AwaitedTrigger, rows},
        },
        job::Job,
    },
    github::{
        model::AccountType,
        webhook::{EventOrigin, Inbound, parse},
    },
    store::{NewEffect, StoreError},
};
use domain::{
    blocked::BlockReason,
    effect::{Effect, Reaction, ReactionTarget, Reply, ReplyTo},
    feature::command::Refusal,
    ids::IssueNumber,
};

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
    let trigger = awaited(engine, &origin, &event, &wanted.delivery).await?;
    Ok(trigger.map_or_else(Vec::new, |trigger| answer_awaited_trigger(engine, &origin, trigger, reason)))
}

fn answer_awaited_trigger(
    engine: &Engine,
    origin: &EventOrigin,
    trigger: AwaitedTrigger,
    reason: BlockReason,
) -> Vec<NewEffect> {
    let issue = IssueNumber(trigger.thread.number());
    let confused = trigger
        .comment
        .map(|comment| Effect::React { on: ReactionTarget::Comment(comment), reaction: Reaction::Confused });
    let reply = Effect::Reply {
        thread: trigger.thread,
        // Stored: another suffix would answer twice.
        to: ReplyTo::Fact(format!("{}/unseen", trigger.cause)),
        reply: Reply::Refused(Refusal::NotLookedAt { trigger: trigger.trigger, reason: Box::new(reason) }),
    };
    let effects: Vec<Effect> = confused.into_iter().chain([reply]).collect();
    rows(engine, origin, issue, &effects)
}
