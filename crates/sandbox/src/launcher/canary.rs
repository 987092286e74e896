//! The canary: a harmless program that tries what a sandbox must refuse, and says what it could do.

use rustix::process::{Pid, Resource};
use serde::{Deserialize, Serialize};
use std::{
    net::{SocketAddr, TcpStream},
    path::Path,
    process::ExitCode,
    time::Duration,
};

const PATIENCE: Duration = Duration::from_secs(2);

/// What the canary could do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Song {
    /// Read a file that it was not given.
    pub(crate) read: bool,
    /// Connect to a socket of the machine.
    pub(crate) connected: bool,
    /// See a process outside.
    pub(crate) saw: bool,
    /// Signal it.
    pub(crate) signalled: bool,
    /// Set a limit of it.
    pub(crate) steered: bool,
}

/// Whether a signal that does nothing reaches the process of this number.
fn is_signalled(number: &str) -> bool {
    let process = number.parse().ok().and_then(Pid::from_raw);
    process.is_some_and(|process| rustix::process::test_kill_process(process).is_ok())
}

/// Whether a limit of the process of this number can be set: to what both have, since nothing of ours changes that one.
fn is_steered(number: &str) -> bool {
    let same = rustix::process::getrlimit(Resource::Msgqueue);
    let process = number.parse().ok().and_then(Pid::from_raw);
    process.is_some_and(|process| rustix::process::prlimit(Some(process), Resource::Msgqueue, same).is_ok())
}

/// Tries; its arguments are a file, a port of this machine, and the number of a process.
pub(super) fn main(arguments: &[String]) -> ExitCode {
    let [file, port, process] = arguments else {
        return ExitCode::FAILURE;
    };
    let Ok(port) = port.parse::<u16>() else {
        return ExitCode::FAILURE;
    };
    let song = Song {
        read: std::fs::read(file).is_ok(),
        connected: TcpStream::connect_timeout(&SocketAddr::from(([127, 0, 0, 1], port)), PATIENCE).is_ok(),
        saw: Path::new("/proc").join(process).exists(),
        signalled: is_signalled(process),
        steered: is_steered(process),
    };
    match serde_json::to_writer(std::io::stdout(), &song) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
