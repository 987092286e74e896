//! Limits how many model calls of a run may be in progress: as many as the rest of its budget can pay for, and always
//! at least one. The cost of a call is known only afterwards, so the most that it may cost is set aside before.

use parking_lot::{Mutex, MutexGuard};
use std::sync::Arc;
use tokio::sync::Notify;

#[derive(Debug, Default)]
pub(super) struct CallSlots {
    taken: Mutex<CallsInProgress>,
    freed: Notify,
}

#[derive(Debug, Default)]
struct CallsInProgress {
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
    /// Returns a slot for a call that costs at most `micros` millionths of a dollar. Waits until the `left` budget may
    /// pay for it beside the others, or it is the only one. Returns `None` if nothing is left.
    pub(super) async fn take(self: &Arc<Self>, micros: u64, left: impl Fn() -> u64) -> Option<CallSlot> {
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

    fn lock(&self) -> MutexGuard<'_, CallsInProgress> {
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
    use super::CallSlots;
    use std::sync::Arc;

    #[tokio::test]
    async fn as_many_calls_begin_as_can_be_paid_for_and_always_one() {
        let places = Arc::new(CallSlots::default());
        let left = || 200;
        let first = places.take(100, left).await;
        let _second = places.take(100, left).await.unwrap();
        let third = places.take(100, left);
        let mut third = std::pin::pin!(third);
        assert!(futures_util::poll!(third.as_mut()).is_pending());
        drop(first);
        let _third = third.await.unwrap();
        assert!(places.take(100, || 0).await.is_none(), "nothing is left");

        let alone = Arc::new(CallSlots::default());
        assert!(alone.take(100, || 1).await.is_some(), "the last call may cost more than is left");
    }
}
