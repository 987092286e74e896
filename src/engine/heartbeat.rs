//! The beat of the worker's loop, from which health checks see if it still runs.

use parking_lot::Mutex;
use std::time::Duration;
use tokio::time::Instant;

/// The longest time between two beats of a loop that works. It beats every few seconds; while the database does not answer,
/// one round waits for several statements.
pub const LONGEST_ROUND: Duration = Duration::from_secs(120);

#[derive(Debug, Default)]
pub struct Heartbeat(Mutex<Option<Instant>>);

impl Heartbeat {
    pub(super) fn beat(&self) {
        *self.0.lock() = Some(Instant::now());
    }

    /// `true` if the loop runs, or has not begun.
    pub fn is_regular(&self) -> bool {
        self.0.lock().is_none_or(|last| last.elapsed() <= LONGEST_ROUND)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_loop_that_stands_still_is_noticed() {
        let heart = Heartbeat::default();
        assert!(heart.is_regular(), "it has not begun");
        heart.beat();
        tokio::time::advance(LONGEST_ROUND).await;
        assert!(heart.is_regular());
        tokio::time::advance(Duration::from_millis(1)).await;
        assert!(!heart.is_regular());
        heart.beat();
        assert!(heart.is_regular());
    }
}
