//! Finds every process below the launcher, to ask it to end, to stop it, or to kill it.

use crate::{
    launcher::started::Started,
    process_table,
    process_table::{Family, Process},
};
use domain::isolation::Level;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};
use std::collections::HashSet;

/// How often the launcher looks for new processes to stop before it gives up and kills those that it found.
const STOPPING_ROUNDS: usize = 100;

/// Kills every process below this one. A new session or a second fork does not take a process out of the family.
///
/// Before the table is read, one signal reaches many processes at once, however fast they fork. At L2 and L3 it goes to
/// bubblewrap, and the system then ends everything inside. Otherwise it goes to the program's process group. Once the
/// main process was collected and its group is empty, the system may give its number to somebody else's process.
pub(super) fn kill_everything(started: &Started, level: Level, family: &mut Family) {
    let main = Pid::from_raw(started.main);
    let kill_main = || {
        let _ = main.map(|main| match level {
            Level::L0 | Level::L1 => rustix::process::kill_process_group(main, Signal::KILL),
            Level::L2 | Level::L3 => rustix::process::kill_process(main, Signal::KILL),
        });
    };
    if main.is_some_and(is_child) {
        kill_main();
    }
    let below = below(family);
    if below.iter().any(|process| process.group == started.main) {
        kill_main();
    }
    for process in below {
        process.signal(Signal::KILL);
    }
}

/// `true` if this is a child of ours whose end was not collected yet.
fn is_child(pid: Pid) -> bool {
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    rustix::process::waitid(WaitId::Pid(pid), look).is_ok()
}

fn own_pid() -> i32 {
    rustix::process::getpid().as_raw_nonzero().get()
}

fn below(family: &mut Family) -> Vec<Process> {
    match family.look() {
        Ok((_, below)) => below,
        Err(_) => process_table::descendants(&process_table::all(), &[own_pid()]),
    }
}

/// Asks the program and everything it started to end, but not our own processes in between.
pub(super) fn ask_everything_to_end(started: &Started, level: Level) {
    let table = process_table::all();
    let own_processes = started.own_processes(&table, level);
    for process in process_table::descendants(&table, &[own_pid()]) {
        if !own_processes.contains(&process.pid) {
            process.signal(Signal::TERM);
        }
    }
}

/// Stops every process below this one until no new ones appear, because processes that are killed one by one could
/// start others meanwhile. Whole groups are stopped, except our own, which a program may have joined.
pub(super) fn stop_growing(family: &mut Family) {
    let (mut stopped, mut groups) = (HashSet::new(), HashSet::from([own_pid()]));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_is_one_until_it_was_collected() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
        assert!(is_child(pid) && is_child(pid));
        child.wait().unwrap();
        assert!(!is_child(pid));
    }
}
