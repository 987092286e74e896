//! Every process below the launcher: told to end, held, killed.

use crate::domain::isolation::Level;
use crate::sandbox::launcher::started::Started;
use crate::sandbox::process_table;
use rustix::process::Signal;
use std::collections::HashSet;

/// How often the launcher looks for new processes before it kills what grows too fast to be counted.
const STOPPING_ROUNDS: usize = 100;

/// Signals every process below this one, wherever it moved: a new session or a second fork does not leave the family.
pub(super) fn signal_everything(signal: Signal) {
    let own = rustix::process::getpid().as_raw_nonzero().get();
    for process in process_table::descendants(&process_table::all(), &[own]) {
        process.signal(signal);
    }
}

/// The program and what it started are told to end; our own processes between here and there are not.
pub(super) fn ask_everything_to_end(started: &Started, level: Level) {
    let own = rustix::process::getpid().as_raw_nonzero().get();
    let table = process_table::all();
    let scaffold = started.scaffold(&table, level);
    for process in process_table::descendants(&table, &[own]) {
        if !scaffold.contains(&process.pid) {
            process.signal(Signal::TERM);
        }
    }
}

/// Stops every process below this one until none is new: what is killed one by one could start others meanwhile.
pub(super) fn stop_growing() {
    let own = rustix::process::getpid().as_raw_nonzero().get();
    let mut stopped = HashSet::new();
    for _ in 0..STOPPING_ROUNDS {
        let mut news = false;
        for process in process_table::descendants(&process_table::all(), &[own]) {
            if stopped.insert((process.pid, process.started)) {
                process.signal(Signal::STOP);
                news = true;
            }
        }
        if !news {
            return;
        }
    }
}
