//! The activity of a running agent, as people see it while they wait, and how often it is stored and shown.

use crate::ids::{Millis, TaskId, TurnNumber};

/// A run of an agent that has not ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AtWork {
    /// The task; `None` for the Feature's own work.
    pub task: Option<TaskId>,
    pub turn: TurnNumber,
    /// The role's name, for example `player`.
    pub role: String,
    /// The last activity that was stored.
    pub seen: RunActivity,
    /// The time of that activity.
    pub at: Millis,
}

/// The activity of an agent from the start of its run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunActivity {
    /// The number of tool calls so far.
    pub tool_calls: u32,
    pub doing: AgentState,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AgentState {
    #[default]
    Working,
    /// It waits, because its model's API does not serve it at the moment.
    WaitingForApi,
}

/// Limits how often the activity of one run is stored and shown: each update costs a write to the store, and each shown
/// one also a request to the forge.
#[derive(Debug)]
pub struct Pace {
    /// The shortest time between two stored updates, in milliseconds.
    every: i64,
    /// The shortest time between two shown updates, in milliseconds.
    shown_every: i64,
    stored: Option<RunActivity>,
    stored_at: Millis,
    shown_at: Option<Millis>,
}

impl Pace {
    /// The pace of a run that begins at `now`.
    pub fn new(every: i64, shown_every: i64, now: Millis) -> Self {
        Self { every: every.max(0), shown_every: shown_every.max(0), stored: None, stored_at: now, shown_at: None }
    }

    /// Returns the milliseconds until the next update may be stored; 0 if one may be stored now.
    pub fn wait(&self, now: Millis) -> i64 {
        let since = now.0.saturating_sub(self.stored_at.0);
        // If the clock was set back, the wait must not get longer.
        self.every.saturating_sub(since).clamp(0, self.every)
    }

    /// Records `seen` as stored at `now`. Returns the time from which it may be shown, or `None` if nothing changed.
    pub fn record(&mut self, seen: RunActivity, now: Millis) -> Option<Millis> {
        if self.stored == Some(seen) {
            return None;
        }
        (self.stored, self.stored_at) = (Some(seen), now);
        let from = self.shown_at.map_or(now, |shown| shown.plus(self.shown_every).max(now));
        // If an update is already due to be shown later, it keeps its time: it will show the facts known by then.
        if self.shown_at.is_none_or(|shown| shown <= now) {
            self.shown_at = Some(from);
        }
        Some(self.shown_at.unwrap_or(from))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls(tool_calls: u32) -> RunActivity {
        RunActivity { tool_calls, doing: AgentState::Working }
    }

    #[test]
    fn nothing_is_told_before_its_time_and_nothing_twice() {
        let mut pace = Pace::new(10_000, 120_000, Millis(0));
        assert_eq!(pace.wait(Millis(0)), 10_000);
        assert_eq!(pace.wait(Millis(10_000)), 0);
        assert_eq!(pace.record(calls(1), Millis(10_000)), Some(Millis(10_000)));
        assert_eq!(pace.wait(Millis(12_000)), 8_000);
        assert_eq!(pace.record(calls(1), Millis(20_000)), None);
        assert_eq!(pace.wait(Millis(-99_000)), 10_000, "the clock was set back");
        let waiting = RunActivity { doing: AgentState::WaitingForApi, ..calls(1) };
        assert!(pace.record(waiting, Millis(20_000)).is_some(), "waiting is news");
    }

    #[test]
    fn an_hour_of_calls_is_shown_thirty_times_and_never_late() {
        let mut pace = Pace::new(10_000, 120_000, Millis(0));
        let mut shown = std::collections::BTreeSet::new();
        for call in 0..360_u32 {
            let now = Millis(i64::from(call) * 10_000);
            let at = pace.record(calls(call), now).unwrap();
            assert!(at >= now && at.0 - now.0 <= 120_000, "{at:?} at {now:?}");
            shown.insert(at.0);
        }
        let times: Vec<i64> = shown.into_iter().collect();
        assert!(times.windows(2).all(|two| two[1] - two[0] >= 120_000), "{times:?}");
        assert_eq!(times.len(), 31, "the last is still to come");
    }
}
