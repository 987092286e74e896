//! Turns deliveries into facts: interprets a delivery, finds its Feature, and checks the sender's right.

mod branches_and_pulls;
pub mod button;
mod comment;
mod context;
mod default_branch;
mod discussion;
mod given_command;
pub(super) mod given_up;
pub(super) mod home;
mod label;
pub(super) mod lifecycle;
pub(super) mod missed;
mod permission_check;
mod rerun;
mod review;

use crate::{
    engine::{
        Engine,
        ingest::context::{AwaitedTrigger, InboundContext},
        job::{Done, EffectError, Job},
        perform::on_heap,
    },
    github::{
        model::AccountType,
        webhook::{EventOrigin, Inbound, IssueEvent, RepoEvent, ReviewChange, parse},
    },
    store::{Lane, NewEffect, Ordered, StoreError},
};
use domain::{
    blocked::Defect,
    ids::{AppId, InstallationId, IssueNumber, Millis, RepoId},
};
use serde::{Deserialize, Serialize};

/// The kind of the effect that processes a delivery.
pub const KIND: &str = "ingest";

/// The payload of the effect that processes a delivery.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ingest {
    pub app: AppId,
    pub delivery: String,
}

impl Ingest {
    /// Returns the effect that processes the delivery. It is stored together with the delivery. The deliveries of one
    /// issue are processed in the order in which they came.
    pub fn effect(
        &self,
        installation: Option<InstallationId>,
        repo: Option<RepoId>,
        issue: Option<IssueNumber>,
        now: Millis,
    ) -> NewEffect {
        let (ordered, subject) = match (repo, issue) {
            (Some(repo), Some(issue)) => (Ordered::InOrder, format!("ingest/{repo}/{issue}")),
            _ => (Ordered::Free, format!("ingest/{}", self.delivery)),
        };
        NewEffect {
            id: format!("ingest/{}/{}", self.app, self.delivery),
            kind: KIND.to_owned(),
            lane: Lane::Control,
            subject,
            feature: None,
            feature_limit: None,
            ordered,
            waits: false,
            installation: installation.unwrap_or(InstallationId(0)),
            repo,
            payload: serde_json::to_string(self).unwrap_or_default(),
            priority: 0,
            run_at: now,
        }
    }
}

/// Reads the delivery and applies the facts that follow from it.
pub(super) async fn ingest(engine: &Engine, job: &Job) -> Result<Done, EffectError> {
    let wanted: Ingest = serde_json::from_str(&job.effect.payload)
        .map_err(|error| EffectError::unreadable(format!("the effect of a delivery: {error}")))?;
    let Some(delivery) = engine.store.delivery(wanted.app, &wanted.delivery).await? else {
        return Err(EffectError::defect(Defect::NoDelivery));
    };
    let Some(payload) = delivery.payload else {
        return Ok(Done::Nothing);
    };
    let (store, app, id) = (&engine.store, wanted.app, &wanted.delivery);
    let inbound = match parse(&delivery.event, payload.as_bytes()) {
        Ok(inbound) => inbound,
        Err(error) => {
            let outcome = format!("unreadable: {error}");
            store.finish_delivery(app, id, &outcome).await?;
            return Err(EffectError::unreadable(error.to_string()));
        }
    };
    understand(engine, inbound, delivery.received_at, id).await
}

/// Applies the content of a delivery. `since` is the time at which it came. If the installation that the delivery names
/// is refused, the one that has the repository now takes its place.
pub(super) async fn understand(
    engine: &Engine,
    inbound: Inbound,
    since: Millis,
    delivery: &str,
) -> Result<Done, EffectError> {
    let (mut origin, event) = match inbound {
        Inbound::Repo(origin, event) => (origin, event),
        Inbound::Installation { installation, account, event } => {
            if let Some(account) = account {
                engine.store.note_account(installation, account).await?;
            }
            return on_heap(|| lifecycle::installation(engine, installation, &event)).await;
        }
        Inbound::Ping | Inbound::Ignored => return Ok(Done::Nothing),
    };
    origin.installation = home::of_delivery(engine, origin.repo.id, origin.installation).await?;
    let context = InboundContext { engine, origin: &origin, since, delivery };
    let refused = match on_heap(|| interpret(&context, &event)).await {
        Err(error) if error.is_refusal() => error,
        done => return done,
    };
    match engine.autobuild.installation_of_id(origin.repo.id).await? {
        Some(home) if home != origin.installation => origin.installation = home,
        Some(_) | None => return Err(refused),
    }
    let context = InboundContext { engine, origin: &origin, since, delivery };
    on_heap(|| interpret(&context, &event)).await
}

