//! Deletes old rows in small pieces, so that no statement holds others up for long.

use crate::store::{
    error::StoreError,
    row::{Row, column},
    sql::{Pools, Tx, args, statements},
    store::Store,
};
use domain::ids::{InstallationId, Millis, RepoId};
use std::collections::BTreeSet;

/// The rows that one statement deletes at most.
const AT_ONCE: i64 = 500;

/// Gives some free pages of SQLite back to the disk: few enough that others who write do not wait for long.
const GIVE_BACK: &str = "PRAGMA incremental_vacuum(4000)";
const FREE_PAGES: &str = "PRAGMA freelist_count";

/// The free pages that SQLite keeps for the next writes.
const SPARE_PAGES: i64 = 4_000;

statements! {
    DELIVERIES = "DELETE FROM delivery WHERE (app_id, id) IN \
                  (SELECT app_id, id FROM delivery WHERE received_at < $1 LIMIT $2)";
    // Effects of no Feature read deliveries and answer people. One that failed stays for the operators.
    LOOSE_EFFECTS = "DELETE FROM effect WHERE seq IN (SELECT seq FROM effect WHERE feature_id IS NULL \
                     AND state IN ('done', 'cancelled') AND first_due < $1 LIMIT $2)";
    ENDED = "SELECT f.id FROM feature f WHERE f.trimmed = 0 AND f.state IN ('completed', 'cancelled', 'failed') \
             AND (SELECT MAX(e.at) FROM event e WHERE e.stream = f.id) < $1 LIMIT $2";
    TRIM_EFFECTS = "DELETE FROM effect WHERE feature_id = $1 AND state <> 'running'";
    TRIM_RUNS = "UPDATE run SET events = NULL, calls = NULL WHERE feature_id = $1";
    TRIM_TURNS = "UPDATE turn SET evidence = NULL WHERE task_id IN (SELECT id FROM task WHERE feature_id = $1)";
    TRIM_EVENTS = "UPDATE event SET body = '{}' WHERE stream = $1";
    TRIMMED = "UPDATE feature SET trimmed = 1 WHERE id = $1";
    DEPART = "INSERT INTO departed (installation_id, since, repos) VALUES ($1, $2, '[]') ON CONFLICT DO NOTHING";
    STAYED = "DELETE FROM departed WHERE installation_id = $1 AND purged = 0";
    INSTALLATIONS = "SELECT DISTINCT installation_id FROM feature";
    TO_PURGE = "SELECT installation_id FROM departed WHERE since < $1 AND purged = 0 LIMIT $2";
    // A repository that another installation works on was transferred, or the App was installed again.
    REPOS = "SELECT repo_id FROM (SELECT repo_id FROM feature WHERE installation_id = $1 \
             UNION SELECT repo_id FROM delivery WHERE installation_id = $1 AND repo_id IS NOT NULL) AS covered \
             WHERE NOT EXISTS (SELECT 1 FROM feature o WHERE o.repo_id = covered.repo_id AND o.installation_id <> $1)";
    PURGE_EVENTS = "DELETE FROM event WHERE stream IN (SELECT id FROM feature WHERE installation_id = $1 \
                    AND state IN ('completed', 'cancelled', 'failed'))";
    PURGE_EFFECTS = "DELETE FROM effect WHERE installation_id = $1 AND state <> 'running'";
    // The figures stay, of no Feature: nobody may spend a month's limit again by leaving and coming back. Not by the run's
    // own installation: budgets count all runs of a Feature that goes on with another one.
    PURGE_RUNS = "UPDATE run SET feature_id = '', task = NULL, events = NULL, calls = NULL WHERE counted = 1 \
                  AND feature_id IN (SELECT id FROM feature \
                  WHERE installation_id = $1 AND state IN ('completed', 'cancelled', 'failed'))";
    PURGE_DELIVERIES = "DELETE FROM delivery WHERE installation_id = $1";
    PURGE_REFUSALS = "DELETE FROM refusal WHERE installation_id = $1";
    PURGE_FEATURES = "DELETE FROM feature WHERE installation_id = $1 AND state IN ('completed', 'cancelled', 'failed')";
    PURGE_BASELINES = "DELETE FROM baseline WHERE repo_id = $1";
    PURGE_SETTINGS = "DELETE FROM repository_settings WHERE repo_id = $1";
    PURGED = "UPDATE departed SET purged = 1, repos = $2 WHERE installation_id = $1";
    DEPARTED_REPOS = "SELECT repos FROM departed WHERE purged = 1";
    FORGET_RUNS = "DELETE FROM run WHERE feature_id = '' AND started_at < $1";
    FORGET_ACCOUNTS = "DELETE FROM account WHERE installation_id IN \
                       (SELECT installation_id FROM departed WHERE purged = 1 AND since < $1)";
    FORGET_DEPARTED = "DELETE FROM departed WHERE purged = 1 AND since < $1";
}

/// The result of one deleting step: if it found as much as it takes at once, there may be more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoreToDelete {
    Maybe,
    No,
}

impl MoreToDelete {
    fn after(count: u64) -> Self {
        if count < AT_ONCE.unsigned_abs() { Self::No } else { Self::Maybe }
    }
}

