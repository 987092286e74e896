//! The folders that tests work in.

use rustix::fs::{StatVfsMountFlags, statvfs};
use tempfile::{Builder, TempDir};

/// A file system in memory on most machines.
const MEMORY: &str = "/dev/shm";
/// The free space that it must have, in bytes, since tests run in parallel.
const ENOUGH: u64 = 2 << 30;

/// Creates a folder that is removed when dropped. It is in memory if possible: on a disk, the service and git would wait
/// for the disk after each step.
pub fn folder(prefix: &str) -> TempDir {
    match memory() {
        Some(memory) => Builder::new().prefix(prefix).tempdir_in(memory).unwrap(),
        None => Builder::new().prefix(prefix).tempdir().unwrap(),
    }
}

/// Returns the file system in memory, unless it has too little space, no program can be started from there, or `TMPDIR`
/// is set.
pub(crate) fn memory() -> Option<&'static str> {
    (std::env::var_os("TMPDIR").is_none() && is_fit(MEMORY)).then_some(MEMORY)
}

fn is_fit(place: &str) -> bool {
    statvfs(place).is_ok_and(|system| {
        let free = system.f_bavail.saturating_mul(system.f_frsize);
        free >= ENOUGH && !system.f_flag.contains(StatVfsMountFlags::NOEXEC)
    })
}
