//! The process table, read from `/proc`.

use rustix::{
    io::Errno,
    process::{Pid, Signal},
};
use std::{
    collections::HashMap,
    fs, io,
    io::ErrorKind,
    os::unix::fs::{DirEntryExt, MetadataExt},
    path::Path,
};

/// The flag of a process that is ending (`PF_EXITING`).
const EXITING: u64 = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) pid: i32,
    pub(crate) parent: i32,
    pub(crate) group: i32,
    pub(crate) session: i32,
    /// The start time, in clock ticks since boot.
    pub(crate) started: u64,
    /// The processor time in clock ticks, including that of its children whose exit was collected.
    pub(crate) ticks: u64,
    /// The number of memory pages that it holds.
    pub(crate) resident: u64,
}

impl Process {
    /// Parses `/proc/<pid>/stat`. The program chooses the name in it, which may contain any character, even `)`.
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

    pub(crate) fn of(pid: i32) -> Option<Self> {
        Self::read(pid).ok().flatten()
    }

    /// Reads the process with this id; `None` if it does not exist or is hidden from us.
    fn read(pid: i32) -> io::Result<Option<Self>> {
        match fs::read(format!("/proc/{pid}/stat")) {
            Ok(stat) => Ok(Self::parse(&String::from_utf8_lossy(&stat))),
            Err(error) if is_gone(&error) || is_of_others(&error, pid) => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(crate) fn signal(self, signal: Signal) {
        if let Some(pid) = Pid::from_raw(self.pid) {
            let _ = rustix::process::kill_process(pid, signal);
        }
    }
}

/// `true` if the error means that the process has ended.
pub(crate) fn is_gone(error: &io::Error) -> bool {
    error.kind() == ErrorKind::NotFound || Errno::from_io_error(error) == Some(Errno::SRCH)
}

/// Returns `true` if the process or thread of this folder is ending, or has ended and was not collected yet.
pub(crate) fn has_ended(folder: &Path) -> io::Result<bool> {
    match fs::read(folder.join("stat")) {
        Ok(stat) => Ok(ends(&String::from_utf8_lossy(&stat))),
        Err(error) if is_gone(&error) => Ok(true),
        Err(error) => Err(error),
    }
}

fn ends(stat: &str) -> bool {
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    let mut fields = fields.split_ascii_whitespace();
    let is_over = matches!(fields.next(), Some("Z" | "X"));
    let flags: u64 = fields.nth(5).and_then(|flags| flags.parse().ok()).unwrap_or_default();
    is_over || flags & EXITING != 0
}

/// `true` if the system hides the process because it belongs to another user, as some machines are configured.
fn is_of_others(error: &io::Error, pid: i32) -> bool {
    let own = rustix::process::geteuid().as_raw();
    error.kind() == ErrorKind::PermissionDenied
        && fs::metadata(format!("/proc/{pid}")).map_or_else(|error| is_gone(&error), |meta| meta.uid() != own)
}

/// Returns all processes, zombies included. If the table cannot be read completely, returns those that can be read.
pub(crate) fn all() -> Vec<Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| Process::of(number(&entry)?)).collect()
}

/// A process and all its descendants, read again and again. A process that started earlier cannot be a descendant, so
/// it is read only once.
#[derive(Debug)]
pub(crate) struct Family {
    pid: i32,
    /// The inodes in `/proc` of older processes. A new process with the same id has another inode.
    older: HashMap<i32, u64>,
}

impl Family {
    /// Prepares to read the family of the process with this id.
    pub(crate) fn below(pid: i32) -> Self {
        Self { pid, older: HashMap::new() }
    }

    /// Returns the process and all its descendants. Fails if the table cannot be read completely or lacks the process
    /// itself.
    pub(crate) fn look(&mut self) -> io::Result<(Process, Vec<Process>)> {
        let own = Process::read(self.pid)?.ok_or(ErrorKind::NotFound)?;
        let (mut table, mut older) = (Vec::new(), HashMap::new());
        for entry in fs::read_dir("/proc")? {
            let entry = entry?;
            let Some(pid) = number(&entry) else { continue };
            if self.older.get(&pid) == Some(&entry.ino()) {
                older.insert(pid, entry.ino());
                continue;
            }
            match Process::read(pid)? {
                Some(process) if process.started < own.started => drop(older.insert(pid, entry.ino())),
                process => table.extend(process),
            }
        }
        self.older = older;
        if table.iter().any(|process| process.pid == self.pid) {
            Ok((own, descendants(&table, &[self.pid])))
        } else {
            Err(ErrorKind::NotFound.into())
        }
    }
}

fn number(entry: &fs::DirEntry) -> Option<i32> {
    entry.file_name().to_str()?.parse().ok()
}

/// Returns the processes below `ancestors`, at any depth.
pub(crate) fn descendants(table: &[Process], ancestors: &[i32]) -> Vec<Process> {
    // Each process is looked at once, because a fork bomb makes deep families.
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

/// Returns the number of processes and threads on the whole machine, with one short read.
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
            Some(Process { pid: 42, parent: 7, group: 42, session: 9, started: 777, ticks: 26, resident: 99 })
        );
        assert_eq!(Process::parse("42 (x"), None);
    }

    #[test]
    fn who_ends_is_told_from_who_lives() {
        let line = |state, flags| format!("42 (a) Z 1 (x) {state} 7 42 9 0 -1 {flags} 1 2 3 4");
        assert!(!ends(&line("S", 4_194_304)) && !ends(""));
        assert!(ends(&line("Z", 0)) && ends(&line("X", 0)) && ends(&line("R", 4_194_308)));
        assert!(!has_ended(Path::new("/proc/self")).unwrap() && has_ended(Path::new("/proc/0")).unwrap());
    }

    #[test]
    fn a_family_is_seen_to_grow_and_to_shrink() {
        let own = rustix::process::getpid().as_raw_nonzero().get();
        let mut family = Family::below(own);
        let mut pids = || -> Vec<i32> { family.look().unwrap().1.iter().map(|process| process.pid).collect() };
        pids();
        let mut child = std::process::Command::new("cat").stdin(std::process::Stdio::piped()).spawn().unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        assert!(pids().contains(&pid) && pids().contains(&pid));
        assert!(!pids().contains(&1));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!pids().contains(&pid));
        assert!(Family::below(i32::MAX).look().is_err());
    }

    #[test]
    fn descendants_are_found_at_every_depth() {
        let process = |pid, parent| Process { pid, parent, group: 0, session: 0, started: 0, ticks: 0, resident: 0 };
        let table = [process(4, 3), process(2, 1), process(3, 2), process(9, 8), process(1, 0)];
        let mut pids: Vec<i32> = descendants(&table, &[2]).iter().map(|process| process.pid).collect();
        pids.sort_unstable();
        assert_eq!(pids, [3, 4]);
    }
}
