//! Repeatedly measures the usage of a program and all its descendants.
//!
//! Measuring costs at most a fiftieth of one processor, but does not wait if the number of processes grows. A limit
//! exceeded between two measurements is found at the next one. A program that cannot be measured is ended.

use crate::{
    process_table,
    process_table::{Family, Process},
    run_user::RunUser,
};
use domain::isolation::{Level, Limit, Limits};
use rustix::time::{ClockId, clock_gettime};
use std::{
    collections::HashSet,
    fs, io,
    io::ErrorKind,
    os::unix::fs::MetadataExt,
    path::PathBuf,
    time::{Duration, Instant},
};

/// The least time between two measurements of the processes.
const LOOK_AT_PROCESSES: Duration = Duration::from_millis(50);
/// The time between two counts of all processes of the machine, which cost almost nothing.
const COUNT: Duration = Duration::from_millis(10);
const LOOK_AT_FILES: Duration = Duration::from_secs(1);
/// Measuring takes at most one part in this many of a processor's time.
const SHARE: u32 = 50;
/// The size of a `stat` block in bytes.
const BLOCK: u64 = 512;
/// The least size in bytes that an entry of a folder counts for.
const LEAST: u64 = 4_096;
/// The start of a handle's target if it is a file in memory.
const IN_MEMORY: &[u8] = b"/memfd:";

/// The number of failed measurements in a row that ends the program. One may fail while the machine is short of
/// handles.
const BLIND_LOOKS: u32 = 3;
/// The number of measurements in a row with a folder closed to its own user that ends the program. Tests of such
/// folders leave them behind for a while.
const CLOSED_LOOKS: u32 = 10;

/// Measures the processes until they exceed a limit or can no longer be measured, and returns that limit.
pub(super) fn of_processes(limits: Limits, user: Option<RunUser>) -> Limit {
    if watch(user).is_err() {
        return Limit::Unmeasured;
    }
    // The first measurement comes after a pause: a program that ends at once needs none, which would only slow it down.
    let (mut looked, mut pause) = (Instant::now(), LOOK_AT_PROCESSES);
    let mut known = process_table::count().unwrap_or_default();
    let (mut blindness, mut family) = (Blindness::default(), own_family());
    loop {
        std::thread::sleep(COUNT);
        let now = process_table::count().unwrap_or(u64::MAX);
        // If many new processes appear, do not wait for the next measurement.
        let grows = now.saturating_sub(known) > limits.processes / 4;
        if grows || looked.elapsed() >= pause {
            let (look, rest) = paced(|| processes_passed(limits, &mut family));
            if let Some(passed) = blindness.judge(look) {
                return passed;
            }
            pause = rest.clamp(LOOK_AT_PROCESSES, LOOK_AT_FILES);
            (looked, known) = (Instant::now(), now);
        }
    }
}

/// Does the same with the files, in a thread of its own, since a slow disk must not delay the counting of processes.
pub(super) fn of_files(level: Level, limits: Limits, folders: &[PathBuf], user: Option<RunUser>) -> Limit {
    if watch(user).is_err() {
        return Limit::Unmeasured;
    }
    let mut pause = LOOK_AT_FILES;
    let (mut blindness, mut family) = (Blindness::default(), own_family());
    loop {
        std::thread::sleep(pause);
        let (look, rest) = paced(|| files_passed(level, limits, folders, &mut family));
        if let Some(passed) = blindness.judge(look) {
            return passed;
        }
        pause = rest.max(LOOK_AT_FILES);
    }
}

/// Lets this thread look at the program's processes if they have a user of their own.
fn watch(user: Option<RunUser>) -> io::Result<()> {
    user.map_or(Ok(()), RunUser::watch)
}

fn own_family() -> Family {
    Family::below(rustix::process::getpid().as_raw_nonzero().get())
}

/// Measures, and returns how long to pause afterwards. Time spent waiting for a processor or a disk does not count,
/// because it would make the measurements rarest on the busiest machine.
fn paced<T>(measure: impl FnOnce() -> T) -> (T, Duration) {
    let begun = processor_time();
    let measured = measure();
    let cost = processor_time().saturating_sub(begun);
    (measured, cost.saturating_mul(SHARE))
}

fn processor_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UsageReading {
    /// Everything is within its limit.
    Within,
    /// All that could be read is within the limits, but a folder is closed to its own user.
    WithinUnlessClosed,
    Over(Limit),
}

/// The number of measurements in a row that were incomplete.
#[derive(Default)]
struct Blindness {
    failed: u32,
    closed: u32,
}

