//! Levels of isolation between a foreign program and the machine, and the limits on its resources. The sandbox enforces
//! both.

use serde::{Deserialize, Serialize};
use std::{fmt, path::PathBuf};

/// A level of isolation, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "u8", try_from = "u8")]
pub enum Level {
    /// No isolation. Only time and output are limited, and everything is cleaned up.
    L0,
    /// Landlock, seccomp and resource limits in the machine's own namespaces.
    L1,
    /// Its own namespaces and a bare root, with the machine's `/proc`; and everything of [`Level::L1`].
    L2,
    /// Its own namespaces, a bare root and its own `/proc`; and everything of [`Level::L1`].
    L3,
}

impl Level {
    /// Returns bounds that allow this level and all stronger ones.
    pub fn or_more(self) -> Bounds {
        Bounds { least: self, most: Self::L3 }
    }
}

/// The levels between which programs run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The weakest level allowed. If the machine offers less, nothing runs.
    pub least: Level,
    /// The strongest level used, even if the machine offers more: some programs do not work at a stronger one.
    pub most: Level,
}

impl Default for Bounds {
    fn default() -> Self {
        Level::L1.or_more()
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
        let all = [Self::L0, Self::L1, Self::L2, Self::L3];
        all.into_iter().find(|level| u8::from(*level) == number).ok_or(NoSuchLevel(number))
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "L{}", u8::from(*self))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} is no level of isolation; valid: 0, 1, 2, 3")]
pub struct NoSuchLevel(u8);

/// The limits for a program together with everything that it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Bytes of memory in use at the same time.
    pub memory: u64,
    /// Processes alive at the same time.
    pub processes: u64,
    /// Seconds of processor time, summed over all processors.
    pub cpu: u64,
    /// The size of the largest file that may be written, in bytes.
    pub file: u64,
    /// The total size of everything that it may write to, in bytes.
    pub disk: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { memory: 2 << 30, processes: 1_024, cpu: 4 * 60 * 60, file: 4 << 30, disk: 10 << 30 }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum Limit {
    /// Bytes of memory.
    #[error("more than {} MiB of memory", .0 >> 20)]
    Memory(u64),
    #[error("more than {0} processes")]
    Processes(u64),
    /// Seconds of processor time.
    #[error("more than {0} s of processor time")]
    Cpu(u64),
    /// Bytes on disk.
    #[error("more than {} MiB of disk", .0 >> 20)]
    Disk(u64),
    /// An unknown limit: the use could not be measured.
    #[error("what could not be measured: its processes or files could not be looked at")]
    Unmeasured,
}

/// Who enforces the limits on memory and processes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LimitKeeper {
    /// The kernel, in control groups below this one.
    Kernel(PathBuf),
    /// The launcher, which watches. The text says to operators why there are no control groups.
    Launcher(String),
}

/// Something that keeps a machine from a stronger isolation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingIsolation {
    /// The levels that it makes impossible; empty if nothing could be tried at all.
    pub levels: Vec<Level>,
    pub cause: IsolationCause,
}

/// Why a machine offers no stronger isolation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IsolationCause {
    /// The settings allow no stronger level than this one.
    Forbidden(Level),
    /// `/proc` is not mounted.
    NoProc,
    /// The canary that tries the isolation did not run, for this reason.
    NoCanary(String),
    /// Even without isolation, the canary could not do everything, so a failure under isolation proves nothing. The
    /// text is its report.
    HeldAnyway(String),
    /// The canary did this although the level forbids it.
    NotBlocked(CanaryAct),
    /// A kernel older than 6.12 lets programs signal other processes of the same user.
    UnboundSignals,
    /// The service is root and cannot give each run its own user.
    NoUsers,
    /// The level could not be built.
    NotBuilt {
        reason: String,
        /// The known cause of the error.
        obstacle: Option<Obstacle>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CanaryAct {
    /// Read a file that it was not given.
    Read,
    /// Change the mode of that file.
    SetMode,
    /// Reach a listener of the machine.
    Connect,
    /// See a process outside.
    See,
    /// Signal a process outside.
    Signal,
    /// Set a limit of a process outside.
    SetLimit,
    /// Empty that file.
    Empty,
}

/// A known obstacle to isolation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// Bubblewrap is not installed.
    NoBubblewrap,
    /// Bubblewrap lacks an option.
    OldBubblewrap,
    /// AppArmor forbids user namespaces to bubblewrap.
    AppArmor,
    /// A container masks `/proc`.
    MaskedProc,
    /// User namespaces are forbidden.
    NoNamespaces,
    /// The kernel was started without Landlock.
    NoLandlock,
}
