//! What a program with everything below it uses up, looked at again and again while it runs.
//!
//! Looking costs at most a fiftieth of one processor, but where processes grow in number it does not wait. What is over
//! the limit between two looks is found at the next. Who cannot be looked at does not go on.

use crate::{
    process_table,
    process_table::{Family, Process},
};
use domain::isolation::{Level, Limit, Limits};
use std::{
    collections::HashSet,
    fs, io,
    io::ErrorKind,
    os::unix::fs::MetadataExt,
    path::PathBuf,
    time::{Duration, Instant},
};

/// The least time between two looks at the processes, and at the files.
const LOOK_AT_PROCESSES: Duration = Duration::from_millis(50);
/// The time between two counts of all processes of the machine, which cost next to nothing.
const COUNT: Duration = Duration::from_millis(10);
const LOOK_AT_FILES: Duration = Duration::from_secs(1);
/// Looking takes at most one part of this many of the time.
const SHARE: u32 = 50;
/// A block of `stat`.
const BLOCK: u64 = 512;
/// What an entry of a folder costs at least.
const LEAST: u64 = 4_096;
/// How the target of a handle to a file in memory begins.
const IN_MEMORY: &[u8] = b"/memfd:";

/// So many looks in a row may fail, as one does where the machine is short of handles for a moment.
const BLIND_LOOKS: u32 = 3;
/// In so many looks in a row a folder may be closed to its own user, as tests of such folders leave them.
const CLOSED_LOOKS: u32 = 10;

/// Looks until something is over its limit, or cannot be looked at any more, and gives that.
pub(super) fn passed(level: Level, limits: Limits, folders: &[PathBuf]) -> Limit {
    // What ends at once needs no look, which would only take processors from it.
    let (mut looked, mut files_from) = (Instant::now(), Instant::now() + LOOK_AT_FILES);
    let (mut pause, mut known) = (LOOK_AT_PROCESSES, process_table::count().unwrap_or_default());
    let (mut of_processes, mut of_files) = (Blindness::default(), Blindness::default());
    let mut family = Family::below(rustix::process::getpid().as_raw_nonzero().get());
    loop {
        std::thread::sleep(COUNT);
        let begun = Instant::now();
        let now = process_table::count().unwrap_or(u64::MAX);
        // Whoever makes many processes is not waited for.
        let grows = now.saturating_sub(known) > limits.processes / 4;
        if grows || begun.duration_since(looked) >= pause {
            if let Some(passed) = of_processes.judge(processes_passed(limits, &mut family)) {
                return passed;
            }
            let cost = begun.elapsed().saturating_mul(SHARE);
            pause = cost.clamp(LOOK_AT_PROCESSES, LOOK_AT_FILES);
            (looked, known) = (Instant::now(), now);
        }
        if files_from <= begun {
            let begun = Instant::now();
            if let Some(passed) = of_files.judge(files_passed(level, limits, folders, &mut family)) {
                return passed;
            }
            let cost = begun.elapsed().saturating_mul(SHARE);
            files_from = Instant::now() + cost.max(LOOK_AT_FILES);
        }
    }
}

/// What a look found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Look {
    /// Everything is within its limit.
    Within,
    /// As far as could be seen; a folder is closed to its own user.
    WithinUnlessClosed,
    Over(Limit),
}

/// How many looks in a row did not show everything.
#[derive(Default)]
struct Blindness {
    failed: u32,
    closed: u32,
}

impl Blindness {
    /// What ends the program, if anything does.
    fn judge(&mut self, look: io::Result<Look>) -> Option<Limit> {
        match look {
            Ok(Look::Over(limit)) => return Some(limit),
            Ok(Look::Within) => *self = Self::default(),
            Ok(Look::WithinUnlessClosed) => {
                self.failed = 0;
                self.closed += 1;
            }
            Err(_) => self.failed += 1,
        }
        (self.failed >= BLIND_LOOKS || self.closed >= CLOSED_LOOKS).then_some(Limit::Unmeasured)
    }
}