impl Blindness {
    /// Returns the limit that ends the program, if any.
    fn judge(&mut self, look: io::Result<UsageReading>) -> Option<Limit> {
        match look {
            Ok(UsageReading::Over(limit)) => return Some(limit),
            Ok(UsageReading::Within) => *self = Self::default(),
            Ok(UsageReading::WithinUnlessClosed) => {
                self.failed = 0;
                self.closed += 1;
            }
            Err(_) => self.failed += 1,
        }
        (self.failed >= BLIND_LOOKS || self.closed >= CLOSED_LOOKS).then_some(Limit::Unmeasured)
    }
}

fn processes_passed(limits: Limits, family: &mut Family) -> io::Result<UsageReading> {
    let (own, family) = family.look()?;
    let page = u64::try_from(rustix::param::page_size()).unwrap_or(4_096);
    let resident = family.iter().map(|process| process.resident.saturating_mul(page));
    let ticks = rustix::param::clock_ticks_per_second().max(1);
    // The time of adopted children that were collected counts too.
    let used = family.iter().fold(own.ticks, |sum, process| sum.saturating_add(process.ticks));
    let count = u64::try_from(family.len()).unwrap_or(u64::MAX);
    Ok(if count > limits.processes {
        UsageReading::Over(Limit::Processes(limits.processes))
    } else if used / ticks > limits.cpu {
        UsageReading::Over(Limit::Cpu(limits.cpu))
    } else if resident.fold(0, u64::saturating_add) > limits.memory && in_use(&family, page) > limits.memory {
        UsageReading::Over(Limit::Memory(limits.memory))
    } else {
        UsageReading::Within
    })
}

/// Returns the memory of the processes in bytes, with shared memory counted once.
fn in_use(family: &[Process], page: u64) -> u64 {
    let shares = family.iter().map(|process| {
        let whole = process.resident.saturating_mul(page);
        let text = fs::read_to_string(format!("/proc/{}/smaps_rollup", process.pid)).unwrap_or_default();
        proportional(&text).unwrap_or(whole)
    });
    shares.fold(0, u64::saturating_add)
}

fn proportional(rollup: &str) -> Option<u64> {
    let line = rollup.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes.saturating_mul(1_024))
}

fn files_passed(level: Level, limits: Limits, folders: &[PathBuf], family: &mut Family) -> io::Result<UsageReading> {
    let (_, family) = family.look()?;
    let unnamed = unnamed(level, family.iter().map(|process| process.pid))?;
    if unnamed.in_memory > limits.memory {
        return Ok(UsageReading::Over(Limit::Memory(limits.memory)));
    }
    disk_passed(folders, limits.disk, unnamed.on_disk)
}

/// The size in bytes of files that are in no folder.
#[derive(Debug, Default, PartialEq, Eq)]
struct Unnamed {
    on_disk: u64,
    in_memory: u64,
}

/// Returns the size of the files that exist only through handles of these processes: deleted files, and files in memory
/// that do not count as resident pages of any process.
fn unnamed(level: Level, processes: impl Iterator<Item = i32>) -> io::Result<Unnamed> {
    let (mut seen, mut sum) = (HashSet::new(), Unnamed::default());
    for process in processes {
        let handles = match handles(process) {
            // Bubblewrap's own process does not let its user look into it.
            Err(error) if error.kind() == ErrorKind::PermissionDenied && level >= Level::L2 => continue,
            handles => handles?,
        };
        for handle in handles.into_iter().flatten().flatten() {
            let Ok(meta) = fs::metadata(handle.path()) else {
                continue;
            };
            if !meta.is_file() || meta.nlink() > 0 || !seen.insert((meta.dev(), meta.ino())) {
                continue;
            }
            let leads = fs::read_link(handle.path()).unwrap_or_default();
            let kept = if leads.as_os_str().as_encoded_bytes().starts_with(IN_MEMORY) {
                &mut sum.in_memory
            } else {
                &mut sum.on_disk
            };
            *kept = kept.saturating_add(meta.blocks().saturating_mul(BLOCK));
        }
    }
    Ok(sum)
}

/// Returns the handles of a process; `None` if it has ended. If its first thread has ended, reads them from another
/// one.
fn handles(process: i32) -> io::Result<Option<fs::ReadDir>> {
    let closed = match fs::read_dir(format!("/proc/{process}/fd")) {
        Ok(handles) => return Ok(Some(handles)),
        Err(error) if process_table::is_gone(&error) => return Ok(None),
        Err(error) if error.kind() == ErrorKind::PermissionDenied => error,
        Err(error) => return Err(error),
    };
    let threads = match fs::read_dir(format!("/proc/{process}/task")) {
        Err(error) if process_table::is_gone(&error) => return Ok(None),
        threads => threads?,
    };
    for thread in threads.flatten() {
        if process_table::has_ended(&thread.path())? {
            continue;
        }
        return match fs::read_dir(thread.path().join("fd")) {
            Ok(handles) => Ok(Some(handles)),
            Err(_) => Err(closed),
        };
    }
    Ok(None)
}

