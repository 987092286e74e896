//! The second line behind the launcher: what is left when a program killed its own launcher.
//!
//! The service adopts orphans too. Whatever hangs below a launcher lives in the launcher's session or one of its own,
//! never in the service's; so a child of the service in a foreign session that is no launcher has lost its launcher.

use crate::{process_table, process_table::Process};
use rustix::process::{Pid, Signal, WaitOptions};
use std::{
    collections::BTreeSet,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// How often the sweep looks again before it gives up.
const ROUNDS: usize = 1_000;

/// The launchers that this process started and has not seen end; whose child they are is a fact of the whole process.
static RUNNING: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

fn running() -> MutexGuard<'static, BTreeSet<i32>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A running launcher's entry, taken out when dropped.
#[derive(Debug)]
pub(crate) struct Entry(i32);

impl Entry {
    /// Starts a launcher by `spawn`; no sweep can look between its start and its entry.
    pub(crate) fn started<T>(spawn: impl FnOnce() -> std::io::Result<(T, i32)>) -> std::io::Result<(T, Self)> {
        let mut running = running();
        let (child, pid) = spawn()?;
        running.insert(pid);
        Ok((child, Self(pid)))
    }

    /// The launcher's number.
    pub(crate) fn pid(&self) -> i32 {
        self.0
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        running().remove(&self.0);
    }
}

/// Kills and collects every stray process that is not older than `since`, with all below it, until none is left.
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
