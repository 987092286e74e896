//! Where the folders of scenarios lie.

use rustix::fs::{StatVfsMountFlags, statvfs};
use tempfile::{Builder, TempDir};

/// A file system in memory, on most machines.
const MEMORY: &str = "/dev/shm";
/// How much must be free there: scenarios run side by side.
const ENOUGH: u64 = 2 << 30;

/// A folder that is gone when dropped: in memory where there is enough and programs can be started from it, unless
/// `TMPDIR` names another place. The service and git wait for the disk after each step, and so would every scenario.
pub fn folder(prefix: &str) -> TempDir {
    match std::env::var_os("TMPDIR").is_none() && is_fit(MEMORY) {
        true => Builder::new().prefix(prefix).tempdir_in(MEMORY).unwrap(),
        false => Builder::new().prefix(prefix).tempdir().unwrap(),
    }
}

fn is_fit(place: &str) -> bool {
    statvfs(place).is_ok_and(|system| {
        let free = system.f_bavail.saturating_mul(system.f_frsize);
        free >= ENOUGH && !system.f_flag.contains(StatVfsMountFlags::NOEXEC)
    })
}