fn processes_passed(limits: Limits, family: &mut Family) -> io::Result<Look> {
    let (own, family) = family.look()?;
    let page = u64::try_from(rustix::param::page_size()).unwrap_or(4_096);
    let resident = family.iter().map(|process| process.resident.saturating_mul(page));
    let ticks = rustix::param::clock_ticks_per_second().max(1);
    // What was adopted and collected here counts as ours.
    let used = family
        .iter()
        .fold(own.ticks, |sum, process| sum.saturating_add(process.ticks));
    let count = u64::try_from(family.len()).unwrap_or(u64::MAX);
    Ok(if count > limits.processes {
        Look::Over(Limit::Processes(limits.processes))
    } else if used / ticks > limits.cpu {
        Look::Over(Limit::Cpu(limits.cpu))
    } else if resident.fold(0, u64::saturating_add) > limits.memory && in_use(&family, page) > limits.memory {
        Look::Over(Limit::Memory(limits.memory))
    } else {
        Look::Within
    })
}

/// Memory without what several processes share, which each of them shows as its own.
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

fn files_passed(level: Level, limits: Limits, folders: &[PathBuf], family: &mut Family) -> io::Result<Look> {
    let (_, family) = family.look()?;
    let unnamed = unnamed(level, family.iter().map(|process| process.pid))?;
    if unnamed.in_memory > limits.memory {
        return Ok(Look::Over(Limit::Memory(limits.memory)));
    }
    disk_passed(folders, limits.disk, unnamed.on_disk)
}

/// Bytes of files that no folder holds.
#[derive(Debug, Default, PartialEq, Eq)]
struct Unnamed {
    on_disk: u64,
    in_memory: u64,
}

/// What is kept in files that only the handles of these processes lead to: deleted ones, and those that live in memory
/// and are nobody's resident pages.
fn unnamed(level: Level, processes: impl Iterator<Item = i32>) -> io::Result<Unnamed> {
    let (mut seen, mut sum) = (HashSet::new(), Unnamed::default());
    for process in processes {
        let handles = match handles(process) {
            // What builds the wall is closed to its own user.
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
            let kept = match leads.as_os_str().as_encoded_bytes().starts_with(IN_MEMORY) {
                true => &mut sum.in_memory,
                false => &mut sum.on_disk,
            };
            *kept = kept.saturating_add(meta.blocks().saturating_mul(BLOCK));
        }
    }
    Ok(sum)
}

/// The handles of a process; none of one that has ended. They are those of each of its threads, also where its first one
/// ended before the others.
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

/// Whether more than `most` bytes lie below `folders`, beside `others`. An empty file costs a place in the file system
/// too; files that hide below names too long to be looked at count as more.
fn disk_passed(folders: &[PathBuf], most: u64, others: u64) -> io::Result<Look> {
    let over = Ok(Look::Over(Limit::Disk(most)));
    let mut open: Vec<PathBuf> = folders.to_vec();
    let (mut sum, mut found) = (others, Look::Within);
    while let Some(folder) = open.pop() {
        if sum > most {
            return over;
        }
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::InvalidFilename => return over,
            // It went, or became a file, since its name was read.
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => continue,
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                found = Look::WithinUnlessClosed;
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
        super::disk_passed(folders, most, others).unwrap() == Look::Over(Limit::Disk(most))
    }

    #[test]
    fn what_cannot_be_looked_at_again_and_again_ends_the_program() {
        let blind = || Err(io::Error::from(Errno::MFILE));
        let judged = |looks: Vec<io::Result<Look>>| {
            let mut blindness = Blindness::default();
            looks.into_iter().find_map(|look| blindness.judge(look))
        };
        assert_eq!(judged(vec![blind(), blind(), Ok(Look::Within), blind(), blind()]), None);
        assert_eq!(judged(vec![blind(), blind(), blind()]), Some(Limit::Unmeasured));
        let closed = |times| (0..times).map(|_| Ok(Look::WithinUnlessClosed)).collect();
        assert_eq!(judged(closed(9)), None);
        assert_eq!(judged(closed(10)), Some(Limit::Unmeasured));
        assert_eq!(judged(vec![Ok(Look::Over(Limit::Cpu(1)))]), Some(Limit::Cpu(1)));
    }

    #[test]
    fn what_is_shared_is_counted_by_its_share() {
        assert_eq!(
            proportional("Rss:  9 kB\nPss:        2048 kB\nPss_Dirty: 1 kB\n"),
            Some(2 << 20)
        );
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
