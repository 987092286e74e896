//! Who is whose child, read from `/proc`.

use rustix::process::Pid;
use rustix::process::Signal;
use std::collections::HashMap;
use std::fs;

/// One line of the process table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) pid: i32,
    pub(crate) parent: i32,
    pub(crate) group: i32,
    pub(crate) session: i32,
    /// Clock ticks since boot.
    pub(crate) started: u64,
    /// Clock ticks of processors that it used, with those of its children that were collected.
    pub(crate) ticks: u64,
    /// Pages of memory that it holds.
    pub(crate) resident: u64,
}

impl Process {
    /// Reads `/proc/<pid>/stat`. The name in it is the program's choice and may hold anything, also `)`.
    fn parse(stat: &str) -> Option<Self> {
        let (pid, rest) = stat.split_once(' ')?;
        let mut fields = rest.rsplit_once(')')?.1.split_ascii_whitespace();
        let parent = fields.nth(1)?.parse().ok()?;
        let group = fields.next()?.parse().ok()?;
        let session = fields.next()?.parse().ok()?;
        let mut number = |skipped: usize| fields.nth(skipped)?.parse::<u64>().ok();
        let used = [number(7)?, number(0)?, number(0)?, number(0)?];
        let started = number(4)?;
        let resident = number(1)?;
        Some(Self {
            pid: pid.parse().ok()?,
            parent,
            group,
            session,
            started,
            ticks: used.into_iter().fold(0, u64::saturating_add),
            resident,
        })
    }

    /// The process of this number.
    pub(crate) fn of(pid: i32) -> Option<Self> {
        Self::parse(&String::from_utf8_lossy(&fs::read(format!("/proc/{pid}/stat")).ok()?))
    }

    pub(crate) fn signal(self, signal: Signal) {
        if let Some(pid) = Pid::from_raw(self.pid) {
            let _ = rustix::process::kill_process(pid, signal);
        }
    }
}

/// Every process there is, zombies among them.
pub(crate) fn all() -> Vec<Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter_map(Process::of).collect()
}

/// The processes below `ancestors`, at any depth.
pub(crate) fn descendants(table: &[Process], ancestors: &[i32]) -> Vec<Process> {
    // Each process is looked at once: whoever forks as fast as it can makes deep families.
    let mut children: HashMap<i32, Vec<Process>> = HashMap::new();
    for process in table {
        children.entry(process.parent).or_default().push(*process);
    }
    let mut open = ancestors.to_vec();
    let mut found = Vec::new();
    while let Some(parent) = open.pop() {
        for child in children.remove(&parent).unwrap_or_default() {
            if !ancestors.contains(&child.pid) {
                open.push(child.pid);
                found.push(child);
            }
        }
    }
    found
}

/// How many processes and threads there are on the whole machine, in one short read.
pub(crate) fn count() -> Option<u64> {
    let text = fs::read_to_string("/proc/loadavg").ok()?;
    text.split_ascii_whitespace().nth(3)?.split_once('/')?.1.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hostile_process_name_does_not_shift_the_fields() {
        let line = "42 (a) S 1 (x) R 7 42 9 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 777 1 99 3";
        assert_eq!(
            Process::parse(line),
            Some(Process {
                pid: 42,
                parent: 7,
                group: 42,
                session: 9,
                started: 777,
                ticks: 26,
                resident: 99,
            })
        );
        assert_eq!(Process::parse("42 (x"), None);
    }

    #[test]
    fn descendants_are_found_at_every_depth() {
        let process = |pid, parent| Process {
            pid,
            parent,
            group: 0,
            session: 0,
            started: 0,
            ticks: 0,
            resident: 0,
        };
        let table = [
            process(4, 3),
            process(2, 1),
            process(3, 2),
            process(9, 8),
            process(1, 0),
        ];
        let mut pids: Vec<i32> = descendants(&table, &[2]).iter().map(|process| process.pid).collect();
        pids.sort_unstable();
        assert_eq!(pids, [3, 4]);
    }
}
