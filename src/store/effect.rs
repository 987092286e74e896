//! Effects: work outside the database, stored before it is done.

use crate::store::{
    error::StoreError,
    row::{Row, column},
    sql::{BulkInsert, Tx, args, statements},
    store::Store,
};
use domain::{
    effect::Lane,
    ids::{FeatureKey, InstallationId, Millis, RepoId},
};
use std::sync::LazyLock;

/// The columns of a [`StoredEffect`].
macro_rules! columns {
    () => {
        "seq, id, kind, lane, subject, feature_id, installation_id, repo_id, payload, state, run_at, attempt, \
         crashes, fence, worker, lease_until, external_id, last_error, parked, parked_since, waits_for"
    };
}
pub(super) use columns;

/// The newest form of payloads that this program reads. Raise it with a kind that the release before does not know.
pub(super) const FORMAT: i64 = 2;

statements! {
    MOVE = "UPDATE effect SET installation_id = $2 WHERE feature_id = $1 AND installation_id <> $2 \
            AND state IN ('ready', 'running', 'failed')";
    HURRY = "UPDATE effect SET run_at = $2 WHERE installation_id = $1 AND state = 'ready' AND run_at > $2";
    ONE = concat!("SELECT ", columns!(), " FROM effect WHERE id = $1");
    OF_FEATURE = concat!("SELECT ", columns!(), " FROM effect WHERE feature_id = $1 ORDER BY seq");
    OF_KIND = concat!("SELECT ", columns!(), " FROM effect WHERE repo_id = $1 AND kind = $2 AND seq > $3 ORDER BY seq");
    UNFINISHED = concat!("SELECT ", columns!(), " FROM effect WHERE state IN ('ready', 'running') ORDER BY seq");
}

/// Inserts effects. Those with a known id are skipped.
pub(super) static INSERT: LazyLock<BulkInsert> = LazyLock::new(|| {
    BulkInsert::new(
        "INSERT INTO effect (id, kind, lane, subject, feature_id, feature_limit, ordered, waits, installation_id, \
         repo_id, payload, format, priority, run_at, first_due)",
        15,
        "ON CONFLICT (id) DO NOTHING",
    )
});

/// The order in which an effect of the forge or control lane runs within its subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ordered {
    /// It runs after all older ordered effects of its subject.
    InOrder,
    /// It is outside that order: in the forge lane it waits only for older unordered effects of its own kind and subject.
    Free,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EffectState {
    /// It waits for its time and a worker.
    Ready,
    /// A worker holds it.
    Running,
    Done,
    /// It was given up.
    Failed,
    /// It was no longer wanted.
    Cancelled,
}

text::words!(EffectState {
    Ready = "ready",
    Running = "running",
    Done = "done",
    Failed = "failed",
    Cancelled = "cancelled",
});

/// The longest payload of an effect, in bytes.
pub const MAX_EFFECT_PAYLOAD: usize = 4 << 20;

/// An effect to be stored. If its id is known, it is the same effect and is not stored again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewEffect {
    pub id: String,
    /// The kind of effect, such as `ingest`.
    pub kind: String,
    /// The lane whose slots it uses.
    pub lane: Lane,
    /// The subject that it is about. Effects of one subject are ordered (forge and control lane) or exclude each other
    /// (agent lane).
    pub subject: String,
    pub feature: Option<FeatureKey>,
    /// The most effects of this lane that may run at once for the Feature.
    pub feature_limit: Option<u32>,
    pub ordered: Ordered,
    /// `true` if it is not claimed while its Feature is held.
    pub waits: bool,
    /// The installation it is charged to; 0 if there is none.
    pub installation: InstallationId,
    pub repo: Option<RepoId>,
    pub payload: String,
    /// The priority; lower values are first.
    pub priority: i64,
    /// The earliest time at which it may run.
    pub run_at: Millis,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredEffect {
    /// Its number in the order in which effects were stored.
    pub seq: i64,
    pub id: String,
    /// The kind of effect, such as `ingest`.
    pub kind: String,
    /// The lane whose slots it uses.
    pub lane: Lane,
    /// The subject; see [`NewEffect::subject`].
    pub subject: String,
    pub feature: Option<FeatureKey>,
    pub installation: InstallationId,
    pub repo: Option<RepoId>,
    pub payload: String,
    pub state: EffectState,
    /// The earliest time at which it may run.
    pub run_at: Millis,
    /// The number of failed tries.
    pub attempt: u32,
    /// How often a worker vanished or panicked while it held the effect.
    pub crashes: u32,
    /// A number that every claim raises, so that writes under an older claim are recognized.
    pub fence: i64,
    pub worker: Option<String>,
    /// The end of the lease, unless it is renewed.
    pub lease_until: Option<Millis>,
    /// The id of its external result, if known; for a Player, JSON about its finished or partial run.
    pub external_id: Option<String>,
    /// The error of the last failed try.
    pub last_error: Option<String>,
    /// How often it was put off because the provider of its model refused it.
    pub parked: u32,
    /// Since when it waits for a provider or for GitHub.
    pub parked_since: Option<Millis>,
    /// The provider that it waits for, or `github`.
    pub waits_for: Option<String>,
}

impl Store {
    pub async fn effect(&self, id: &str) -> Result<Option<StoredEffect>, StoreError> {
        let row = self.db.row(ONE, args![id]).await?;
        row.map(|row| read(&row)).transpose()
    }

