//! Effects: what is to be done outside, written down before it is done.

use crate::store::{
    error::StoreError,
    lane::{EffectState, Ordered},
    row::{Row, stored},
    sql::{Bulk, Tx, args, statements},
    store::Store,
};
use domain::{
    effect::Lane,
    ids::{FeatureKey, InstallationId, Millis, RepoId},
};
use std::sync::LazyLock;

/// The columns that make a [`StoredEffect`].
macro_rules! columns {
    () => {
        "seq, id, kind, lane, subject, feature_id, ordered, installation_id, repo_id, payload, state, priority, \
         run_at, attempt, crashes, fence, worker, lease_until, deadline, cancel_requested, external_id, last_error, \
         parked, parked_since, waits_for"
    };
}
pub(super) use columns;

statements! {
    HURRY = "UPDATE effect SET run_at = $2 WHERE installation_id = $1 AND state = 'ready' AND run_at > $2";
    ONE = concat!("SELECT ", columns!(), " FROM effect WHERE id = $1");
    OF_FEATURE = concat!("SELECT ", columns!(), " FROM effect WHERE feature_id = $1 ORDER BY seq");
    UNFINISHED = concat!("SELECT ", columns!(), " FROM effect WHERE state IN ('ready', 'running') ORDER BY seq");
}

/// Stores effects; those with a known id are left out.
pub(super) static INSERT: LazyLock<Bulk> = LazyLock::new(|| {
    Bulk::new(
        "INSERT INTO effect (id, kind, lane, subject, feature_id, feature_limit, ordered, waits, installation_id, \
         repo_id, payload, priority, run_at, first_due, deadline)",
        15,
        "ON CONFLICT (id) DO NOTHING",
    )
});

/// The longest payload of an effect, in bytes.
pub const MAX_EFFECT_PAYLOAD: usize = 4 << 20;

/// An effect to be stored; one with a known id is the same effect and is not stored again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewEffect {
    /// What makes it the same effect.
    pub id: String,
    /// What is to be done.
    pub kind: String,
    /// The slots it is worked off in.
    pub lane: Lane,
    /// What it is about: the unit of order (forge) and of exclusion (agent).
    pub subject: String,
    /// The Feature that asked for it.
    pub feature: Option<FeatureKey>,
    /// How many effects of this lane may run at once for the Feature.
    pub feature_limit: Option<u32>,
    /// Whether it keeps the order of its subject.
    pub ordered: Ordered,
    /// Whether it is not claimed while its Feature is held.
    pub waits: bool,
    /// The installation it is charged to; 0 where there is none.
    pub installation: InstallationId,
    /// The repository it is about.
    pub repo: Option<RepoId>,
    /// Its details, JSON.
    pub payload: String,
    /// Lower goes first.
    pub priority: i64,
    /// Not before this moment.
    pub run_at: Millis,
    /// After this moment it is no longer worth doing.
    pub deadline: Option<Millis>,
}

/// An effect as it is remembered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredEffect {
    /// The order in which effects were stored.
    pub seq: i64,
    /// What makes it the same effect.
    pub id: String,
    /// What is to be done.
    pub kind: String,
    /// The slots it is worked off in.
    pub lane: Lane,
    /// What it is about.
    pub subject: String,
    /// The Feature that asked for it.
    pub feature: Option<FeatureKey>,
    /// Whether it keeps the order of its subject.
    pub ordered: Ordered,
    /// The installation it is charged to.
    pub installation: InstallationId,
    /// The repository it is about.
    pub repo: Option<RepoId>,
    /// Its details, JSON.
    pub payload: String,
    /// Where it is on its way.
    pub state: EffectState,
    /// Lower goes first.
    pub priority: i64,
    /// Not before this moment.
    pub run_at: Millis,
    /// How many tries failed.
    pub attempt: u32,
    /// How many workers vanished while they held it.
    pub crashes: u32,
    /// Raised by every claim.
    pub fence: i64,
    /// Who holds it.
    pub worker: Option<String>,
    /// Until when, unless renewed.
    pub lease_until: Option<Millis>,
    /// After this moment it is no longer worth doing.
    pub deadline: Option<Millis>,
    /// Whether its holder is asked to stop.
    pub cancel_requested: bool,
    /// What it made outside, as far as is known.
    pub external_id: Option<String>,
    /// Why the last try failed.
    pub last_error: Option<String>,
    /// How often it was put off because the provider of its model did not serve it.
    pub parked: u32,
    /// Since when it waits for a provider.
    pub parked_since: Option<Millis>,
    /// The provider that it waits for.
    pub waits_for: Option<String>,
}

