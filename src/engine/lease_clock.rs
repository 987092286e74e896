//! The clock of leases: the database's, since the clocks of two machines differ. A process that was out of contact with
//! the database may have missed renewals by others, so it takes no effect back before a whole lease has passed.

use crate::store::{Store, StoreError};
use domain::ids::Millis;
use parking_lot::Mutex;
use std::{
    sync::atomic::{AtomicI64, Ordering},
    time::Duration,
};
use tokio::time::Instant;

#[derive(Debug, Default)]
pub struct LeaseClock {
    /// How far the database's clock is ahead of this process's, in milliseconds.
    ahead_ms: AtomicI64,
    contact: Mutex<Option<Contact>>,
}

/// The time of unbroken contact with the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Contact {
    since: Instant,
    last: Instant,
}

impl Contact {
    /// Returns the contact after the database answered at `now`. A gap as long as a lease breaks it: this process froze,
    /// or the database was away.
    fn after(before: Option<Self>, now: Instant, lease: Duration) -> Self {
        let unbroken = before.filter(|contact| now.saturating_duration_since(contact.last) < lease);
        Self { since: unbroken.map_or(now, |contact| contact.since), last: now }
    }

    fn is_whole(self, lease: Duration) -> bool {
        self.last.saturating_duration_since(self.since) >= lease
    }
}

impl LeaseClock {
    /// Returns the clock after its first reading. While the database does not tell its time, this machine's counts.
    pub async fn started(store: &Store, now: impl Fn() -> Millis, lease: Duration) -> Self {
        let clock = Self::default();
        if let Err(error) = clock.read(store, now, lease).await {
            tracing::warn!(%error, "the database's clock could not be read");
        }
        clock
    }

    /// Reads the database's clock. Returns `true` if the contact has lasted a whole lease, so that a lease that looks
    /// over is over for everybody.
    pub(super) async fn read(
        &self,
        store: &Store,
        now: impl Fn() -> Millis,
        lease: Duration,
    ) -> Result<bool, StoreError> {
        match store.clock().await {
            Ok(theirs) => {
                let ahead = theirs.map_or(0, |theirs| theirs.0.saturating_sub(now().0));
                self.ahead_ms.store(ahead, Ordering::Relaxed);
                Ok(self.answered(Instant::now(), lease))
            }
            Err(error) => {
                self.lose_contact();
                Err(error)
            }
        }
    }

    /// Records that the database answered at `now`. Returns `true` if the contact has lasted a whole lease.
    fn answered(&self, now: Instant, lease: Duration) -> bool {
        let mut contact = self.contact.lock();
        let continued = Contact::after(*contact, now, lease);
        *contact = Some(continued);
        continued.is_whole(lease)
    }

    /// Ends the contact: the database refused a write. It may still answer reads, as on a full disk.
    pub(super) fn lose_contact(&self) {
        *self.contact.lock() = None;
    }

    /// Converts a time of this process to the database's.
    pub(super) fn to_database_time(&self, now: Millis) -> Millis {
        now.plus(self.ahead_ms.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contact_is_whole_after_a_lease_without_a_gap() {
        let (start, lease) = (Instant::now(), Duration::from_secs(60));
        let whole = |answers: &[u64]| {
            let clock = LeaseClock::default();
            let answered = |second: &u64| clock.answered(start + Duration::from_secs(*second), lease);
            answers.iter().map(answered).fold(false, |_, is_whole| is_whole)
        };
        assert!(!whole(&[0]), "it has just started");
        assert!(!whole(&[0, 30, 59]));
        assert!(whole(&[0, 30, 59, 60]));
        assert!(!whole(&[0, 30, 60, 120]), "it froze for a lease");
        assert!(whole(&[0, 30, 60, 120, 150, 180]));
    }

    #[test]
    fn a_refused_write_ends_the_contact_although_reads_are_answered() {
        let (start, lease) = (Instant::now(), Duration::from_secs(60));
        let clock = LeaseClock::default();
        let answered = |second| clock.answered(start + Duration::from_secs(second), lease);
        assert!([0, 30, 60].map(answered)[2]);
        clock.lose_contact();
        assert_eq!([61, 100, 120, 121].map(answered), [false, false, false, true]);
    }
}