async fn interpret(of: &InboundContext<'_>, event: &RepoEvent) -> Result<Done, EffectError> {
    let InboundContext { engine, origin, .. } = *of;
    if let RepoEvent::Issue { issue, event: IssueEvent::Labeled(Some(label)) } = event
        && !label::may_start_feature(engine, origin, issue, label).await?
    {
        return Ok(Done::Nothing);
    }
    if is_own(engine, origin).await? {
        return Ok(Done::Nothing);
    }
    match event {
        RepoEvent::Issue { issue, event } => on_heap(|| lifecycle::issue(of, issue, event)).await,
        RepoEvent::CommentCreated { issue, comment } => on_heap(|| comment::created(of, issue, comment)).await,
        RepoEvent::Review { pull, review, event } => on_heap(|| review::handle_review(of, pull, review, *event)).await,
        RepoEvent::CheckAction { run, identifier } => on_heap(|| button::pressed(of, run, identifier)).await,
        RepoEvent::Rerun { head, app } => on_heap(|| rerun::rerun(of, head, *app)).await,
        RepoEvent::Pull { pull, event } => on_heap(|| branches_and_pulls::pull(of, pull, *event)).await,
        RepoEvent::Push(push) => on_heap(|| branches_and_pulls::push(engine, origin, push)).await,
        RepoEvent::Repository(event) => on_heap(|| lifecycle::repository(engine, origin, *event)).await,
    }
}

/// Returns the trigger in a delivery that is given up, if a person waits for its answer.
async fn awaited(
    engine: &Engine,
    origin: &EventOrigin,
    event: &RepoEvent,
    delivery: &str,
) -> Result<Option<AwaitedTrigger>, StoreError> {
    match event {
        RepoEvent::Issue { issue, event: IssueEvent::Labeled(Some(name)) } => {
            label::awaited(engine, origin, issue, name).await
        }
        RepoEvent::CommentCreated { issue, comment } => Ok(comment::awaited(issue, comment)),
        RepoEvent::Review { pull, review, event: ReviewChange::Submitted } => {
            review::awaited(engine, origin, pull, review).await
        }
        RepoEvent::CheckAction { run, identifier } => Ok(button::awaited(engine, run, identifier, delivery).await),
        RepoEvent::Issue { .. }
        | RepoEvent::Review { .. }
        | RepoEvent::Pull { .. }
        | RepoEvent::Push(_)
        | RepoEvent::Rerun { .. }
        | RepoEvent::Repository(_) => Ok(None),
    }
}

/// Returns `true` if one of our own Apps caused the event, which is then ignored. The webhook inbox may not know our
/// bots yet; this asks GitHub for them.
async fn is_own(engine: &Engine, origin: &EventOrigin) -> Result<bool, EffectError> {
    if origin.sender.kind != AccountType::Bot {
        return Ok(false);
    }
    if origin.sender.is(engine.autobuild.bot(origin.installation).await?) {
        return Ok(true);
    }
    let Some(coach) = &engine.coach else { return Ok(false) };
    if let Some(bot) = coach.known_bot() {
        return Ok(origin.sender.is(bot));
    }
    let name = &origin.repo.name;
    let Some(installation) = coach.installation_of(name).await? else {
        return Ok(false);
    };
    Ok(origin.sender.is(coach.bot(installation).await?))
}
