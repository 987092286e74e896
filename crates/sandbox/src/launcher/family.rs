//! Every process below the launcher: told to end, held, killed.

use crate::{
    launcher::started::Started,
    process_table,
    process_table::{Family, Process},
};
use domain::isolation::Level;
use rustix::process::{Pid, Signal};
use std::collections::HashSet;

/// How often the launcher looks for new processes before it kills what grows too fast to be counted.
const STOPPING_ROUNDS: usize = 100;

/// Kills every process below this one, wherever it moved: a new session or a second fork does not leave the family.
///
/// Before anybody is looked for, one signal goes to all that can be reached at once, however fast they make new ones:
/// behind a wall to what built it, with which the system ends all behind it, else to the program's own group.
pub(super) fn kill_everything(started: &Started, level: Level, family: &mut Family) {
    if let Some(main) = Pid::from_raw(started.main) {
        let _ = match level {
            Level::L0 | Level::L1 => rustix::process::kill_process_group(main, Signal::KILL),
            Level::L2 | Level::L3 => rustix::process::kill_process(main, Signal::KILL),
        };
    }
    for process in below(family) {
        process.signal(Signal::KILL);
    }
}

/// Everybody below this process who can be seen.
fn below(family: &mut Family) -> Vec<Process> {
    match family.look() {
        Ok((_, below)) => below,
        Err(_) => {
            let own = rustix::process::getpid().as_raw_nonzero().get();
            process_table::descendants(&process_table::all(), &[own])
        }
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

/// Stops every process below this one until none is new: what is killed one by one could start others meanwhile. Groups
/// are stopped whole, but never our own, which a program may have joined.
pub(super) fn stop_growing(family: &mut Family) {
    let own = rustix::process::getpid().as_raw_nonzero().get();
    let (mut stopped, mut groups) = (HashSet::new(), HashSet::from([own]));
    for _ in 0..STOPPING_ROUNDS {
        let mut news = false;
        for process in below(family) {
            if groups.insert(process.group)
                && let Some(group) = Pid::from_raw(process.group)
            {
                let _ = rustix::process::kill_process_group(group, Signal::STOP);
            }
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
