//! Counts the remaining work, so that callers know if the system is idle.

use crate::store::{
    error::StoreError,
    row::Row,
    sql::{args, statements},
    store::Store,
};
use domain::{
    effect::Lane,
    ids::{FeatureKey, Millis},
};

statements! {
    TALLY = "SELECT COUNT(*) FILTER (WHERE state = 'ready' AND run_at <= $1) AS due, \
             COUNT(*) FILTER (WHERE state = 'ready' AND run_at > $1) AS waiting, \
             COUNT(*) FILTER (WHERE state = 'running') AS running \
             FROM effect e WHERE state IN ('ready', 'running') AND COALESCE(feature_id = $2, $2 IS NULL) \
             AND NOT (e.state = 'ready' AND e.waits = 1 \
                      AND EXISTS (SELECT 1 FROM feature f WHERE f.id = e.feature_id AND f.held = 1))";
    BUSY = "SELECT COUNT(*) AS busy FROM effect e WHERE state IN ('ready', 'running') \
            AND (feature_id IS NULL OR feature_id = $1) \
            AND NOT (e.state = 'ready' AND e.waits = 1 \
                     AND EXISTS (SELECT 1 FROM feature f WHERE f.id = e.feature_id AND f.held = 1))";
    LANES = "SELECT e.lane, COUNT(*) FILTER (WHERE e.state = 'ready' AND e.run_at <= $1) AS due, \
             COUNT(*) FILTER (WHERE e.state = 'ready' AND e.run_at > $1) AS waiting, \
             COUNT(*) FILTER (WHERE e.state = 'running') AS running, \
             MIN(CASE WHEN e.state = 'ready' AND e.run_at <= $1 THEN e.run_at END) AS oldest, \
             MIN(CASE WHEN e.kind = $2 THEN e.first_due END) AS read_since \
             FROM effect e WHERE e.state IN ('ready', 'running') AND NOT (e.state = 'ready' AND e.waits = 1 \
             AND EXISTS (SELECT 1 FROM feature f WHERE f.id = e.feature_id AND f.held = 1)) GROUP BY e.lane ORDER BY e.lane";
    FAILED = "SELECT COUNT(*) AS failed FROM effect WHERE state = 'failed'";
}

/// The number of unfinished effects. Those that wait because their Feature is held do not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Ready and due. An older effect of the same subject or a limit may still hold them back.
    pub due: u64,
    /// Ready, but their time has not come.
    pub waiting: u64,
    /// Held by a worker.
    pub running: u64,
}

/// The unfinished effects of one lane. Those that wait because their Feature is held do not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneTally {
    pub lane: Lane,
    pub tally: Tally,
    /// The time since which the oldest waiting effect is due; `None` if there is none.
    pub oldest_due: Option<Millis>,
    /// The time since which the oldest effect of the given kind is due, waiting or running.
    pub oldest_of_kind: Option<Millis>,
}

impl Store {
    /// Counts the unfinished effects by lane, and finds the oldest of one kind.
    pub async fn tally_lanes(&self, kind: &str, now: Millis) -> Result<Vec<LaneTally>, StoreError> {
        let rows = self.db.rows(LANES, args![now.0, kind]).await?;
        let lane = |row: &Row| {
            Ok(LaneTally {
                lane: row.parsed("lane")?,
                tally: read(row)?,
                oldest_due: row.opt_int("oldest")?.map(Millis),
                oldest_of_kind: row.opt_int("read_since")?.map(Millis),
            })
        };
        rows.iter().map(lane).collect()
    }

    /// Returns the number of effects that were given up.
    pub async fn count_failed(&self) -> Result<u64, StoreError> {
        let row = self.db.row(FAILED, args![]).await?;
        Ok(row.map(|row| row.count("failed")).transpose()?.unwrap_or(0))
    }

    /// Counts the unfinished effects of one Feature, or of all.
    pub async fn tally(&self, feature: Option<&FeatureKey>, now: Millis) -> Result<Tally, StoreError> {
        let feature = feature.map(ToString::to_string);
        let row = self.db.row(TALLY, args![now.0, feature.as_deref()]).await?;
        let Some(row) = row else { return Ok(Tally::default()) };
        read(&row)
    }

    /// Returns `true` if an unfinished effect may still change a Feature: one of its own, or one of no Feature, such as
    /// an unread delivery.
    pub async fn busy(&self, feature: Option<&FeatureKey>) -> Result<bool, StoreError> {
        let feature = feature.map(ToString::to_string).unwrap_or_default();
        let row = self.db.row(BUSY, args![feature.as_str()]).await?;
        Ok(row.map(|row| row.count("busy")).transpose()?.unwrap_or(0) > 0)
    }
}

fn read(row: &Row) -> Result<Tally, StoreError> {
    Ok(Tally { due: row.count("due")?, waiting: row.count("waiting")?, running: row.count("running")? })
}
