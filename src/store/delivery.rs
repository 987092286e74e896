//! Webhook deliveries. Each is stored before it is acknowledged, and recognized if it is repeated.

use crate::store::{
    effect,
    effect::NewEffect,
    error::StoreError,
    row::{Row, column, explained},
    sql::{BulkInsert, Flush, Single, Tx, args, statements},
    store::Store,
};
use domain::ids::{AppId, InstallationId, Millis, RepoId};
use std::{
    collections::HashSet,
    sync::{Arc, LazyLock},
};
use tokio::sync::OwnedSemaphorePermit;

statements! {
    READ = "SELECT event, payload, received_at, outcome FROM delivery WHERE app_id = $1 AND id = $2";
    CONCLUDE = "UPDATE delivery SET outcome = $3 WHERE app_id = $1 AND id = $2";
    // Retries a delivery whose effect failed. Its payload may have been blanked, so the new one is stored. The time
    // limits count from now.
    TRY_AGAIN = "UPDATE effect SET state = 'ready', attempt = 0, crashes = 0, run_at = $2, last_error = NULL, \
                 parked = 0, parked_since = NULL, waits_for = NULL WHERE id = $1 AND state = 'failed'";
    SENT_AGAIN = "UPDATE delivery SET payload = $3, received_at = $4, outcome = NULL WHERE app_id = $1 AND id = $2";
    BLANK = "UPDATE delivery SET payload = NULL WHERE payload IS NOT NULL AND received_at < $1";
}

/// Inserts deliveries and returns those that are new.
pub(super) static ACCEPT: LazyLock<BulkInsert> = LazyLock::new(|| {
    BulkInsert::new(
        "INSERT INTO delivery (app_id, id, event, installation_id, repo_id, payload, received_at, source)",
        8,
        "ON CONFLICT (app_id, id) DO NOTHING RETURNING app_id, id",
    )
});

/// A payload's share of a budget of memory, which is used until this is dropped.
pub type MemoryShare = Option<OwnedSemaphorePermit>;

/// The way in which a delivery reached us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliverySource {
    /// GitHub sent it to the webhook.
    Webhook,
    /// It was fetched from GitHub's log of missed deliveries.
    Replay,
    /// The sweep found the change, and built the delivery that would have reported it.
    Sweep,
}

text::words!(DeliverySource {
    Webhook = "webhook",
    Replay = "replay",
    Sweep = "sweep",
});

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewDelivery {
    pub app: AppId,
    /// GitHub's id of the delivery. A repeat has the same id.
    pub id: String,
    /// The name of the event, such as `issues`.
    pub event: String,
    /// The installation, if the payload names one.
    pub installation: Option<InstallationId>,
    /// The repository, if the payload names one.
    pub repo: Option<RepoId>,
    pub payload: Arc<str>,
    pub received_at: Millis,
    /// The way in which it reached us.
    pub source: DeliverySource,
}

/// The result of accepting a delivery. In each case it is stored durably.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AcceptOutcome {
    /// Stored now, together with its effect.
    New,
    /// Stored before: a repeat. Nothing changed.
    Known,
    /// Stored before, and its effect failed. The effect is ready again.
    Again,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredDelivery {
    /// The name of the event, such as `issues`.
    pub event: String,
    /// The body; `None` once it is blanked.
    pub payload: Option<String>,
    pub received_at: Millis,
    /// The outcome, once the delivery was processed.
    pub outcome: Option<String>,
}

impl Store {
    /// Stores a delivery and the effect that processes it, once. Returns when both would survive a power cut.
    ///
    /// Concurrent calls share one transaction.
    pub async fn accept_delivery(
        &self,
        delivery: NewDelivery,
        ingest: Option<NewEffect>,
    ) -> Result<AcceptOutcome, StoreError> {
        self.accept_counted(delivery, ingest, None).await
    }

    /// Does the same, and gives `share` back once the payload is stored or refused, even if the caller is gone by then.
    pub async fn accept_counted(
        &self,
        delivery: NewDelivery,
        ingest: Option<NewEffect>,
        share: MemoryShare,
    ) -> Result<AcceptOutcome, StoreError> {
        column(delivery.app.0)?;
        ingest.as_ref().map_or(Ok(()), effect::check)?;
        self.inbox.accept(delivery, ingest, share).await
    }

