//! Limits how many model calls of a run may be in progress: as many as the rest of its budget can pay for, and always
//! at least one. The cost of a call is known only afterwards, so without a limit many calls could begin before any is
//! counted.

use parking_lot::{Mutex, MutexGuard};
use std::sync::Arc;
use tokio::sync::Notify;

/// The assumed cost of an answer, in millionths of a dollar: 32,000 tokens of a strong model.
const ANSWER: u64 = 800_000;
/// The assumed length of a request without a length header, in bytes. A byte of a request costs about a millionth of a
/// dollar.
const UNTOLD: u64 = 1 << 20;

#[derive(Debug, Default)]
pub(super) struct CallSlots {
    taken: Mutex<Taken>,
    freed: Notify,
}

#[derive(Debug, Default)]
struct Taken {
    calls: u64,
    micros: u64,
}

/// One call's slot. Dropping it lets another call begin.
#[derive(Debug)]
pub(super) struct CallSlot {
    places: Arc<CallSlots>,
    micros: u64,
}

/// The place for one more call.
enum Place {
    Free(CallSlot),
    /// Others have to end first.
    Taken,
    NothingLeft,
}

impl CallSlots {
    /// Returns a slot for a call whose request has this many bytes. Waits until the `left` budget may pay for it beside
    /// the others, or it is the only one. Returns `None` if nothing is left.
    pub(super) async fn take(self: &Arc<Self>, bytes: Option<u64>, left: impl Fn() -> u64) -> Option<CallSlot> {
        let micros = bytes.unwrap_or(UNTOLD).saturating_add(ANSWER);
        loop {
            let mut freed = std::pin::pin!(self.freed.notified());
            // Registered before looking, so that a slot that is freed in between wakes us.
            freed.as_mut().enable();
            match self.look(micros, left()) {
                Place::Free(slot) => return Some(slot),
                Place::NothingLeft => return None,
                Place::Taken => freed.await,
            }
        }
    }

    fn look(self: &Arc<Self>, micros: u64, left: u64) -> Place {
        let mut taken = self.lock();
        if left == 0 {
            return Place::NothingLeft;
        }
        let together = taken.micros.saturating_add(micros);
        if taken.calls > 0 && together > left {
            return Place::Taken;
        }
        taken.calls = taken.calls.saturating_add(1);
        taken.micros = together;
        let places = Arc::clone(self);
        Place::Free(CallSlot { places, micros })
    }

    fn lock(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock()
    }
}

impl Drop for CallSlot {
    fn drop(&mut self) {
        let mut taken = self.places.lock();
        taken.calls = taken.calls.saturating_sub(1);
        taken.micros = taken.micros.saturating_sub(self.micros);
        drop(taken);
        self.places.freed.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::{ANSWER, CallSlots};
    use std::sync::Arc;

    #[tokio::test]
    async fn as_many_calls_begin_as_can_be_paid_for_and_always_one() {
        let places = Arc::new(CallSlots::default());
        let left = || 2 * ANSWER;
        let first = places.take(Some(0), left).await;
        let _second = places.take(Some(0), left).await.unwrap();
        let third = places.take(Some(0), left);
        let mut third = std::pin::pin!(third);
        assert!(futures_util::poll!(third.as_mut()).is_pending());
        drop(first);
        assert!(third.await.is_some());
        assert!(places.take(None, || 0).await.is_none(), "nothing is left");

        let alone = Arc::new(CallSlots::default());
        assert!(alone.take(None, || 1).await.is_some(), "the last call may cost more than is left");
    }
}
