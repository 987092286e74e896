//! How far a foreign program is kept apart from the machine, and what it may use up. How it is done is the sandbox's
//! part.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A level of isolation, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "u8", try_from = "u8")]
pub enum Level {
    /// None: limits of time and output, and everything is cleaned up.
    L0,
    /// Landlock, seccomp and resource limits in the machine's own namespaces.
    L1,
    /// Namespaces of its own with a bare root, over the machine's `/proc`; and all of [`Level::L1`].
    L2,
    /// Namespaces of its own with a bare root and its own `/proc`; and all of [`Level::L1`].
    L3,
}

impl Level {
    /// What the level is, in a few words.
    pub fn means(self) -> &'static str {
        match self {
            Self::L0 => "none",
            Self::L1 => "limited files and system calls, by Landlock and seccomp",
            Self::L2 => "its own files, programs and network, but the machine's /proc",
            Self::L3 => "its own files, programs and network",
        }
    }
}

/// Between which levels programs are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Below it nothing is run at all.
    pub least: Level,
    /// Above it isolation is not used although the machine offers it: some programs do not work under it.
    pub most: Level,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            least: Level::L1,
            most: Level::L3,
        }
    }
}

impl Level {
    /// This level or the best above it.
    pub fn or_more(self) -> Bounds {
        Bounds {
            least: self,
            most: Self::L3,
        }
    }
}

impl From<Level> for u8 {
    fn from(level: Level) -> Self {
        match level {
            Level::L0 => 0,
            Level::L1 => 1,
            Level::L2 => 2,
            Level::L3 => 3,
        }
    }
}

impl TryFrom<u8> for Level {
    type Error = NoSuchLevel;

    fn try_from(number: u8) -> Result<Self, Self::Error> {
        match number {
            0 => Ok(Self::L0),
            1 => Ok(Self::L1),
            2 => Ok(Self::L2),
            3 => Ok(Self::L3),
            other => Err(NoSuchLevel(other)),
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "L{}", u8::from(*self))
    }
}

/// A number that is no level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} is no level of isolation; valid: 0, 1, 2, 3")]
pub struct NoSuchLevel(u8);

/// What a program with everything that it starts may use up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Bytes of memory in use at one time.
    pub memory: u64,
    /// Processes alive at one time.
    pub processes: u64,
    /// Seconds of processors' time, all of them together.
    pub cpu: u64,
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
            cpu: 4 * 60 * 60,
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
    /// Whichever: what is used could not be looked at.
    Unmeasured,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory(bytes) => write!(f, "more than {} MiB of memory", bytes >> 20),
            Self::Processes(count) => write!(f, "more than {count} processes"),
            Self::Cpu(seconds) => write!(f, "more than {seconds} s of processor time"),
            Self::Disk(bytes) => write!(f, "more than {} MiB of disk", bytes >> 20),
            Self::Unmeasured => write!(
                f,
                "what could not be measured: its processes or files could not be looked at"
            ),
        }
    }
}
