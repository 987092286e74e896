//! An event, the state it leads to and the effects it asks for: all stored, or nothing.

use crate::store::{
    cancel,
    cancel::CancelRule,
    delivery, effect,
    effect::NewEffect,
    error::StoreError,
    event,
    event::NewEvent,
    feature,
    feature::{FeatureRow, Saved},
    hold,
    hold::{Fenced, Finish},
    sql::Tx,
    store::Store,
    task,
    task::{TaskRow, TurnRow},
};
use domain::ids::{AppId, TaskId};

/// One step of a Feature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// The version that was read, or none if the Feature is new.
    pub expected: Option<i64>,
    /// What happened.
    pub event: NewEvent,
    /// The Feature as it is now.
    pub feature: FeatureRow,
    /// Tasks that are new or changed.
    pub tasks: Vec<TaskRow>,
    /// Tasks that a new plan no longer has.
    pub removed: Vec<TaskId>,
    /// Turns that are new or changed.
    pub turns: Vec<TurnRow>,
    /// Effects of the Feature that are no longer wanted; those of this commit are not meant.
    pub cancel: Vec<CancelRule>,
    /// What is to be done.
    pub effects: Vec<NewEffect>,
    /// The effect whose result the event is.
    pub finish: Option<Finish>,
    /// The delivery that the event came from.
    pub delivery: Option<DeliveryOutcome>,
}

/// What came of a delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryOutcome {
    /// The App it was sent to.
    pub app: AppId,
    /// Its id.
    pub id: String,
    /// What came of it.
    pub outcome: String,
}

/// What became of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Committed {
    /// All of it is stored.
    Done,
    /// The cause has changed the Feature before: only `finish` and `delivery` are stored.
    KnownCause,
    /// The Feature is no longer at the version that was read: nothing is stored; read it and step again.
    LostRace,
    /// The effect is no longer ours: nothing is stored; stop.
    LostFence,
    /// The issue has this run already, or one that is not finished: nothing is stored.
    RunExists,
}

impl Store {
    /// Stores one step of a Feature in one transaction.
    pub async fn commit(&self, commit: &Commit) -> Result<Committed, StoreError> {
        commit.effects.iter().try_for_each(effect::check)?;
        match self.try_commit(commit).await {
            // PostgreSQL broke a deadlock between two steps: the one that lost reads again.
            Err(StoreError::Busy(_)) if commit.expected.is_some() && self.db.lock.is_none() => Ok(Committed::LostRace),
            done => done,
        }
    }

    async fn try_commit(&self, commit: &Commit) -> Result<Committed, StoreError> {
        let mut tx = self.db.write().await?;
        let done = match ended(&mut tx, commit).await? {
            Fenced::Lost => Committed::LostFence,
            Fenced::Written => step(&mut tx, commit).await?,
        };
        match done {
            Committed::Done | Committed::KnownCause => {
                self.db.publish(tx).await?;
            }
            Committed::LostRace | Committed::LostFence | Committed::RunExists => tx.rollback().await?,
        }
        Ok(done)
    }
}

/// Ends the effect first: whoever lost it may write nothing at all.
async fn ended(tx: &mut Tx, commit: &Commit) -> Result<Fenced, StoreError> {
    match &commit.finish {
        None => Ok(Fenced::Written),
        Some(finish) => hold::end(tx, &finish.hold, &finish.outcome).await,
    }
}

async fn step(tx: &mut Tx, commit: &Commit) -> Result<Committed, StoreError> {
    let key = commit.feature.key;
    let stream = key.to_string();
    if let Some(DeliveryOutcome { app, id, outcome }) = &commit.delivery {
        delivery::conclude(tx, *app, id, outcome).await?;
    }
    if event::is_known(tx, &stream, &commit.event.cause).await? {
        return Ok(Committed::KnownCause);
    }
    let version = match feature::save(tx, &commit.feature, commit.expected).await? {
        Saved::At(version) => version,
        Saved::LostRace => return Ok(Committed::LostRace),
        Saved::RunExists => return Ok(Committed::RunExists),
    };
    event::append(tx, &stream, version, &commit.event).await?;
    task::remove(tx, &key, &commit.removed).await?;
    task::put_tasks(tx, &key, &commit.tasks).await?;
    task::put_turns(tx, &key, &commit.turns).await?;
    for rule in &commit.cancel {
        cancel::cancel(tx, &stream, rule).await?;
    }
    effect::insert_all(tx, &commit.effects.iter().collect::<Vec<_>>()).await?;
    Ok(Committed::Done)
}
