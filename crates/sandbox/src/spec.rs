//! A program to run, and the result of its run.

use crate::{
    capture::{Output, OutputCap},
    confine::Confine,
};
use domain::isolation::{Level, Limit};
use std::{ffi::OsString, path::PathBuf, time::Duration};

/// One program to run. Its environment is exactly `env`.
#[derive(Clone, Debug)]
pub struct Spec {
    /// A path, or a name to look up along the `PATH` of `env`.
    pub program: OsString,
    /// The arguments.
    pub args: Vec<OsString>,
    /// The folder to start in.
    pub cwd: PathBuf,
    /// All environment variables of the program.
    pub env: Vec<(OsString, OsString)>,
    /// The bytes on its standard input.
    pub stdin: Vec<u8>,
    /// The time after which it is stopped.
    pub deadline: Duration,
    /// The time without output after which it is stopped; `None` for no such limit.
    pub idle: Option<Duration>,
    /// The time that it may spend waiting for a host that its door refused, without an allowed connection; `None` for
    /// no such limit.
    pub refused: Option<Duration>,
    /// The part of standard output that is kept.
    pub stdout: OutputCap,
    /// The part of standard error that is kept.
    pub stderr: OutputCap,
    /// The time that it gets to end by itself after it is told to stop.
    pub grace: Duration,
    /// The files and network that it can reach.
    pub confine: Confine,
}

impl Spec {
    /// Describes a program without input in `cwd`, with an empty environment, a deadline of ten minutes, default caps
    /// and two seconds of grace. It sees only the system's programs and those on its `PATH`, and has no network.
    pub fn new(program: impl Into<OsString>, cwd: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            cwd: cwd.into(),
            env: Vec::new(),
            stdin: Vec::new(),
            deadline: Duration::from_secs(600),
            idle: None,
            refused: None,
            stdout: OutputCap::default(),
            stderr: OutputCap::default(),
            grace: Duration::from_secs(2),
            confine: Confine::default(),
        }
    }

    /// Sets the arguments.
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
    /// Stopped because it only waited for a host that its door refused.
    HostRefused,
    /// Stopped because the caller cancelled.
    Cancelled,
    /// Stopped because it printed more than the hard cap.
    TooMuchOutput,
    /// Stopped because it exceeded a limit.
    OverLimit(Limit),
    /// It killed the launcher that watched it, so its result is unknown.
    Escaped,
}

/// The result of a program's run.
#[derive(Clone, Debug)]
pub struct Finished {
    /// How it ended.
    pub exit: Exit,
    /// Its standard output.
    pub stdout: Output,
    /// Its standard error.
    pub stderr: Output,
    /// The time from start to end.
    pub duration: Duration,
    /// The isolation level at which it ran.
    pub level: Level,
}

/// Why a program was not started.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StartError {
    /// There is no such program.
    #[error("the program {0} was not found")]
    NotFound(String),
    /// The file exists but cannot be executed.
    #[error("{0} cannot be executed")]
    NotExecutable(String),
    /// The folder to start in does not exist.
    #[error("the folder {0} does not exist")]
    NoFolder(String),
    /// It could not be isolated as required, so it was not started.
    #[error("the program could not be kept apart, so it was not started: {0}")]
    Isolation(String),
    /// Its arguments, environment and input are longer than a request may be.
    #[error("the command is too long")]
    TooLong,
    /// The operating system refused for another reason.
    #[error("the program could not be started: {0}")]
    Refused(String),
}