    /// Returns every effect that a Feature ever asked for, oldest first.
    pub async fn effects_of(&self, feature: &FeatureKey) -> Result<Vec<StoredEffect>, StoreError> {
        let rows = self.db.rows(OF_FEATURE, args![&feature.to_string()]).await?;
        rows.iter().map(read).collect()
    }

    /// Returns the effects of one kind in a repository that were stored after the one with this number, oldest first.
    pub async fn effects_of_kind(&self, repo: RepoId, kind: &str, after: i64) -> Result<Vec<StoredEffect>, StoreError> {
        let rows = self.db.rows(OF_KIND, args![column(repo.0)?, kind, after]).await?;
        rows.iter().map(read).collect()
    }

    /// Returns every effect that is ready or running, oldest first.
    pub async fn unfinished_effects(&self) -> Result<Vec<StoredEffect>, StoreError> {
        let rows = self.db.rows(UNFINISHED, args![]).await?;
        rows.iter().map(read).collect()
    }

    /// Makes the waiting effects of an installation due now, because their wait is over. Returns their number.
    pub async fn hurry(&self, installation: InstallationId, now: Millis) -> Result<u64, StoreError> {
        let mut tx = self.db.write().await?;
        let touched = tx.run(HURRY, args![column(installation.0)?, now.0]).await?;
        self.db.publish(tx).await?;
        Ok(touched)
    }

    /// Charges a Feature's effects to another installation.
    pub async fn move_effects(&self, feature: &FeatureKey, to: InstallationId) -> Result<(), StoreError> {
        self.db.run(MOVE, args![&feature.to_string(), column(to.0)?]).await.map(drop)
    }

    /// Stores effects that follow from no event of a Feature. Those with a known id stay as they are.
    pub async fn add_effects(&self, effects: &[NewEffect]) -> Result<(), StoreError> {
        effects.iter().try_for_each(check)?;
        let mut tx = self.db.write().await?;
        insert_all(&mut tx, &effects.iter().collect::<Vec<_>>()).await?;
        self.db.publish(tx).await?;
        Ok(())
    }
}

/// Refuses an effect that no transaction could store, before one begins.
pub(super) fn check(new: &NewEffect) -> Result<(), StoreError> {
    column(new.installation.0)?;
    new.repo.map_or(Ok(0), |repo| column(repo.0))?;
    match new.payload.len() {
        0..=MAX_EFFECT_PAYLOAD => Ok(()),
        bytes => Err(StoreError::TooLong { what: "an effect's payload", bytes, limit: MAX_EFFECT_PAYLOAD }),
    }
}

/// Stores effects in the given order.
pub(super) async fn insert_all(tx: &mut Tx, effects: &[&NewEffect]) -> Result<(), StoreError> {
    let mut rest = effects;
    while let Some((count, sql)) = INSERT.piece(rest.len()) {
        let (piece, later) = rest.split_at(count);
        insert(tx, sql, piece).await?;
        rest = later;
    }
    Ok(())
}

async fn insert(tx: &mut Tx, sql: &'static str, piece: &[&NewEffect]) -> Result<(), StoreError> {
    let features: Vec<_> = piece.iter().map(|new| new.feature.map(|key| key.to_string())).collect();
    let mut arguments = Vec::new();
    for (new, feature) in piece.iter().zip(&features) {
        arguments.extend_from_slice(args![
            &new.id,
            &new.kind,
            new.lane.word(),
            &new.subject,
            feature.as_deref(),
            new.feature_limit.map(i64::from),
            match new.ordered {
                Ordered::InOrder => 1,
                Ordered::Free => 0,
            },
            i64::from(new.waits),
            column(new.installation.0)?,
            new.repo.map(|repo| column(repo.0)).transpose()?,
            &new.payload,
            format_of(&new.kind),
            new.priority,
            new.run_at.0,
            new.run_at.0,
        ]);
    }
    tx.run_later(sql, &arguments).await
}

/// Returns the form of the payloads of a kind. A release leaves kinds that it does not know to newer ones.
fn format_of(kind: &str) -> i64 {
    match kind {
        "read_ci" => 2,
        _ => 1,
    }
}

pub(super) fn read(row: &Row) -> Result<StoredEffect, StoreError> {
    Ok(StoredEffect {
        seq: row.int("seq")?,
        id: row.text("id")?,
        kind: row.text("kind")?,
        lane: row.parsed("lane")?,
        subject: row.text("subject")?,
        feature: row.opt_parsed("feature_id")?,
        installation: InstallationId(row.count("installation_id")?),
        repo: row.opt_count("repo_id")?.map(RepoId),
        payload: row.text("payload")?,
        state: row.parsed("state")?,
        run_at: Millis(row.int("run_at")?),
        attempt: row.small("attempt")?,
        crashes: row.small("crashes")?,
        fence: row.int("fence")?,
        worker: row.opt_text("worker")?,
        lease_until: row.opt_int("lease_until")?.map(Millis),
        external_id: row.opt_text("external_id")?,
        last_error: row.opt_text("last_error")?,
        parked: row.small("parked")?,
        parked_since: row.opt_int("parked_since")?.map(Millis),
        waits_for: row.opt_text("waits_for")?,
    })
}