impl Store {
    /// Deletes some deliveries older than `before`. A repeat of one of them would be new.
    pub async fn forget_deliveries(&self, before: Millis) -> Result<MoreToDelete, StoreError> {
        let count = self.db.run(DELIVERIES, args![before.0, AT_ONCE]).await?;
        Ok(MoreToDelete::after(count))
    }

    /// Deletes some effects of no Feature that are over and were due before `before`.
    pub async fn forget_loose_effects(&self, before: Millis) -> Result<MoreToDelete, StoreError> {
        let count = self.db.run(LOOSE_EFFECTS, args![before.0, AT_ONCE]).await?;
        Ok(MoreToDelete::after(count))
    }

    /// Deletes the effects, traces and evidence of some Features whose last event was before `before`. The Features, their
    /// plans, tasks, reviews and costs stay; of the events, who caused which kind when.
    pub async fn trim_ended_features(&self, before: Millis) -> Result<MoreToDelete, StoreError> {
        let rows = self.db.rows(ENDED, args![before.0, AT_ONCE]).await?;
        for row in &rows {
            let id = row.text("id")?;
            let mut tx = self.db.write().await?;
            for sql in [TRIM_EFFECTS, TRIM_RUNS, TRIM_TURNS, TRIM_EVENTS, TRIMMED] {
                tx.run(sql, args![&id]).await?;
            }
            tx.commit().await?;
        }
        Ok(MoreToDelete::after(u64::try_from(rows.len()).unwrap_or(0)))
    }

    /// Notes that an installation is gone, so that its data is deleted later.
    pub async fn depart(&self, installation: InstallationId, now: Millis) -> Result<(), StoreError> {
        self.db.run(DEPART, args![column(installation.0)?, now.0]).await?;
        Ok(())
    }

    /// Compares the installations in the database with all that the App has: notes those that are gone, and removes the
    /// note of those that are back.
    pub async fn note_installations(&self, all: &BTreeSet<InstallationId>, now: Millis) -> Result<(), StoreError> {
        let rows = self.db.rows(INSTALLATIONS, args![]).await?;
        for row in &rows {
            let known = row.count("installation_id")?;
            if all.contains(&InstallationId(known)) {
                self.db.run(STAYED, args![column(known)?]).await?;
            } else {
                self.depart(InstallationId(known), now).await?;
            }
        }
        Ok(())
    }

    /// Deletes the data of installations that were gone before `before`. Returns their number.
    pub async fn purge_departed(&self, before: Millis) -> Result<u64, StoreError> {
        let rows = self.db.rows(TO_PURGE, args![before.0, AT_ONCE]).await?;
        for row in &rows {
            let mut tx = self.db.write().await?;
            purge(&mut tx, row.int("installation_id")?).await?;
            tx.commit().await?;
        }
        Ok(u64::try_from(rows.len()).unwrap_or(0))
    }

    /// Returns the repositories whose data was deleted. Each machine deletes their code.
    pub async fn departed_repos(&self) -> Result<Vec<RepoId>, StoreError> {
        let rows = self.db.rows(DEPARTED_REPOS, args![]).await?;
        let texts = rows.iter().map(|row| row.text("repos")).collect::<Result<Vec<_>, _>>()?;
        Ok(texts.iter().flat_map(|text| serde_json::from_str::<Vec<RepoId>>(text).unwrap_or_default()).collect())
    }

    /// Forgets installations that were gone before `before`, with the names of their repositories, and what such
    /// installations spent before.
    pub async fn forget_departed(&self, before: Millis) -> Result<(), StoreError> {
        let mut tx = self.db.write().await?;
        for sql in [FORGET_RUNS, FORGET_ACCOUNTS, FORGET_DEPARTED] {
            tx.run(sql, args![before.0]).await?;
        }
        tx.commit().await
    }

    /// Gives the space of deleted rows back to the disk, some at a time. PostgreSQL reuses it by itself.
    pub async fn give_back_room(&self) -> Result<(), StoreError> {
        let Pools::Sqlite { write, .. } = &self.db.pools else {
            return Ok(());
        };
        let mut before = i64::MAX;
        loop {
            let mut session = write.session().await?;
            let free: i64 = sqlx::query_scalar(FREE_PAGES).fetch_one(session.connection()?).await?;
            // A database without automatic vacuum gives nothing back.
            if free <= SPARE_PAGES || free >= before {
                session.settle();
                return Ok(());
            }
            before = free;
            sqlx::query(GIVE_BACK).execute(session.connection()?).await?;
            session.settle();
        }
    }
}

async fn purge(tx: &mut Tx, installation: i64) -> Result<(), StoreError> {
    let repos = tx.rows(REPOS, args![installation]).await?;
    let repos = repos.iter().map(|row: &Row| row.int("repo_id")).collect::<Result<Vec<_>, _>>()?;
    for sql in [PURGE_EVENTS, PURGE_EFFECTS, PURGE_RUNS, PURGE_DELIVERIES, PURGE_REFUSALS, PURGE_FEATURES] {
        tx.run(sql, args![installation]).await?;
    }
    for repo in &repos {
        tx.run(PURGE_BASELINES, args![*repo]).await?;
        tx.run(PURGE_SETTINGS, args![*repo]).await?;
    }
    let repos = serde_json::to_string(&repos).unwrap_or_default();
    tx.run(PURGED, args![installation, &repos]).await?;
    Ok(())
}
