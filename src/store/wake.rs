//! Wakes waiting workers after every published commit of this process or, through PostgreSQL, of another.

use crate::store::{sql::Db, store::Store};
use sqlx::{PgPool, postgres::PgListener};
use std::{sync::Arc, time::Duration};
use tokio::sync::watch;
use tokio_util::task::AbortOnDropHandle;

/// The PostgreSQL notification channel.
pub(super) const CHANNEL: &str = "autobuild_work";

/// How long to wait before listening again after the connection broke. Meanwhile workers poll.
const LISTEN_AGAIN: Duration = Duration::from_secs(5);

/// Signals that there may be new work. A change between two calls of [`Wakeups::next`] is never lost.
#[derive(Clone, Debug)]
pub struct Wakeups(watch::Receiver<u64>);

impl Wakeups {
    /// Returns after the next change, or at once if there was one since the last call.
    pub async fn next(&mut self) {
        if self.0.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Marks all changes up to now as seen.
    pub fn skip(&mut self) {
        self.0.mark_unchanged();
    }
}

impl Store {
    /// Returns a listener that every change from now on wakes.
    pub fn wakeups(&self) -> Wakeups {
        Wakeups(self.db.wake.subscribe())
    }
}

/// The task that listens for notifications of other processes. It ends with the last handle of the store.
pub(super) type Hint = AbortOnDropHandle<()>;

pub(super) fn listen(pool: PgPool, db: &Db) -> Arc<Hint> {
    let wake = db.wake.clone();
    Arc::new(AbortOnDropHandle::new(tokio::spawn(async move {
        loop {
            if let Err(error) = relay(&pool, &wake).await {
                tracing::debug!(%error, "not listening for hints of other processes");
            }
            tokio::time::sleep(LISTEN_AGAIN).await;
        }
    })))
}

async fn relay(pool: &PgPool, wake: &watch::Sender<u64>) -> Result<(), sqlx::Error> {
    let mut listener = PgListener::connect_with(pool).await?;
    listener.listen(CHANNEL).await?;
    loop {
        listener.recv().await?;
        wake.send_modify(|count| *count = count.wrapping_add(1));
    }
}
