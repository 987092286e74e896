//! Group commit: one transaction stores all deliveries that wait together, so one flush of the disk serves them all. If
//! storing a batch panics, only that batch fails: its senders learn that it is not stored and send again.
//!
//! Acknowledging goes before reading, since GitHub hangs up after ten seconds, while the work that follows can wait a
//! moment: workers are woken when a burst pauses, and not at each commit.

use crate::store::{
    delivery,
    delivery::{AcceptOutcome, MemoryShare, NewDelivery},
    effect::NewEffect,
    error::StoreError,
    sql::Db,
};
use futures_util::FutureExt;
use std::{panic::AssertUnwindSafe, time::Duration};
use tokio::{
    sync::{mpsc, oneshot},
    time::{Instant, timeout_at},
};

/// The most deliveries in one transaction.
const BATCH: usize = 256;

/// The most bytes of payload in one transaction, unless a single delivery has more.
const BATCH_BYTES: usize = 8 << 20;

/// The most deliveries that may wait in the queue. If it is full, senders wait.
const QUEUE: usize = 1_024;

/// A pause this long ends a burst. Senders that wait for each answer pause for less.
const PAUSE: Duration = Duration::from_millis(10);

/// The longest time for which a burst keeps stored deliveries unread.
const LONGEST_BURST: Duration = Duration::from_secs(2);

/// The queue to the task that stores deliveries. The task ends with the last handle of the store.
#[derive(Clone, Debug)]
pub(super) struct Inbox(mpsc::Sender<Waiting>);

/// A delivery, and the channel for the answer to its sender.
struct Waiting {
    delivery: NewDelivery,
    ingest: Option<NewEffect>,
    /// The payload's share of the memory for bodies. The sender may be gone while the delivery still waits here.
    _share: MemoryShare,
    answer: oneshot::Sender<Result<AcceptOutcome, StoreError>>,
}

impl Inbox {
    pub(super) fn start(db: Db) -> Self {
        let (sender, receiver) = mpsc::channel(QUEUE);
        let stored = db.clone();
        tokio::spawn(serve(receiver, move |batch| settle(stored.clone(), batch), move || wake(db.clone())));
        Self(sender)
    }

    pub(super) async fn accept(
        &self,
        delivery: NewDelivery,
        ingest: Option<NewEffect>,
        share: MemoryShare,
    ) -> Result<AcceptOutcome, StoreError> {
        let (answer, answered) = oneshot::channel();
        let waiting = Waiting { delivery, ingest, _share: share, answer };
        self.0.send(waiting).await.map_err(|_| StoreError::Closed)?;
        answered.await.map_err(|_| StoreError::Closed)?
    }
}

/// Stores batch after batch, and wakes the workers after each burst. No panic ends this loop.
async fn serve<S: Future<Output = ()>, W: Future<Output = ()>>(
    mut queue: mpsc::Receiver<Waiting>,
    settle: impl Fn(Vec<Waiting>) -> S,
    wake: impl Fn() -> W,
) {
    while let Some(first) = queue.recv().await {
        let end = Instant::now() + LONGEST_BURST;
        let mut next = Some(first);
        while let Some(first) = next {
            // Lets senders that are ready send first. This adds no delay but makes batches fuller.
            tokio::task::yield_now().await;
            let batch = drain(first, &mut queue);
            // Not a task of its own, since the answers would wait for one more change of threads.
            if AssertUnwindSafe(settle(batch)).catch_unwind().await.is_err() {
                tracing::error!("storing deliveries panicked; their senders are told so");
            }
            let pause = Instant::now() + PAUSE;
            next = if pause < end { timeout_at(pause, queue.recv()).await.unwrap_or(None) } else { None };
        }
        wake().await;
    }
}

async fn wake(db: Db) {
    if let Err(error) = db.notify().await {
        tracing::debug!(%error, "workers of other processes were not woken: they poll");
    }
}

/// Stores a batch and answers each sender.
async fn settle(db: Db, batch: Vec<Waiting>) {
    match store(&db, &batch).await {
        Ok(stored) => answer(batch, stored),
        // A bad delivery must not fail the others, so each is tried alone.
        Err(StoreError::Refused(_) | StoreError::Busy(_)) if batch.len() > 1 => alone(&db, batch).await,
        Err(error) => refuse(batch, &error),
    }
}

