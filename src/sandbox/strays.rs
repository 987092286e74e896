//! The second line behind the launcher: what is left when a program killed its own launcher.
//!
//! The service adopts orphans too. Whatever hangs below a launcher lives in the launcher's session or one of its own,
//! never in the service's; so a child of the service in a foreign session that is no launcher has lost its launcher.

use crate::sandbox::process_table;
use crate::sandbox::process_table::Process;
use rustix::process::Pid;
use rustix::process::Signal;
use rustix::process::WaitOptions;
use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::Duration;

/// How often the sweep looks again before it gives up.
const ROUNDS: usize = 1_000;

/// The launchers that this service started and has not seen end.
#[derive(Debug, Default)]
pub(crate) struct Launchers {
    running: Mutex<HashSet<i32>>,
}

impl Launchers {
    /// Starts a launcher by `spawn`; no sweep can run between its start and its entry here.
    pub(crate) fn started<T>(&self, spawn: impl FnOnce() -> std::io::Result<(T, i32)>) -> std::io::Result<(T, i32)> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let (child, pid) = spawn()?;
        running.insert(pid);
        Ok((child, pid))
    }

    pub(crate) fn ended(&self, pid: i32) {
        self.running.lock().unwrap_or_else(PoisonError::into_inner).remove(&pid);
    }

    /// Kills and collects every stray process that is not older than `since`, with all below it, until none is left.
    pub(crate) fn sweep(&self, since: u64) {
        for _ in 0..ROUNDS {
            let table = process_table::all();
            let strays = self.strays(&table, since);
            if strays.is_empty() {
                return;
            }
            let roots: Vec<i32> = strays.iter().map(|process| process.pid).collect();
            for process in process_table::descendants(&table, &roots).into_iter().chain(strays) {
                process.signal(Signal::KILL);
            }
            for root in roots.into_iter().filter_map(Pid::from_raw) {
                let _ = rustix::process::waitpid(Some(root), WaitOptions::NOHANG);
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        tracing::error!("processes that killed their launcher could not be ended");
    }

    fn strays(&self, table: &[Process], since: u64) -> Vec<Process> {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
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
}
