//! The pace of a body: since when its receiver waits for its sender, if it does. This distinguishes a silent API from a
//! program that sends nothing or reads nothing.

use parking_lot::Mutex;
use std::time::Duration;
use tokio::time::Instant;

#[derive(Debug)]
pub(super) struct Pace(Mutex<Steps>);

#[derive(Clone, Copy, Debug)]
struct Steps {
    last: Instant,
    /// The time since which the receiver has been waiting for the next piece.
    waits: Option<Instant>,
    ended: bool,
    broke: bool,
}

impl Default for Pace {
    fn default() -> Self {
        Self(Mutex::new(Steps { last: Instant::now(), waits: None, ended: false, broke: false }))
    }
}

impl Pace {
    /// Records that the next piece was asked for and has not arrived.
    pub(super) fn waits(&self) {
        self.0.lock().waits.get_or_insert_with(Instant::now);
    }

    /// Records that a piece arrived.
    pub(super) fn note_arrival(&self) {
        let mut steps = self.0.lock();
        (steps.last, steps.waits) = (Instant::now(), None);
    }

    /// Records that the body is complete.
    pub(super) fn ends(&self) {
        self.note_arrival();
        self.0.lock().ended = true;
    }

    /// Records that the sender broke off.
    pub(super) fn breaks(&self) {
        self.0.lock().broke = true;
    }

    /// `true` if the sender broke off while the receiver was waiting, so that the receiver had no part in it.
    pub(super) fn has_broken_by_itself(&self) -> bool {
        let steps = self.0.lock();
        steps.broke && steps.waits.is_some()
    }

    pub(super) fn has_ended(&self) -> bool {
        self.0.lock().ended
    }

    /// Returns how long the receiver has been waiting for the next piece.
    pub(super) fn silence(&self) -> Duration {
        self.0.lock().waits.map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// Returns the time since the last piece arrived; zero while the receiver is waiting for the next one.
    pub(super) fn since_all_came(&self) -> Duration {
        let steps = self.0.lock();
        match steps.waits {
            Some(_) => Duration::ZERO,
            None => steps.last.elapsed(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Pace;
    use std::time::Duration;
    use tokio::time::advance;

    const LONG: Duration = Duration::from_secs(300);

    #[tokio::test(start_paused = true)]
    async fn only_what_is_waited_for_is_silent() {
        let pace = Pace::default();
        advance(LONG).await;
        assert_eq!((pace.silence(), pace.since_all_came()), (Duration::ZERO, LONG));
        pace.waits();
        advance(LONG).await;
        pace.waits();
        assert_eq!((pace.silence(), pace.since_all_came()), (LONG, Duration::ZERO));
        pace.note_arrival();
        advance(LONG).await;
        assert_eq!((pace.silence(), pace.since_all_came()), (Duration::ZERO, LONG));
        assert!(!pace.has_ended());
        pace.waits();
        pace.ends();
        assert!(pace.has_ended());
        assert_eq!(pace.silence(), Duration::ZERO);
        pace.breaks();
        assert!(!pace.has_broken_by_itself(), "nobody waited");
        pace.waits();
        assert!(pace.has_broken_by_itself());
    }
}
