//! The room on the disk of the data folder. Nothing new starts on a disk that is nearly full.

use crate::engine::Engine;
use parking_lot::Mutex;
use std::{
    fmt, io,
    path::Path,
    time::{Duration, Instant},
};

/// The room that must be free, in bytes; on a smaller disk, a tenth of it.
const LEAST_FREE: u64 = 5 << 30;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskRoom {
    /// The bytes that this process may still use.
    pub free: u64,
    pub total: u64,
}

impl DiskRoom {
    /// Reads the room on the disk that holds `folder`.
    pub fn of(folder: &Path) -> io::Result<Self> {
        let disk = rustix::fs::statvfs(folder)?;
        Ok(Self {
            free: disk.f_bavail.saturating_mul(disk.f_frsize),
            total: disk.f_blocks.saturating_mul(disk.f_frsize),
        })
    }

    pub fn is_enough(self) -> bool {
        self.free >= self.least()
    }

    fn least(self) -> u64 {
        LEAST_FREE.min(self.total / 10)
    }
}

impl Engine {
    /// Returns the room on the disk of the data folder if it is too little for new work. If it cannot be read, work
    /// continues, and a write that finds no room reports that.
    pub fn full_disk(&self) -> Option<DiskRoom> {
        let room = DiskRoom::of(&self.settings.data_dir).ok()?;
        (!room.is_enough()).then_some(room)
    }
}

/// How long this process leaves steps that need a disk to others after one that found no room.
const REST: Duration = Duration::from_secs(30);

/// The last step of this process that found no room on its disk.
#[derive(Debug, Default)]
pub struct LastFullDisk(Mutex<Option<Instant>>);

impl LastFullDisk {
    /// Records such a step. After a rest, others count only when as much time has passed again: most calls need no disk,
    /// and nobody else may be there to make them.
    pub fn record(&self) {
        self.record_at(Instant::now());
    }

    pub fn is_recent(&self) -> bool {
        self.is_recent_at(Instant::now())
    }

    fn record_at(&self, now: Instant) {
        let mut last = self.0.lock();
        if last.is_none_or(|at| now.saturating_duration_since(at) >= 2 * REST) {
            *last = Some(now);
        }
    }

    fn is_recent_at(&self, now: Instant) -> bool {
        self.0.lock().is_some_and(|at| now.saturating_duration_since(at) < REST)
    }
}

impl fmt::Display for DiskRoom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mib = |bytes: u64| bytes >> 20;
        write!(f, "{} MiB of {} MiB are free, {} are needed", mib(self.free), mib(self.total), mib(self.least()))
    }
}

#[cfg(test)]
mod tests {
    use super::{DiskRoom, LastFullDisk};
    use std::time::{Duration, Instant};

    #[test]
    fn a_large_disk_needs_five_gibibytes_and_a_small_one_a_tenth() {
        let gib = |free: u64, total: u64| DiskRoom { free: free << 30, total: total << 30 };
        assert!(gib(5, 1_000).is_enough());
        assert!(!gib(4, 1_000).is_enough());
        assert!(gib(2, 20).is_enough());
        assert!(!gib(1, 20).is_enough());
        assert_eq!(gib(1, 20).to_string(), "1024 MiB of 20480 MiB are free, 2048 are needed");
    }

    #[test]
    fn after_a_full_disk_steps_rest_for_half_a_minute_and_are_then_open_for_as_long() {
        let (disk, start) = (LastFullDisk::default(), Instant::now());
        let at = |second| start + Duration::from_secs(second);
        let rests = |second| disk.is_recent_at(at(second));
        assert!(!rests(0), "no step found the disk full");
        disk.record_at(at(0));
        assert_eq!([0, 29, 30].map(rests), [true, true, false]);
        for second in [29, 30, 59] {
            disk.record_at(at(second));
            assert!(!rests(second.max(30)), "others at second {second} close nothing");
        }
        disk.record_at(at(60));
        assert_eq!([60, 89, 90].map(rests), [true, true, false]);
    }
}
