//! The progress of running agents: the last activity of each, for people who wait. Only the current holder of an effect
//! can write it. [`Store::at_work`] reads only runs whose effect is still held, so runs of a killed process do not
//! show.

use crate::store::{
    effect,
    effect::NewEffect,
    error::StoreError,
    hold::{Fenced, Hold, held, written},
    row::Row,
    sql::{Tx, args, statements},
    store::Store,
};
use domain::{
    at_work::{AgentState, AtWork, RunActivity},
    ids::{FeatureKey, Millis, TurnNumber},
    refused_host::RefusedHost,
};
use std::collections::BTreeMap;

statements! {
    SEEN = "UPDATE run SET tool_calls = $5, waiting = $6, seen_at = $7 WHERE id = $1 AND state = 'running' \
            AND EXISTS (SELECT 1 FROM effect e WHERE e.id = $2 AND e.worker = $3 AND e.fence = $4 AND e.state = 'running')";
    CALLS = "UPDATE run SET calls = $5 WHERE id = $1 AND state = 'running' \
             AND EXISTS (SELECT 1 FROM effect e WHERE e.id = $2 AND e.worker = $3 AND e.fence = $4 AND e.state = 'running')";
    CALLS_OF = "SELECT id, calls FROM run WHERE feature_id = $1 AND state = 'running' AND calls IS NOT NULL";
    REFUSED = concat!("UPDATE effect SET refused = $4", held!());
    REFUSED_OF = "SELECT refused FROM effect WHERE feature_id = $1 AND state = 'running' AND refused IS NOT NULL ORDER BY seq";
    WAITS = "SELECT id FROM effect WHERE feature_id = $1 AND kind = $2 AND state = 'ready' LIMIT 1";
    AT_WORK = "SELECT task, turn, role, tool_calls, waiting, seen_at FROM run WHERE feature_id = $1 AND state = 'running' \
               AND seen_at IS NOT NULL AND EXISTS (SELECT 1 FROM effect e WHERE e.id = run.effect_id \
               AND e.fence = run.fence AND e.state = 'running') ORDER BY task, started_at, id";
}

impl Store {
    /// Stores the last activity of the run `id`. Also stores the effect `show`, unless one of its kind waits already,
    /// which will show it too.
    pub async fn saw_run(
        &self,
        hold: &Hold,
        id: &str,
        seen: RunActivity,
        at: Millis,
        show: &NewEffect,
    ) -> Result<Fenced, StoreError> {
        effect::check(show)?;
        let waiting = match seen.doing {
            AgentState::Working => 0,
            AgentState::WaitingForApi => 1,
        };
        let calls = i64::from(seen.tool_calls);
        let arguments = args![id, &hold.effect, &hold.worker, hold.fence, calls, waiting, at.0];
        let mut tx = self.db.write().await?;
        if tx.run(SEEN, arguments).await? == 0 {
            tx.rollback().await?;
            return Ok(Fenced::Lost);
        }
        self.commit_showing(tx, show).await?;
        Ok(Fenced::Written)
    }

    /// Commits together with an effect that shows the progress, unless one of its kind waits already.
    async fn commit_showing(&self, mut tx: Tx, show: &NewEffect) -> Result<(), StoreError> {
        let feature = show.feature.map(|key| key.to_string());
        match tx.row(WAITS, args![feature.as_deref(), &show.kind]).await? {
            Some(_) => tx.commit().await,
            None => {
                effect::insert_all(&mut tx, &[show]).await?;
                self.db.publish(tx).await
            }
        }
    }

    /// Stores the hosts that the programs of a running effect could not reach so far, and the effect `show`.
    pub async fn saw_refused(
        &self,
        hold: &Hold,
        hosts: &[RefusedHost],
        show: &NewEffect,
    ) -> Result<Fenced, StoreError> {
        effect::check(show)?;
        let hosts = if hosts.is_empty() { None } else { serde_json::to_string(hosts).ok() };
        let arguments = args![&hold.effect, &hold.worker, hold.fence, hosts.as_deref()];
        let mut tx = self.db.write().await?;
        if tx.run(REFUSED, arguments).await? == 0 {
            tx.rollback().await?;
            return Ok(Fenced::Lost);
        }
        self.commit_showing(tx, show).await?;
        Ok(Fenced::Written)
    }

    /// Returns the hosts that the running programs of a Feature could not reach, each once.
    pub async fn refused(&self, feature: &FeatureKey) -> Result<Vec<RefusedHost>, StoreError> {
        let rows = self.db.rows(REFUSED_OF, args![&feature.to_string()]).await?;
        let mut all: Vec<RefusedHost> = Vec::new();
        for row in &rows {
            let hosts: Vec<RefusedHost> = serde_json::from_str(&row.text("refused")?).unwrap_or_default();
            for host in hosts {
                if !all.contains(&host) {
                    all.push(host);
                }
            }
        }
        Ok(all)
    }

    /// Stores the last tool calls of the run `id`, for people who watch it.
    pub async fn saw_calls(&self, hold: &Hold, id: &str, calls: &[&str]) -> Result<Fenced, StoreError> {
        let calls = serde_json::Value::from(calls).to_string();
        let arguments = args![id, &hold.effect, &hold.worker, hold.fence, &calls];
        let mut tx = self.db.write().await?;
        let fenced = written(tx.run(CALLS, arguments).await?);
        tx.commit().await?;
        Ok(fenced)
    }

    /// Returns the last tool calls of a Feature's running runs, by run id.
    pub async fn calls(&self, feature: &FeatureKey) -> Result<BTreeMap<String, Vec<String>>, StoreError> {
        let rows = self.db.rows(CALLS_OF, args![&feature.to_string()]).await?;
        let read = |row: &Row| {
            let calls = serde_json::from_str(&row.text("calls")?).unwrap_or_default();
            Ok((row.text("id")?, calls))
        };
        rows.iter().map(read).collect()
    }

    /// Returns the running runs of a Feature that have shown any activity.
    pub async fn at_work(&self, feature: &FeatureKey) -> Result<Vec<AtWork>, StoreError> {
        let rows = self.db.rows(AT_WORK, args![&feature.to_string()]).await?;
        rows.iter().map(read).collect()
    }
}

fn read(row: &Row) -> Result<AtWork, StoreError> {
    Ok(AtWork {
        task: row.opt_parsed("task")?,
        turn: TurnNumber(row.small("turn")?),
        role: row.text("role")?,
        seen: RunActivity {
            tool_calls: row.small("tool_calls")?,
            doing: match row.int("waiting")? {
                0 => AgentState::Working,
                _ => AgentState::WaitingForApi,
            },
        },
        at: Millis(row.int("seen_at")?),
    })
}