/// Checks if the files below `folders`, plus `others`, exceed `most` bytes. An empty file also costs a place in the
/// file system. Names too long to be read count as over the limit, because files could hide below them.
fn disk_passed(folders: &[PathBuf], most: u64, others: u64) -> io::Result<UsageReading> {
    let over = Ok(UsageReading::Over(Limit::Disk(most)));
    let mut open: Vec<PathBuf> = folders.to_vec();
    let (mut sum, mut found) = (others, UsageReading::Within);
    while let Some(folder) = open.pop() {
        if sum > most {
            return over;
        }
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::InvalidFilename => return over,
            // It was removed, or replaced by a file, since its name was read.
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => continue,
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                found = UsageReading::WithinUnlessClosed;
                continue;
            }
            Err(error) => return Err(error),
        };
        for entry in entries.flatten() {
            let Ok(meta) = entry.metadata() else { continue };
            sum = sum.saturating_add(meta.blocks().saturating_mul(BLOCK).max(LEAST));
            if meta.is_dir() {
                open.push(entry.path());
            }
        }
    }
    if sum > most { over } else { Ok(found) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::io::Errno;

    fn disk_passed(folders: &[PathBuf], most: u64, others: u64) -> bool {
        super::disk_passed(folders, most, others).unwrap() == UsageReading::Over(Limit::Disk(most))
    }

    #[test]
    fn what_cannot_be_looked_at_again_and_again_ends_the_program() {
        let blind = || Err(io::Error::from(Errno::MFILE));
        let judged = |looks: Vec<io::Result<UsageReading>>| {
            let mut blindness = Blindness::default();
            looks.into_iter().find_map(|look| blindness.judge(look))
        };
        assert_eq!(judged(vec![blind(), blind(), Ok(UsageReading::Within), blind(), blind()]), None);
        assert_eq!(judged(vec![blind(), blind(), blind()]), Some(Limit::Unmeasured));
        let closed = |times| (0..times).map(|_| Ok(UsageReading::WithinUnlessClosed)).collect();
        assert_eq!(judged(closed(9)), None);
        assert_eq!(judged(closed(10)), Some(Limit::Unmeasured));
        assert_eq!(judged(vec![Ok(UsageReading::Over(Limit::Cpu(1)))]), Some(Limit::Cpu(1)));
    }

    #[test]
    fn whoever_waits_for_another_is_not_slowed_down_for_it() {
        let busy = Duration::from_millis(20);
        let other = move || while processor_time() < busy {};
        let (_, pause) = paced(|| std::thread::spawn(other).join());
        assert!(pause < busy * SHARE, "{pause:?}");
        let ((), pause) = paced(|| {
            let until = processor_time() + busy;
            while processor_time() < until {}
        });
        assert!(pause >= busy * SHARE, "{pause:?}");
    }

    #[test]
    fn what_is_shared_is_counted_by_its_share() {
        assert_eq!(proportional("Rss:  9 kB\nPss:        2048 kB\nPss_Dirty: 1 kB\n"), Some(2 << 20));
        assert_eq!(proportional(""), None);
    }

    #[test]
    fn files_at_every_depth_count_and_links_do_not() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("a/b/c");
        fs::create_dir_all(&deep).unwrap();
        fs::write(deep.join("file"), vec![1; 1 << 20]).unwrap();
        let link = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(folder.path(), link.path().join("link")).unwrap();
        assert!(disk_passed(&[folder.path().to_path_buf()], 1_000_000, 0));
        assert!(!disk_passed(&[folder.path().to_path_buf()], 2_000_000, 0));
        assert!(disk_passed(&[folder.path().to_path_buf()], 2_000_000, 1_000_000));
        assert!(!disk_passed(&[link.path().to_path_buf()], 1_000_000, 0));
    }

    #[test]
    fn empty_files_are_not_free() {
        let folder = tempfile::tempdir().unwrap();
        (0..100).for_each(|number| fs::write(folder.path().join(number.to_string()), "").unwrap());
        assert!(disk_passed(&[folder.path().to_path_buf()], 99 * LEAST, 0));
        assert!(!disk_passed(&[folder.path().to_path_buf()], 100 * LEAST, 0));
    }
}
