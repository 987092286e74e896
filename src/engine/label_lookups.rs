//! Limits how many labels that may not be ours are looked up at once, so that requests of people find a free worker.

use domain::ids::Millis;
use parking_lot::Mutex;

use tokio::sync::{Semaphore, SemaphorePermit};

/// The shortest wait of a label if too many others are being looked up, in milliseconds.
const WAIT_MS: i64 = 500;

/// The time between the next tries of two labels that wait, in milliseconds. Each try occupies a worker for a moment, so
/// a thousand labels must not try at the same time.
const SPACING_MS: i64 = 20;

/// The permits to ask GitHub about labels.
#[derive(Debug)]
pub struct LabelLookups {
    permits: Semaphore,
    /// The latest time at which a waiting label tries again.
    last_try: Mutex<Millis>,
}

impl LabelLookups {
    /// Allows this number of lookups at once.
    pub fn new(at_once: usize) -> Self {
        Self { permits: Semaphore::new(at_once), last_try: Mutex::new(Millis(0)) }
    }

    /// Returns a permit to ask now, or the time at which to try again, which is after all labels that wait already.
    pub fn ask(&self, now: Millis) -> Result<SemaphorePermit<'_>, Millis> {
        self.permits.try_acquire().map_err(|_| {
            let mut last = self.last_try.lock();
            *last = now.plus(WAIT_MS).max(last.plus(SPACING_MS));
            *last
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::settings::Slots;

    #[test]
    fn labels_that_wait_try_again_one_after_another() {
        let looks = LabelLookups::new(1);
        let now = Millis(1_000);
        let held = looks.ask(now).unwrap();
        let until = || looks.ask(now).unwrap_err();
        assert_eq!([until(), until(), until()], [Millis(1_500), Millis(1_520), Millis(1_540)]);
        assert_eq!(looks.ask(Millis(1_500)).unwrap_err(), Millis(2_000), "behind nobody");
        drop(held);
        assert!(looks.ask(now).is_ok());
    }

    #[test]
    fn a_single_worker_looks_at_labels_too() {
        let slots = |control| Slots { control, forge: 1, agent: 1 };
        assert_eq!([1, 2, 8].map(|control| slots(control).label_lookups()), [1, 1, 4]);
    }
}