/// Takes the waiting deliveries, up to the limits of one transaction.
fn drain(first: Waiting, queue: &mut mpsc::Receiver<Waiting>) -> Vec<Waiting> {
    let mut bytes = first.delivery.payload.len();
    let mut batch = vec![first];
    while batch.len() < BATCH && bytes < BATCH_BYTES {
        let Ok(next) = queue.try_recv() else { break };
        bytes += next.delivery.payload.len();
        batch.push(next);
    }
    batch
}

async fn store(db: &Db, batch: &[Waiting]) -> Result<Vec<AcceptOutcome>, StoreError> {
    let mut tx = db.write().await?;
    let pairs: Vec<_> = batch.iter().map(|waiting| (&waiting.delivery, waiting.ingest.as_ref())).collect();
    let stored = delivery::insert_all(&mut tx, &pairs).await?;
    tx.commit().await?;
    Ok(stored)
}

async fn alone(db: &Db, batch: Vec<Waiting>) {
    for waiting in batch {
        let one = [waiting];
        match store(db, &one).await {
            Ok(stored) => answer(one, stored),
            Err(error) => refuse(one, &error),
        }
    }
}

fn answer(batch: impl IntoIterator<Item = Waiting>, stored: Vec<AcceptOutcome>) {
    for (waiting, accepted) in batch.into_iter().zip(stored) {
        // If the sender is gone, GitHub can deliver again and then learns that the delivery is known.
        let _ = waiting.answer.send(Ok(accepted));
    }
}

fn refuse(batch: impl IntoIterator<Item = Waiting>, error: &StoreError) {
    for waiting in batch {
        let _ = waiting.answer.send(Err(error.clone()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::DeliverySource;
    use domain::ids::{AppId, Millis};
    use std::sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    };

    fn delivery(id: &str) -> NewDelivery {
        NewDelivery {
            app: AppId(1),
            id: id.to_owned(),
            event: "ping".to_owned(),
            installation: None,
            repo: None,
            payload: "{}".into(),
            received_at: Millis(0),
            source: DeliverySource::Webhook,
        }
    }

    #[tokio::test]
    async fn a_panic_while_a_batch_is_stored_is_no_end_of_the_inbox() {
        let (sender, receiver) = mpsc::channel(QUEUE);
        let settle = |batch: Vec<Waiting>| async move {
            assert!(batch.iter().all(|waiting| waiting.delivery.id != "bad"), "a panic");
            let stored = vec![AcceptOutcome::New; batch.len()];
            answer(batch, stored);
        };
        tokio::spawn(serve(receiver, settle, || async {}));
        let inbox = Inbox(sender);
        let bad = inbox.accept(delivery("bad"), None, None).await;
        assert!(matches!(bad, Err(StoreError::Closed)), "{bad:?}");
        assert!(matches!(inbox.accept(delivery("good"), None, None).await, Ok(AcceptOutcome::New)));
    }

    /// Sends deliveries at this distance from each other for three seconds, and returns how often workers were woken.
    async fn wakes_during(distance: Duration) -> usize {
        let (sender, receiver) = mpsc::channel(QUEUE);
        let wakes = Arc::new(AtomicUsize::new(0));
        let settle = |batch: Vec<Waiting>| async move { answer(batch, vec![AcceptOutcome::New]) };
        let count = Arc::clone(&wakes);
        let wake = move || {
            count.fetch_add(1, Ordering::Relaxed);
            std::future::ready(())
        };
        tokio::spawn(serve(receiver, settle, wake));
        let inbox = Inbox(sender);
        let end = Instant::now() + Duration::from_secs(3);
        while Instant::now() < end {
            inbox.accept(delivery("one"), None, None).await.unwrap();
            tokio::time::sleep(distance).await;
        }
        wakes.load(Ordering::Relaxed)
    }

    #[tokio::test(start_paused = true)]
    async fn a_burst_is_read_when_it_pauses_or_has_lasted_two_seconds() {
        assert_eq!(wakes_during(PAUSE / 2).await, 1);
        assert_eq!(wakes_during(Duration::from_millis(500)).await, 6);
    }
}