    /// Returns the delivery with this id, if it was ever accepted.
    pub async fn delivery(&self, app: AppId, id: &str) -> Result<Option<StoredDelivery>, StoreError> {
        let row = self.db.row(READ, args![column(app.0)?, id]).await?;
        row.map(|row| read(&row)).transpose()
    }

    pub async fn finish_delivery(&self, app: AppId, id: &str, outcome: &str) -> Result<(), StoreError> {
        let outcome = explained(outcome);
        let arguments = args![column(app.0)?, id, &outcome];
        let single = Single { sql: CONCLUDE, args: arguments, flush: Flush::Later, lock: None, wakes: false };
        self.db.single(single).await.map(drop)
    }

    /// Deletes the bodies of deliveries older than `before`; the rows stay. Returns how many bodies were deleted.
    pub async fn blank_payloads(&self, before: Millis) -> Result<u64, StoreError> {
        self.db.run(BLANK, args![before.0]).await
    }
}

/// Stores a batch of deliveries, and the effects of those that are new.
pub(super) async fn insert_all(
    tx: &mut Tx,
    batch: &[(&NewDelivery, Option<&NewEffect>)],
) -> Result<Vec<AcceptOutcome>, StoreError> {
    let mut accepted = Vec::with_capacity(batch.len());
    let mut ingests = Vec::with_capacity(batch.len());
    let mut rest = batch;
    while let Some((count, sql)) = ACCEPT.piece(rest.len()) {
        let (piece, later) = rest.split_at(count);
        let mut new = insert(tx, sql, piece).await?;
        for (delivery, ingest) in piece {
            // The same delivery may occur twice in one batch. The first counts as new.
            if new.remove(&(delivery.app, delivery.id.clone())) {
                accepted.push(AcceptOutcome::New);
                ingests.extend(ingest);
            } else {
                accepted.push(sent_again(tx, delivery, *ingest).await?);
            }
        }
        rest = later;
    }
    effect::insert_all(tx, &ingests).await?;
    Ok(accepted)
}

/// Retries a repeated delivery if its effect failed, and only then.
async fn sent_again(
    tx: &mut Tx,
    delivery: &NewDelivery,
    ingest: Option<&NewEffect>,
) -> Result<AcceptOutcome, StoreError> {
    let Some(ingest) = ingest else {
        return Ok(AcceptOutcome::Known);
    };
    if tx.run(TRY_AGAIN, args![&ingest.id, ingest.run_at.0]).await? == 0 {
        return Ok(AcceptOutcome::Known);
    }
    let (payload, at) = (&delivery.payload, delivery.received_at.0);
    tx.run(SENT_AGAIN, args![column(delivery.app.0)?, &delivery.id, payload, at]).await?;
    Ok(AcceptOutcome::Again)
}

/// Stores as many deliveries as the statement takes, and returns the ids of the new ones.
async fn insert(
    tx: &mut Tx,
    sql: &'static str,
    piece: &[(&NewDelivery, Option<&NewEffect>)],
) -> Result<HashSet<(AppId, String)>, StoreError> {
    let mut arguments = Vec::new();
    for (new, _) in piece {
        arguments.extend_from_slice(args![
            column(new.app.0)?,
            &new.id,
            &new.event,
            new.installation.map(|id| column(id.0)).transpose()?,
            new.repo.map(|id| column(id.0)).transpose()?,
            &new.payload,
            new.received_at.0,
            new.source.word(),
        ]);
    }
    let rows = tx.rows(sql, &arguments).await?;
    rows.iter().map(|row| Ok((AppId(row.count("app_id")?), row.text("id")?))).collect()
}

fn read(row: &Row) -> Result<StoredDelivery, StoreError> {
    Ok(StoredDelivery {
        event: row.text("event")?,
        payload: row.opt_text("payload")?,
        received_at: Millis(row.int("received_at")?),
        outcome: row.opt_text("outcome")?,
    })
}
