//! What a foreign program may see, change and use up.

use crate::sandbox::egress::Door;
use serde::Deserialize;
use serde::Serialize;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// What one program may see, change and use up, besides what every program needs: the system's own programs and
/// libraries, what its `PATH` leads to, and the program itself, all of it for reading only.
#[derive(Clone, Debug, Default)]
pub struct Confine {
    /// Files and folders that it may read. A path that is not there is left out.
    pub read: Vec<PathBuf>,
    /// Files and folders that it may change too.
    pub write: Vec<PathBuf>,
    /// Its one way out; `None` for no network at all. Held for as long as the program runs.
    pub door: Option<Arc<Door>>,
    /// What it may use up.
    pub limits: Limits,
}

/// What a program with everything that it starts may use up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Bytes of memory in use at one time.
    pub memory: u64,
    /// Processes alive at one time.
    pub processes: u64,
    /// Time of processors, all of them together.
    pub cpu: Duration,
    /// Bytes of the largest file that is written.
    pub file: u64,
    /// Bytes in all that it may write to.
    pub disk: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory: 2 << 30,
            processes: 1_024,
            cpu: Duration::from_secs(4 * 60 * 60),
            file: 4 << 30,
            disk: 10 << 30,
        }
    }
}

/// A limit that was passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Limit {
    /// Bytes of memory.
    Memory(u64),
    /// Processes.
    Processes(u64),
    /// Seconds of processor time.
    Cpu(u64),
    /// Bytes on disk.
    Disk(u64),
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory(bytes) => write!(f, "more than {} MiB of memory", bytes >> 20),
            Self::Processes(count) => write!(f, "more than {count} processes"),
            Self::Cpu(seconds) => write!(f, "more than {seconds} s of processor time"),
            Self::Disk(bytes) => write!(f, "more than {} MiB of disk", bytes >> 20),
        }
    }
}
