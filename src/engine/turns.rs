//! Regular work that only one of the replicas does each time: the first to take the turn.

use crate::engine::Engine;
use std::time::Duration;
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

impl Engine {
    /// Waits until it is this process's turn; `false` if `stop` came first.
    pub(super) async fn next_turn(&self, name: &str, pause: Duration, stop: &CancellationToken) -> bool {
        loop {
            tokio::select! {
                () = stop.cancelled() => return false,
                () = tokio::time::sleep(pause) => {}
            }
            let now = self.now();
            let until = now.plus(i64::try_from(pause.as_millis()).unwrap_or(i64::MAX));
            match self.store.take_turn(&format!("{name}/turn"), now, until).await {
                Ok(true) => return true,
                Ok(false) => {}
                Err(error) => tracing::warn!(%error, "the turn for {name} could not be taken"),
            }
        }
    }
}

/// Does work in a separate task until it ends or `stop` is cancelled, so that a panic does not end the later turns.
pub(super) async fn once(name: &str, stop: &CancellationToken, work: impl Future<Output = ()> + Send + 'static) {
    let work = AbortOnDropHandle::new(tokio::spawn(work));
    tokio::select! {
        () = stop.cancelled() => {}
        ended = work => if let Err(error) = ended {
            tracing::error!(%error, "{name} ended in the middle");
        },
    }
}
