//! The effects that this process performs now, how each is stopped, and the work that the dashboard shows.

use crate::{agents::Activity, config::Role};
use domain::ids::{FeatureKey, Millis, TaskId, TurnNumber};
use parking_lot::Mutex;
use std::collections::{BTreeMap, HashMap};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// The effects that this process holds.
#[derive(Default)]
pub struct Running {
    tokens: Mutex<HashMap<String, CancellationToken>>,
    /// Changes when every effect must check at once if it is still wanted.
    again: watch::Sender<u64>,
    at_work: Mutex<WorkBoard>,
}

/// The worker that is shown on the dashboard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Worker {
    Agent(Role),
    Gates,
    /// Set-up and tests of the default branch, before any Player.
    PreFlight,
    /// The Gates on the merged result of a wave.
    WaveGate,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Work {
    pub feature: FeatureKey,
    pub worker: Worker,
    /// The task; `None` for work of the Feature itself.
    pub task: Option<TaskId>,
    pub turn: TurnNumber,
    pub since: Millis,
    /// The agent's activity so far.
    pub activity: Activity,
}

#[derive(Default)]
struct WorkBoard {
    next: u64,
    entries: BTreeMap<u64, (Work, Option<watch::Receiver<Activity>>)>,
}

/// An entry on the dashboard, which disappears when this is dropped.
pub(super) struct OnBoard<'a> {
    running: &'a Running,
    number: u64,
}

impl Drop for OnBoard<'_> {
    fn drop(&mut self) {
        self.running.at_work.lock().entries.remove(&self.number);
    }
}

impl Running {
    pub(super) fn begin(&self, effect: &str) -> CancellationToken {
        let token = CancellationToken::new();
        self.tokens.lock().insert(effect.to_owned(), token.clone());
        token
    }

    pub(super) fn end(&self, effect: &str) {
        self.tokens.lock().remove(effect);
    }

    /// Shows work on the dashboard until the returned value is dropped.
    pub(super) fn show(&self, work: Work, watched: Option<watch::Receiver<Activity>>) -> OnBoard<'_> {
        let mut board = self.at_work.lock();
        let number = board.next;
        board.next = number.wrapping_add(1);
        board.entries.insert(number, (work, watched));
        OnBoard { running: self, number }
    }

    /// Returns the current work, the oldest first.
    pub fn at_work(&self) -> Vec<Work> {
        let board = self.at_work.lock();
        let now = |(work, watched): &(Work, Option<watch::Receiver<Activity>>)| Work {
            activity: watched.as_ref().map_or_else(|| work.activity.clone(), |watched| watched.borrow().clone()),
            ..work.clone()
        };
        board.entries.values().map(now).collect()
    }

    /// Asks every effect of this process to check at once if it is still wanted.
    pub(super) fn look_again(&self) {
        self.again.send_modify(|count| *count = count.wrapping_add(1));
    }

    /// Returns a receiver that changes on every call of [`Running::look_again`].
    pub(super) fn looks(&self) -> watch::Receiver<u64> {
        self.again.subscribe()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_on_the_board_until_it_ends_and_says_what_it_does_now() {
        let running = Running::default();
        let work = |worker| Work {
            feature: "1/1/1".parse().unwrap(),
            worker,
            task: None,
            turn: TurnNumber(1),
            since: Millis(0),
            activity: Activity::default(),
        };
        let (sender, watched) = watch::channel(Activity::default());
        let player = running.show(work(Worker::Agent(Role::Player)), Some(watched));
        let gates = running.show(work(Worker::Gates), None);
        sender.send_modify(|activity| activity.tool_calls = 3);
        let now = running.at_work();
        assert_eq!((now.len(), now[0].activity.tool_calls), (2, 3));
        drop(player);
        assert_eq!(running.at_work(), [work(Worker::Gates)]);
        drop(gates);
        assert!(running.at_work().is_empty());
    }
}
