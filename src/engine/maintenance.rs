//! Regular maintenance: takes back lost work, counts ended Features and runs, and deletes old data.

use crate::engine::Engine;
use std::{sync::Arc, time::Duration};
use tokio::time::Instant;
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

/// The time between two rounds of counting and deleting.
const PAUSE: Duration = Duration::from_secs(60);

/// The time between two deletions of old files.
const FILE_DELETION: Duration = Duration::from_secs(3_600);

impl Engine {
    /// Runs the maintenance until `stop`. It restarts after a panic, since nothing else takes back lost work.
    pub(super) async fn run_maintenance(self: Arc<Self>, stop: CancellationToken) {
        while !stop.is_cancelled() {
            let tasks = [
                AbortOnDropHandle::new(tokio::spawn(self.clone().take_back_regularly(stop.clone()))),
                AbortOnDropHandle::new(tokio::spawn(self.clone().count_and_delete_regularly(stop.clone()))),
            ];
            let (ended, _, _rest) = futures_util::future::select_all(tasks).await;
            if let Err(error) = ended {
                tracing::error!(%error, "the maintenance panicked and starts again");
                tokio::time::sleep(self.settings.reap).await;
            }
        }
    }

    async fn take_back_regularly(self: Arc<Self>, stop: CancellationToken) {
        while !stop.is_cancelled() {
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(self.settings.reap) => self.reap().await,
            }
        }
    }

    /// Counts and deletes. This runs beside the recovery of lost work, which a large deletion must not delay.
    async fn count_and_delete_regularly(self: Arc<Self>, stop: CancellationToken) {
        let mut files_deleted = None::<Instant>;
        while !stop.is_cancelled() {
            if let Err(error) = self.count_ended().await {
                tracing::warn!(%error, "what has ended could not be counted");
            }
            if let Err(error) = self.forget_rows_in_turn().await {
                tracing::warn!(%error, "what is old could not be deleted from the database");
            }
            if files_deleted.is_none_or(|at| at.elapsed() >= FILE_DELETION) {
                files_deleted = Some(Instant::now());
                if let Err(error) = self.forget_files().await {
                    tracing::warn!(%error, "what is old could not be deleted from the data folder");
                }
            }
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(PAUSE) => {}
            }
        }
    }

    async fn reap(&self) {
        match self.lease_clock.read(&self.store, || self.own_time(), self.settings.lease).await {
            Ok(true) => {}
            Ok(false) => return,
            Err(error) => {
                tracing::warn!(%error, "the database's clock could not be read");
                return;
            }
        }
        match self.store.reap(self.now()).await {
            Ok(taken) => taken.iter().for_each(|id| tracing::warn!(%id, "the lease of {id} ran out")),
            Err(error) => tracing::warn!(%error, "lost work could not be taken back"),
        }
    }
}
