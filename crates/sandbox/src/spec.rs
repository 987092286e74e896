//! What to run and what became of it.

use crate::{
    capture::{Output, OutputCap},
    confine::Confine,
};
use domain::isolation::{Level, Limit};
use std::{ffi::OsString, path::PathBuf, time::Duration};

/// One program to run. Its environment is exactly `env`.
#[derive(Clone, Debug)]
pub struct Spec {
    /// A path, or a name to be found along the `PATH` of `env`.
    pub program: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// The folder to start in.
    pub cwd: PathBuf,
    /// Every variable it gets.
    pub env: Vec<(OsString, OsString)>,
    /// What it reads on standard input.
    pub stdin: Vec<u8>,
    /// When it is stopped.
    pub deadline: Duration,
    /// It is also stopped after this long without output.
    pub idle: Option<Duration>,
    /// What is kept of standard output.
    pub stdout: OutputCap,
    /// What is kept of standard error.
    pub stderr: OutputCap,
    /// How long it may take to end by itself once told to stop.
    pub grace: Duration,
    /// What it may see, change, reach and use up.
    pub confine: Confine,
}

impl Spec {
    /// A program without input in `cwd`, with an empty environment, ten minutes, default caps and two seconds of grace.
    /// It sees nothing but the system's own programs and what its `PATH` leads to, and reaches nothing.
    #[must_use]
    pub fn new(program: impl Into<OsString>, cwd: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            cwd: cwd.into(),
            env: Vec::new(),
            stdin: Vec::new(),
            deadline: Duration::from_secs(600),
            idle: None,
            stdout: OutputCap::default(),
            stderr: OutputCap::default(),
            grace: Duration::from_secs(2),
            confine: Confine::default(),
        }
    }

    /// With these arguments.
    #[must_use]
    pub fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args = args.into_iter().map(Into::into).collect();
        self
    }
}

/// How a program ended. In every case all its processes are gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// By itself, with this code.
    Exited(i32),
    /// By a signal that we did not send.
    Signalled(i32),
    /// Stopped at its deadline.
    TimedOut,
    /// Stopped because it had been silent for too long.
    Idle,
    /// Stopped because the caller cancelled.
    Cancelled,
    /// Stopped because it printed more than the hard cap.
    TooMuchOutput,
    /// Stopped because it used more than it was given.
    OverLimit(Limit),
    /// It killed the launcher that watched it; what it came to is not known.
    Escaped,
}

/// A program's end.
#[derive(Clone, Debug)]
pub struct Finished {
    /// How it ended.
    pub exit: Exit,
    /// What it printed.
    pub stdout: Output,
    /// What it complained of.
    pub stderr: Output,
    /// From start to end.
    pub duration: Duration,
    /// How far it was kept apart.
    pub level: Level,
}

/// Why a program was not started.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StartError {
    /// There is no such program.
    #[error("the program {0} was not found")]
    NotFound(String),
    /// The file is there but cannot be executed.
    #[error("{0} cannot be executed")]
    NotExecutable(String),
    /// The folder to start in is not there.
    #[error("the folder {0} does not exist")]
    NoFolder(String),
    /// It could not be kept apart as it must be, so it was not started.
    #[error("the program could not be kept apart, so it was not started: {0}")]
    Isolation(String),
    /// The operating system refused otherwise.
    #[error("the program could not be started: {0}")]
    Refused(String),
}
