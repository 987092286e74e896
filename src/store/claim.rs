//! Assigns effects to workers. Claims are fair between installations and never exceed a limit. Effects of workers that
//! vanished are taken back.

use crate::store::{
    counters, effect,
    effect::StoredEffect,
    error::StoreError,
    feature,
    hold::Hold,
    run,
    sql::{Flush, Pools, Single, args, statements},
    store::Store,
};
use domain::{
    effect::Lane,
    ids::{Millis, RepoId},
};

/// The advisory lock for claiming and taking back. Only one process does so at a time, so its counts are exact.
pub(super) const LOCK: i64 = 0x6175_746f_0002;

statements! {
    // Each lane, if something in it is due at $1, and the time at which the next effect becomes due.
    READY = "SELECT l.lane, (SELECT MIN(e.run_at) FROM effect e WHERE e.state = 'ready' AND e.run_at > $1) AS next, \
             CAST(CASE WHEN EXISTS (SELECT 1 FROM effect e WHERE e.state = 'ready' AND e.lane = l.lane AND e.run_at <= $1) \
             THEN 1 ELSE 0 END AS BIGINT) AS is_due \
             FROM (SELECT 'control' AS lane UNION ALL SELECT 'forge' UNION ALL SELECT 'agent') l";
    // $1 lane, $2 worker, $3 lease until, $4 now, limits: $5 installation, $6 repository, $7 server, $9 feature;
    // $8 repositories whose agents are left to another process, as `,1,2,`;
    // $10 and $11 the newest formats of effects and Features that this program reads, which leaves newer rows to others.
    //
    // `waiting` steps through the index from one installation to the next, so a thousand waiting effects of one
    // installation cost no more than one. Each installation offers its first effect that nothing holds back. The
    // installation with the fewest running effects wins.
    //
    // The outer `state` is for PostgreSQL: the inner choice is fixed before the statement waits for the row, and the row
    // may have been cancelled meanwhile. CAST: with a bare parameter and a partial index on `lane`, SQLite plans the
    // statement again for every value.
    CLAIM = concat!(
        "UPDATE effect SET state = 'running', worker = $2, lease_until = $3, fence = fence + 1, refused = NULL WHERE seq = (",
        "WITH RECURSIVE waiting (installation_id) AS (",
        " SELECT MIN(e.installation_id) FROM effect e WHERE e.state = 'ready' AND e.lane = CAST($1 AS TEXT)",
        " UNION ALL",
        " SELECT (SELECT MIN(e.installation_id) FROM effect e",
        "         WHERE e.state = 'ready' AND e.lane = CAST($1 AS TEXT) AND e.installation_id > w.installation_id)",
        " FROM waiting w WHERE w.installation_id IS NOT NULL",
        "), offer AS (",
        " SELECT (SELECT COUNT(*) FROM effect r",
        "         WHERE r.state = 'running' AND r.installation_id = w.installation_id) AS busy,",
        "  (SELECT e.seq FROM effect e",
        "   WHERE e.state = 'ready' AND e.lane = CAST($1 AS TEXT) AND e.installation_id = w.installation_id",
        "   AND e.run_at <= $4",
        "   AND (e.lane <> 'agent' OR CAST($8 AS TEXT) NOT LIKE '%,' || COALESCE(e.repo_id, 0) || ',%')",
        "   AND NOT EXISTS (SELECT 1 FROM effect o WHERE e.lane = 'agent'",
        "    AND o.state = 'running' AND o.lane = 'agent' AND o.subject = e.subject)",
        "   AND NOT EXISTS (SELECT 1 FROM effect o WHERE (e.lane = 'forge' OR e.lane = 'control' AND e.ordered = 1)",
        "    AND o.state IN ('ready', 'running') AND o.subject = e.subject AND o.seq < e.seq",
        "    AND o.lane = e.lane AND o.ordered = e.ordered AND (o.ordered = 1 OR o.kind = e.kind)",
        // A delivery that cannot be read holds back those after it only for an hour.
        "    AND (o.lane = 'forge' OR o.state = 'running' OR o.first_due > $4 - 3600000))",
        "   AND e.format <= $10",
        "   AND NOT EXISTS (SELECT 1 FROM feature f WHERE f.id = e.feature_id AND (e.waits = 1 AND f.held = 1 OR f.format > $11))",
        "   AND (CASE WHEN e.feature_limit < $9 THEN e.feature_limit ELSE $9 END) > (SELECT COUNT(*) FROM effect r",
        "    WHERE r.state = 'running' AND r.lane = CAST($1 AS TEXT) AND r.feature_id = e.feature_id)",
        "   AND $6 > (SELECT COUNT(*) FROM effect r",
        "    WHERE r.state = 'running' AND r.lane = CAST($1 AS TEXT) AND r.repo_id = e.repo_id)",
        "   ORDER BY e.priority, e.run_at, e.seq LIMIT 1) AS seq",
        " FROM waiting w WHERE w.installation_id IS NOT NULL",
        " AND $5 > (SELECT COUNT(*) FROM effect r",
        "  WHERE r.state = 'running' AND r.lane = CAST($1 AS TEXT) AND r.installation_id = w.installation_id)",
        ") SELECT c.seq FROM offer JOIN effect c ON c.seq = offer.seq",
        " WHERE $7 > (SELECT COUNT(*) FROM effect r WHERE r.state = 'running' AND r.lane = CAST($1 AS TEXT))",
        " ORDER BY offer.busy, c.priority, c.run_at, c.seq LIMIT 1",
        ") AND state = 'ready' RETURNING ", effect::columns!());
    TAKE_BACK = "UPDATE effect SET crashes = crashes + 1, worker = NULL, lease_until = NULL, \
                 state = CASE WHEN cancel_requested = 1 THEN 'cancelled' ELSE 'ready' END \
                 WHERE state = 'running' AND lease_until <= $1 RETURNING id";
}

