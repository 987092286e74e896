//! The second line of defence behind the launcher: kills processes whose program killed its own launcher.
//!
//! The service adopts orphans too. Processes below a launcher are in the launcher's session or one of their own, never
//! in the service's. So a child of the service in another session that is no launcher has lost its launcher.

use crate::{process_table, process_table::Process};
use parking_lot::{Mutex, MutexGuard};
use rustix::process::{Pid, Signal, WaitOptions};
use std::{collections::BTreeSet, time::Duration};

/// The number of rounds after which the sweep gives up.
const ROUNDS: usize = 1_000;

/// The process ids of the launchers that have not ended yet. It is global, because children belong to the whole
/// process.
static RUNNING: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

fn running() -> MutexGuard<'static, BTreeSet<i32>> {
    RUNNING.lock()
}

/// A running launcher's entry, removed on drop.
#[derive(Debug)]
pub(crate) struct Entry(i32);

impl Entry {
    /// Starts a launcher with `spawn` and adds its entry. No sweep can run between the two.
    pub(crate) fn start<T>(spawn: impl FnOnce() -> std::io::Result<(T, i32)>) -> std::io::Result<(T, Self)> {
        let mut running = running();
        let (child, pid) = spawn()?;
        running.insert(pid);
        Ok((child, Self(pid)))
    }

    /// Returns the launcher's process id.
    pub(crate) fn pid(&self) -> i32 {
        self.0
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        running().remove(&self.0);
    }
}

/// Kills and collects every stray process started at `since` or later, with all its descendants, until none is left.
pub(crate) fn sweep(since: u64) {
    for _ in 0..ROUNDS {
        let table = process_table::all();
        let found = strays(&table, since);
        if found.is_empty() {
            return;
        }
        let roots: Vec<i32> = found.iter().map(|process| process.pid).collect();
        for process in process_table::descendants(&table, &roots).into_iter().chain(found) {
            process.signal(Signal::KILL);
        }
        for root in roots.into_iter().filter_map(Pid::from_raw) {
            let _ = rustix::process::waitpid(Some(root), WaitOptions::NOHANG);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    tracing::error!("processes that killed their launcher could not be ended");
}

fn strays(table: &[Process], since: u64) -> Vec<Process> {
    let running = running();
    let own = rustix::process::getpid().as_raw_nonzero().get();
    let Some(session) = Process::of(own).map(|process| process.session) else {
        return Vec::new();
    };
    let stray = |process: &&Process| {
        process.parent == own
            && process.session != session
            && process.started >= since
            && !running.contains(&process.pid)
    };
    table.iter().filter(stray).copied().collect()
}