impl Store {
    /// The effect with this id.
    pub async fn effect(&self, id: &str) -> Result<Option<StoredEffect>, StoreError> {
        let row = self.db.row(ONE, args![id]).await?;
        row.map(|row| read(&row)).transpose()
    }

    /// Every effect that a Feature ever asked for, oldest first.
    pub async fn effects_of(&self, feature: &FeatureKey) -> Result<Vec<StoredEffect>, StoreError> {
        let rows = self.db.rows(OF_FEATURE, args![&feature.to_string()]).await?;
        rows.iter().map(read).collect()
    }

    /// Every effect that is ready or running, oldest first.
    pub async fn unfinished_effects(&self) -> Result<Vec<StoredEffect>, StoreError> {
        let rows = self.db.rows(UNFINISHED, args![]).await?;
        rows.iter().map(read).collect()
    }

    /// Makes due at once what waits for its time in an installation: what it waited for is over.
    pub async fn hurry(&self, installation: InstallationId, now: Millis) -> Result<u64, StoreError> {
        let mut tx = self.db.write().await?;
        let touched = tx.run(HURRY, args![stored(installation.0)?, now.0]).await?;
        self.db.publish(tx).await?;
        Ok(touched)
    }

    /// Stores effects that follow from no event of a Feature; known ids are left as they are.
    pub async fn add_effects(&self, effects: &[NewEffect]) -> Result<(), StoreError> {
        effects.iter().try_for_each(check)?;
        let mut tx = self.db.write().await?;
        insert_all(&mut tx, &effects.iter().collect::<Vec<_>>()).await?;
        self.db.publish(tx).await?;
        Ok(())
    }
}

/// Refuses what no transaction could store, before one begins.
pub(super) fn check(new: &NewEffect) -> Result<(), StoreError> {
    stored(new.installation.0)?;
    new.repo.map_or(Ok(0), |repo| stored(repo.0))?;
    match new.payload.len() {
        0..=MAX_EFFECT_PAYLOAD => Ok(()),
        bytes => Err(StoreError::TooLong {
            what: "the payload of an effect",
            bytes,
            limit: MAX_EFFECT_PAYLOAD,
        }),
    }
}

/// Stores effects in their order.
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
            stored(new.installation.0)?,
            new.repo.map(|repo| stored(repo.0)).transpose()?,
            &new.payload,
            new.priority,
            new.run_at.0,
            new.run_at.0,
            new.deadline.map(|at| at.0),
        ]);
    }
    tx.run(sql, &arguments).await?;
    Ok(())
}

pub(super) fn read(row: &Row) -> Result<StoredEffect, StoreError> {
    Ok(StoredEffect {
        seq: row.int("seq")?,
        id: row.text("id")?,
        kind: row.text("kind")?,
        lane: row.parsed("lane")?,
        subject: row.text("subject")?,
        feature: row.opt_parsed("feature_id")?,
        ordered: match row.int("ordered")? {
            0 => Ordered::Free,
            _ => Ordered::InOrder,
        },
        installation: InstallationId(row.count("installation_id")?),
        repo: row.opt_count("repo_id")?.map(RepoId),
        payload: row.text("payload")?,
        state: row.parsed("state")?,
        priority: row.int("priority")?,
        run_at: Millis(row.int("run_at")?),
        attempt: row.small("attempt")?,
        crashes: row.small("crashes")?,
        fence: row.int("fence")?,
        worker: row.opt_text("worker")?,
        lease_until: row.opt_int("lease_until")?.map(Millis),
        deadline: row.opt_int("deadline")?.map(Millis),
        cancel_requested: row.int("cancel_requested")? != 0,
        external_id: row.opt_text("external_id")?,
        last_error: row.opt_text("last_error")?,
        parked: row.small("parked")?,
        parked_since: row.opt_int("parked_since")?.map(Millis),
        waits_for: row.opt_text("waits_for")?,
    })
}
