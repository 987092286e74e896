//! Counters that only grow. Each run and Feature is added once and stays counted after its rows are deleted, so that
//! reading costs the same however much has run.

use crate::store::{
    error::StoreError,
    row::Row,
    run_read::RunTotal,
    sql::{Tx, args, statements},
    store::Store,
};
use domain::ids::{FeatureKey, Millis};

/// The advisory lock for counting runs. Only one process does so at a time.
const LOCK: i64 = 0x6175_746f_0004;

/// The counter of leases that ran out.
pub const LEASES_LOST: &str = "leases_lost";

/// How many ended Features are named at once.
const FEATURES_AT_ONCE: i64 = 100;

/// Matches the runs that are being counted. They are marked first, so that a run that ends meanwhile waits for the next
/// time.
macro_rules! counting {
    () => {
        "counted = 2"
    };
}

statements! {
    MARK_RUNS = "UPDATE run SET counted = 2 WHERE counted = 0 AND (state = 'ended' OR (state = 'lost' AND ended_at < $1))";
    ADD_RUNS = concat!(
        "INSERT INTO run_total (role, agent, model, outcome, agent_runs, agent_ms, micros, guessed, unknown, input_tokens, \
         cached_tokens, cache_write_tokens, output_tokens) SELECT role, agent, COALESCE(model, ''), \
         CASE WHEN state = 'ended' THEN COALESCE(failure, 'ok') ELSE state END, ", crate::store::run_read::sums_of_ended!(),
        " FROM run WHERE ", counting!(), " GROUP BY 1, 2, 3, 4 ON CONFLICT (role, agent, model, outcome) DO UPDATE SET \
         agent_runs = run_total.agent_runs + excluded.agent_runs, agent_ms = run_total.agent_ms + excluded.agent_ms, \
         micros = COALESCE(run_total.micros + excluded.micros, run_total.micros, excluded.micros), \
         guessed = run_total.guessed + excluded.guessed, unknown = run_total.unknown + excluded.unknown, \
         input_tokens = run_total.input_tokens + excluded.input_tokens, \
         cached_tokens = run_total.cached_tokens + excluded.cached_tokens, \
         cache_write_tokens = run_total.cache_write_tokens + excluded.cache_write_tokens, \
         output_tokens = run_total.output_tokens + excluded.output_tokens");
    COUNTED_RUNS = concat!("UPDATE run SET counted = 1 WHERE ", counting!());
    TOTALS = "SELECT role, agent, model, outcome, agent_runs, agent_ms, micros, guessed, unknown, CAST(0 AS BIGINT) AS running, input_tokens, \
              cached_tokens, cache_write_tokens, output_tokens FROM run_total";
    UNCOUNTED = "SELECT id FROM feature WHERE counted = 0 AND state IN ('completed', 'cancelled', 'failed') LIMIT $1";
    COUNTED_FEATURE = "UPDATE feature SET counted = 1 WHERE id = $1 AND counted = 0";
    ADD = "INSERT INTO counter (name, value) VALUES ($1, $2) \
           ON CONFLICT (name) DO UPDATE SET value = counter.value + excluded.value";
    COUNTERS = "SELECT name, value FROM counter ORDER BY name";
}

impl Store {
    /// Adds the runs that ended to the totals. A lost run is added only if it was lost before `lost_before`: until
    /// then, its end may still arrive.
    pub async fn count_runs(&self, lost_before: Millis) -> Result<(), StoreError> {
        let mut tx = self.db.write().await?;
        tx.alone(LOCK).await?;
        if tx.run(MARK_RUNS, args![lost_before.0]).await? > 0 {
            tx.run(ADD_RUNS, args![]).await?;
            tx.run(COUNTED_RUNS, args![]).await?;
        }
        tx.commit().await
    }

    /// Returns the sums over the runs that were counted.
    pub(super) async fn counted_runs(&self) -> Result<Vec<RunTotal>, StoreError> {
        let rows = self.db.rows(TOTALS, args![]).await?;
        rows.iter().map(super::run_read::total).collect()
    }

    /// Returns some Features that have ended and were not counted.
    pub async fn uncounted_features(&self) -> Result<Vec<FeatureKey>, StoreError> {
        let rows = self.db.rows(UNCOUNTED, args![FEATURES_AT_ONCE]).await?;
        rows.iter().map(|row| row.parsed("id")).collect()
    }

    /// Adds the figures of an ended Feature, once for all processes.
    pub async fn count_feature(&self, key: &FeatureKey, figures: &[(&str, u64)]) -> Result<(), StoreError> {
        let mut tx = self.db.write().await?;
        if tx.run(COUNTED_FEATURE, args![&key.to_string()]).await? > 0 {
            for (name, more) in figures {
                add(&mut tx, name, *more).await?;
            }
        }
        tx.commit().await
    }

    /// Returns every counter with its name.
    pub async fn counters(&self) -> Result<Vec<(String, u64)>, StoreError> {
        let rows = self.db.rows(COUNTERS, args![]).await?;
        let counter = |row: &Row| Ok((row.text("name")?, row.count("value")?));
        rows.iter().map(counter).collect()
    }
}

pub(super) async fn add(tx: &mut Tx, name: &str, more: u64) -> Result<(), StoreError> {
    if more > 0 {
        let more = i64::try_from(more).unwrap_or(i64::MAX);
        tx.run(ADD, args![name, more]).await?;
    }
    Ok(())
}
