//! Decides when the next write to GitHub may be sent.

use domain::ids::{InstallationId, Millis};
use parking_lot::Mutex;
use std::collections::{HashMap, VecDeque};

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;

/// GitHub's documented limits on requests that create content.
const PER_MINUTE: usize = 80;
const PER_HOUR: usize = 500;

/// The forge's own limits on writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caps {
    /// At most 80 writes a minute and 500 an hour.
    Github,
    /// None, for a local forge.
    None,
}

/// Spaces the writes of each installation. It never waits: it returns the time, and the engine postpones the effect.
#[derive(Debug)]
pub struct WriteSpacing {
    gap_ms: i64,
    caps: Caps,
    seen: Mutex<HashMap<InstallationId, InstallationWrites>>,
}

#[derive(Debug, Default)]
struct InstallationWrites {
    /// Times of the writes of the last hour, oldest first.
    writes: VecDeque<Millis>,
    /// The time until which GitHub asked us to wait.
    held_until: Option<Millis>,
}

impl WriteSpacing {
    /// Keeps at least `gap_ms` milliseconds between two writes of one installation (0 for no gap).
    pub fn new(gap_ms: u32, caps: Caps) -> Self {
        Self { gap_ms: i64::from(gap_ms), caps, seen: Mutex::default() }
    }

    /// Counts a write at `now`, or returns the time from which it may be tried again.
    pub fn try_reserve(&self, installation: InstallationId, now: Millis) -> Result<(), Millis> {
        let mut seen = self.seen.lock();
        let seen = seen.entry(installation).or_default();
        let hour_ago = now.plus(-HOUR);
        while seen.writes.front().is_some_and(|at| *at <= hour_ago) {
            seen.writes.pop_front();
        }
        let held = seen.held_until.filter(|until| *until > now);
        match held.max(not_before(&seen.writes, now, self.gap_ms, self.caps)) {
            Some(until) => Err(until),
            None => {
                seen.held_until = None;
                if self.gap_ms > 0 || self.caps == Caps::Github {
                    seen.writes.push_back(now);
                }
                Ok(())
            }
        }
    }

    /// Remembers that GitHub limits this installation until the given time.
    pub fn hold(&self, installation: InstallationId, until: Millis) {
        let mut seen = self.seen.lock();
        let seen = seen.entry(installation).or_default();
        seen.held_until = seen.held_until.max(Some(until));
    }
}

/// Returns the time from which a write may follow `writes` (oldest first); `None` for now.
fn not_before(writes: &VecDeque<Millis>, now: Millis, gap_ms: i64, caps: Caps) -> Option<Millis> {
    let nth_last = |count: usize| writes.len().checked_sub(count).and_then(|index| writes.get(index));
    let capped = |count, window| match caps {
        Caps::Github => nth_last(count).map(|at| at.plus(window)),
        Caps::None => None,
    };
    let gap = writes.back().map(|at| at.plus(gap_ms));
    gap.max(capped(PER_MINUTE, MINUTE)).max(capped(PER_HOUR, HOUR)).filter(|until| *until > now)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: InstallationId = InstallationId(1);
    const OTHER: InstallationId = InstallationId(2);

    /// Writes as fast as allowed, and returns the times.
    fn write_greedily(spacing: &WriteSpacing, count: usize) -> Vec<i64> {
        let mut now = Millis(0);
        let mut times = Vec::new();
        while times.len() < count {
            match spacing.try_reserve(ONE, now) {
                Ok(()) => times.push(now.0),
                Err(until) => {
                    assert!(until > now, "a refusal names a later time");
                    now = until;
                }
            }
        }
        times
    }

    #[test]
    fn two_writes_of_one_installation_keep_the_gap() {
        let spacing = WriteSpacing::new(1000, Caps::Github);
        assert_eq!(write_greedily(&spacing, 3), [0, 1000, 2000]);
        assert_eq!(spacing.try_reserve(OTHER, Millis(2000)), Ok(()));
    }

    #[test]
    fn without_a_gap_the_caps_still_hold_against_github() {
        let times = write_greedily(&WriteSpacing::new(0, Caps::Github), 1100);
        for window in times.windows(81) {
            assert!(window[80] - window[0] >= MINUTE, "81 writes within a minute");
        }
        for window in times.windows(501) {
            assert!(window[500] - window[0] >= HOUR, "501 writes within an hour");
        }
    }

    #[test]
    fn a_local_forge_is_written_to_at_once() {
        let times = write_greedily(&WriteSpacing::new(0, Caps::None), 2000);
        assert!(times.iter().all(|at| *at == 0));
    }

    #[test]
    fn what_github_holds_back_stays_back() {
        let spacing = WriteSpacing::new(0, Caps::None);
        spacing.hold(ONE, Millis(5000));
        spacing.hold(ONE, Millis(3000));
        assert_eq!(spacing.try_reserve(ONE, Millis(4999)), Err(Millis(5000)));
        assert_eq!(spacing.try_reserve(OTHER, Millis(4999)), Ok(()));
        assert_eq!(spacing.try_reserve(ONE, Millis(5000)), Ok(()));
    }

    #[test]
    fn a_refused_write_is_not_counted() {
        let spacing = WriteSpacing::new(1000, Caps::None);
        assert_eq!(spacing.try_reserve(ONE, Millis(0)), Ok(()));
        for now in 1..1000 {
            assert_eq!(spacing.try_reserve(ONE, Millis(now)), Err(Millis(1000)));
        }
    }
}
