//! The queue as people see it: the ready and running effects with their obstacles, and those that were given up.

use crate::store::{
    effect,
    effect::{EffectState, StoredEffect},
    error::StoreError,
    provider,
    provider::WaitsOn,
    row::Row,
    sql::{args, statements},
    store::Store,
};
use domain::ids::{FeatureKey, Millis};

statements! {
    QUEUE = "SELECT e.id, e.kind, e.subject, e.feature_id, e.state, e.run_at, e.first_due, e.attempt, e.last_error, \
             e.waits_for, \
             CASE WHEN e.state = 'running' THEN NULL WHEN e.waits = 1 AND f.held = 1 THEN 'feature' \
             WHEN e.lane = 'agent' AND EXISTS (SELECT 1 FROM effect o WHERE o.state = 'running' AND o.lane = 'agent' \
              AND o.subject = e.subject AND o.seq <> e.seq) THEN 'agent' \
             WHEN (e.lane = 'forge' OR e.lane = 'control' AND e.ordered = 1) \
              AND EXISTS (SELECT 1 FROM effect o WHERE o.state IN ('ready', 'running') \
              AND o.subject = e.subject AND o.seq < e.seq AND o.lane = e.lane AND o.ordered = e.ordered \
              AND (o.ordered = 1 OR o.kind = e.kind)) THEN 'earlier' \
             WHEN e.feature_limit <= (SELECT COUNT(*) FROM effect r WHERE r.state = 'running' AND r.lane = e.lane \
              AND r.feature_id = e.feature_id) THEN 'limit' END AS held_by \
             FROM effect e LEFT JOIN feature f ON f.id = e.feature_id WHERE e.state IN ('ready', 'running') \
             ORDER BY e.first_due, e.seq LIMIT $1";
    FAILED = concat!("SELECT ", effect::columns!(), " FROM effect WHERE state = 'failed' ORDER BY seq DESC LIMIT $1");
    TRY_AGAIN = "UPDATE effect SET state = 'ready', run_at = $2, first_due = $2, attempt = 0, crashes = 0, \
                 parked = 0, parked_since = NULL, waits_for = NULL, cancel_requested = 0 \
                 WHERE id = $1 AND state = 'failed'";
}

/// The reason, other than time, why a ready effect does not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeldBy {
    /// Its Feature is paused, blocked or suspended.
    Feature,
    /// An agent already works on the same subject.
    Agent,
    /// An earlier effect of the same subject must run first.
    Earlier,
    /// Its Feature already has as many running effects as it may.
    Limit,
}

text::words!(HeldBy {
    Feature = "feature",
    Agent = "agent",
    Earlier = "earlier",
    Limit = "limit",
});

/// An effect that is ready or running.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuedEffect {
    pub id: String,
    /// The kind of effect, such as `ingest`.
    pub kind: String,
    /// The subject: a task, a Feature or something else that it is about.
    pub subject: String,
    pub feature: Option<FeatureKey>,
    pub state: EffectState,
    pub run_at: Millis,
    /// The time at which it first could have run.
    pub first_due: Millis,
    pub attempt: u32,
    /// The error of the last failed try.
    pub last_error: Option<String>,
    pub waits_on: Option<WaitsOn>,
    /// The other reason that holds it back.
    pub held_by: Option<HeldBy>,
}

impl Store {
    /// Returns at most `most` effects that are ready or running, the oldest first.
    pub async fn queue(&self, most: u32) -> Result<Vec<QueuedEffect>, StoreError> {
        let rows = self.db.rows(QUEUE, args![i64::from(most)]).await?;
        rows.iter().map(read).collect()
    }

    /// Returns at most `most` effects that were given up, the newest first.
    pub async fn failed_effects(&self, most: u32) -> Result<Vec<StoredEffect>, StoreError> {
        let rows = self.db.rows(FAILED, args![i64::from(most)]).await?;
        rows.iter().map(effect::read).collect()
    }

    /// Makes an effect that was given up due again, as if it had never been tried. Returns `false` if there is none.
    pub async fn try_again(&self, id: &str, now: Millis) -> Result<bool, StoreError> {
        let mut tx = self.db.write().await?;
        let touched = tx.run(TRY_AGAIN, args![id, now.0]).await?;
        self.db.publish(tx).await?;
        Ok(touched > 0)
    }
}

fn read(row: &Row) -> Result<QueuedEffect, StoreError> {
    Ok(QueuedEffect {
        id: row.text("id")?,
        kind: row.text("kind")?,
        subject: row.text("subject")?,
        feature: row.opt_parsed("feature_id")?,
        state: row.parsed("state")?,
        run_at: Millis(row.int("run_at")?),
        first_due: Millis(row.int("first_due")?),
        attempt: row.small("attempt")?,
        last_error: row.opt_text("last_error")?,
        waits_on: row.opt_text("waits_for")?.map(provider::read_waits_on),
        held_by: row.opt_parsed("held_by")?,
    })
}
