//! Regular maintenance: takes back lost work, deletes old payloads, baselines and packs.

use crate::engine::Engine;
use std::{sync::Arc, time::Duration};
use tokio::time::Instant;
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

/// How long payloads of deliveries are kept, in milliseconds; their ids stay.
const PAYLOADS_MS: i64 = 7 * 24 * 3_600_000;

/// How long baselines are kept, in milliseconds. An older one is made again if it is needed.
const BASELINES_MS: i64 = 90 * 24 * 3_600_000;

/// How often old payloads, baselines and packs are deleted.
const BLANKING: Duration = Duration::from_secs(3_600);

impl Engine {
    /// Runs the maintenance until `stop`. It restarts after a panic, since nothing else takes back lost work.
    pub(super) async fn always_keep_up(self: Arc<Self>, stop: CancellationToken) {
        while !stop.is_cancelled() {
            let keeping = AbortOnDropHandle::new(tokio::spawn(self.clone().keep_up(stop.clone())));
            if let Err(error) = keeping.await {
                tracing::error!(%error, "upkeep ended in the middle and begins again");
                tokio::time::sleep(self.settings.reap).await;
            }
        }
    }

    async fn keep_up(self: Arc<Self>, stop: CancellationToken) {
        let mut blanked = None::<Instant>;
        while !stop.is_cancelled() {
            if blanked.is_none_or(|at| at.elapsed() >= BLANKING) {
                blanked = Some(Instant::now());
                self.blank().await;
            }
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(self.settings.reap) => self.reap().await,
            }
        }
    }

    async fn reap(&self) {
        match self
            .lease_clock
            .read(&self.store, || self.now(), self.settings.lease)
            .await
        {
            Ok(true) => {}
            Ok(false) => return,
            Err(error) => {
                tracing::warn!(%error, "the database's clock could not be read");
                return;
            }
        }
        match self.store.reap(self.lease_clock.of(self.now())).await {
            Ok(taken) => taken
                .iter()
                .for_each(|id| tracing::warn!(%id, "the lease of {id} ran out")),
            Err(error) => tracing::warn!(%error, "lost work could not be taken back"),
        }
    }

    async fn blank(&self) {
        match self.store.blank_payloads(self.now().plus(-PAYLOADS_MS)).await {
            Ok(0) => {}
            Ok(count) => tracing::info!("the payloads of {count} old deliveries were blanked"),
            Err(error) => tracing::warn!(%error, "old payloads could not be blanked"),
        }
        if let Err(error) = self.store.forget_baselines(self.now().plus(-BASELINES_MS)).await {
            tracing::warn!(%error, "old baselines could not be forgotten");
        }
        let kept = i64::try_from(self.settings.packs.kept.as_millis()).unwrap_or(i64::MAX);
        if let Err(error) = self.store.forget_packs(self.now().plus(kept.saturating_neg())).await {
            tracing::warn!(%error, "old packs could not be forgotten");
        }
    }
}
