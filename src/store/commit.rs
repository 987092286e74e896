//! Stores an event, the state it leads to and the effects it asks for, all in one transaction or not at all.

use crate::store::{
    cancel,
    cancel::CancelRule,
    effect,
    effect::NewEffect,
    error::StoreError,
    event,
    event::NewEvent,
    feature,
    feature::{FeatureRow, Json, SaveOutcome},
    hold,
    hold::{Fenced, Finish},
    sql::Tx,
    store::Store,
    task,
    task::{TaskRow, TurnRow},
};
use domain::ids::TaskId;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// The version that was read; `None` if the Feature is new.
    pub expected: Option<i64>,
    pub event: NewEvent,
    /// The Feature after the event.
    pub feature: FeatureRow,
    /// The rest of the Feature, as JSON.
    pub data: String,
    /// Tasks that are new or changed.
    pub tasks: Vec<TaskRow>,
    /// Tasks that a new plan no longer has.
    pub removed: Vec<TaskId>,
    /// Turns that are new or changed.
    pub turns: Vec<TurnRow>,
    /// Rules for effects of the Feature that are no longer wanted. They do not apply to the effects of this commit.
    pub cancel: Vec<CancelRule>,
    pub effects: Vec<NewEffect>,
    /// The end of the effect whose result is the event.
    pub finish: Option<Finish>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Committed {
    Done,
    /// The same cause has changed the Feature before. Only `finish` is stored.
    KnownCause,
    /// The Feature has another version than the one that was read. Nothing is stored; read it and step again.
    LostRace,
    /// The effect of `finish` no longer belongs to this worker. Nothing is stored; stop.
    LostFence,
    /// The issue already has this run, or another unfinished one. Nothing is stored.
    RunExists,
}

impl Store {
    /// Stores one step of a Feature in one transaction.
    pub async fn commit(&self, commit: &Commit) -> Result<Committed, StoreError> {
        commit.effects.iter().try_for_each(effect::check)?;
        match self.try_commit(commit).await {
            // PostgreSQL broke a deadlock between two steps. The loser reads the Feature again.
            Err(StoreError::Busy(_)) if commit.expected.is_some() && self.db.lock.is_none() => Ok(Committed::LostRace),
            done => done,
        }
    }

    async fn try_commit(&self, commit: &Commit) -> Result<Committed, StoreError> {
        let mut tx = self.db.write().await?;
        let done = match end_effect(&mut tx, commit).await? {
            Fenced::Lost => Committed::LostFence,
            Fenced::Written => step(&mut tx, commit).await?,
        };
        match done {
            Committed::Done | Committed::KnownCause => self.db.publish(tx).await?,
            Committed::LostRace | Committed::LostFence | Committed::RunExists => tx.rollback().await?,
        }
        Ok(done)
    }
}

/// Ends the effect before anything else is written: a worker that lost it may write nothing at all.
async fn end_effect(tx: &mut Tx, commit: &Commit) -> Result<Fenced, StoreError> {
    match &commit.finish {
        None => Ok(Fenced::Written),
        Some(finish) => hold::end(tx, &finish.hold, &finish.outcome).await,
    }
}

async fn step(tx: &mut Tx, commit: &Commit) -> Result<Committed, StoreError> {
    let key = commit.feature.key;
    let stream = key.to_string();
    if event::is_known(tx, &stream, &commit.event.cause).await? {
        return Ok(Committed::KnownCause);
    }
    let json = Json { data: &commit.data, format: format_of(commit) };
    let version = match feature::save(tx, &commit.feature, json, commit.expected).await? {
        SaveOutcome::At(version) => version,
        SaveOutcome::LostRace => return Ok(Committed::LostRace),
        SaveOutcome::RunExists => return Ok(Committed::RunExists),
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

/// Returns the format of all JSON that the commit stores.
fn format_of(commit: &Commit) -> i64 {
    let tasks = commit.tasks.iter().map(|task| task.data.as_str());
    let turns = commit.turns.iter().flat_map(|turn| [&turn.report, &turn.decision, &turn.evidence]);
    let texts = tasks.chain(turns.filter_map(|text| text.as_deref()));
    feature::format_of(texts.chain([commit.data.as_str()]))
}