/// One lane and its limits. Running effects are counted over all workers of the database.
#[derive(Clone, Copy, Debug)]
pub struct LaneLimits {
    pub lane: Lane,
    /// The most effects of the lane that may run at once for one installation.
    pub per_installation: Option<u32>,
    /// The most effects of the lane that may run at once for one repository.
    pub per_repository: Option<u32>,
    /// The most effects of the lane that may run at once for one Feature. The Feature's own limit holds beside it.
    pub per_feature: Option<u32>,
    /// The most effects of the lane that may run at once in total.
    pub in_all: Option<u32>,
}

impl LaneLimits {
    /// A lane without limits. The rules of its order still apply.
    pub fn none(lane: Lane) -> Self {
        Self { lane, per_installation: None, per_repository: None, per_feature: None, in_all: None }
    }
}

#[derive(Clone, Debug)]
pub struct ClaimRequest<'a> {
    /// The worker's name, fresh at every start.
    pub worker: &'a str,
    /// The lanes with free slots, in the order in which they are tried.
    pub lanes: &'a [LaneLimits],
    /// The repositories whose agents are left to another process.
    pub others: &'a [RepoId],
    pub now: Millis,
    /// When the claim ends unless it is renewed, by the database's clock.
    pub lease_until: Millis,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claimed {
    /// The proof that every write about the effect must carry.
    pub hold: Hold,
    /// The effect. If it has many `crashes`, it is better to give it up than to try it again.
    pub effect: StoredEffect,
}

/// The lanes that a worker may try. Most wake-ups find none, and this read does not wait for a writer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ready {
    /// The lanes with effects that are due. An older effect of the same subject or a limit may still hold them back.
    pub lanes: Vec<Lane>,
    /// The first time at which another effect becomes due.
    pub next_due: Option<Millis>,
}

impl Store {
    /// Returns the lanes with work at `now`, and the time of the next.
    pub async fn ready(&self, now: Millis) -> Result<Ready, StoreError> {
        let mut ready = Ready { lanes: Vec::new(), next_due: None };
        for row in self.db.rows(READY, args![now.0]).await? {
            ready.next_due = row.opt_int("next")?.map(Millis);
            if row.int("is_due")? == 1 {
                ready.lanes.push(row.parsed("lane")?);
            }
        }
        Ok(ready)
    }

    /// Claims the effect whose turn it is for the worker. Returns `None` if there is none.
    pub async fn claim(&self, request: &ClaimRequest<'_>) -> Result<Option<Claimed>, StoreError> {
        for limits in request.lanes {
            if let Some(claimed) = self.claim_in(limits, request).await? {
                return Ok(Some(claimed));
            }
        }
        Ok(None)
    }

    async fn claim_in(&self, limits: &LaneLimits, request: &ClaimRequest<'_>) -> Result<Option<Claimed>, StoreError> {
        let flush = match limits.lane {
            // A repetition of these must know that it is one, since an earlier try may have written to GitHub.
            Lane::Forge | Lane::Agent => Flush::AtCommit,
            // The consequences of a delivery are stored in this database alone, so a claim that a power cut undoes is
            // made again unnoticed. A flush would keep the next delivery waiting.
            Lane::Control => Flush::Later,
        };
        let others: String = request.others.iter().map(|repo| format!(",{repo},")).collect();
        let arguments = args![
            limits.lane.word(),
            request.worker,
            request.lease_until.0,
            request.now.0,
            most(limits.per_installation),
            most(limits.per_repository),
            most(limits.in_all),
            others.as_str(),
            most(limits.per_feature),
            effect::FORMAT,
            feature::FORMAT,
        ];
        let single = Single { sql: CLAIM, args: arguments, flush, lock: Some(LOCK), wakes: false };
        let claimed = self.db.single(single).await?;
        let Some(row) = claimed.rows.first() else {
            return Ok(None);
        };
        let effect = effect::read(row)?;
        let hold = Hold { effect: effect.id.clone(), worker: request.worker.to_owned(), fence: effect.fence };
        Ok(Some(Claimed { hold, effect }))
    }

    /// Takes back the effects whose lease has ended at `now` of the database's clock, and returns their ids. They become
    /// ready again, or cancelled if that was asked for, and `crashes` is one higher.
    pub async fn reap(&self, now: Millis) -> Result<Vec<String>, StoreError> {
        self.take_back_until(now, now).await
    }

    /// Takes back, at start, the effects that a dead process still holds. On SQLite the lock file proves that all other
    /// processes are gone, so every running effect is taken back. On PostgreSQL others may be alive, so nothing is.
    pub async fn take_back(&self, now: Millis) -> Result<Vec<String>, StoreError> {
        match self.db.pools {
            Pools::Sqlite { .. } => self.take_back_until(Millis(i64::MAX), now).await,
            Pools::Postgres(_) => Ok(Vec::new()),
        }
    }

    async fn take_back_until(&self, moment: Millis, now: Millis) -> Result<Vec<String>, StoreError> {
        let mut tx = self.db.write().await?;
        tx.alone(LOCK).await?;
        let rows = tx.rows(TAKE_BACK, args![moment.0]).await?;
        if rows.is_empty() {
            tx.rollback().await?;
            return Ok(Vec::new());
        }
        let taken = rows.iter().map(|row| row.text("id")).collect();
        run::lose_unheld(&mut tx, now).await?;
        counters::add(&mut tx, counters::LEASES_LOST, u64::try_from(rows.len()).unwrap_or(0)).await?;
        self.db.publish(tx).await?;
        taken
    }
}

fn most(limit: Option<u32>) -> i64 {
    limit.map_or(i64::MAX, i64::from)
}
