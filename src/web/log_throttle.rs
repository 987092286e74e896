//! Limits log lines about events that strangers can cause at will: the first one is logged at once, then at most one a
//! minute, with a count.

use domain::ids::Millis;
use parking_lot::Mutex;

/// The pause between two lines, in milliseconds.
const QUIET_MS: u64 = 60_000;

/// Counts the events between two lines of the log.
#[derive(Default)]
pub(super) struct LogThrottle(Mutex<ThrottledEvents>);

/// The number of events since the last line, and its time.
#[derive(Default)]
struct ThrottledEvents {
    logged_at: Option<Millis>,
    unlogged: u64,
}

impl LogThrottle {
    /// Counts one more event. Returns the number of events since the last line if a line is due now.
    pub(super) fn count_event(&self, now: Millis) -> Option<u64> {
        let mut since = self.0.lock();
        since.unlogged = since.unlogged.saturating_add(1);
        if since.logged_at.is_some_and(|logged_at| logged_at.0.abs_diff(now.0) < QUIET_MS) {
            return None;
        }
        since.logged_at = Some(now);
        Some(std::mem::take(&mut since.unlogged))
    }
}

#[cfg(test)]
mod tests {
    use super::LogThrottle;
    use domain::ids::Millis;

    #[test]
    fn a_flood_is_told_at_once_and_then_once_a_minute() {
        let throttle = LogThrottle::default();
        let logged_at: Vec<(i64, u64)> =
            (0..=180_000).step_by(500).filter_map(|now| Some((now, throttle.count_event(Millis(now))?))).collect();
        assert_eq!(logged_at, [(0, 1), (60_000, 120), (120_000, 120), (180_000, 120)]);
        assert_eq!(throttle.count_event(Millis(1_000_000)), Some(1));
        assert_eq!(throttle.count_event(Millis(0)), Some(1), "the clock was set back");
    }
}
