//! The canary: a harmless program that tries actions that a sandbox must refuse, and reports those that succeeded.

use rustix::process::{Pid, Resource};
use serde::{Deserialize, Serialize};
use std::{
    fs::File,
    net::{SocketAddr, TcpStream},
    os::unix::fs::OpenOptionsExt,
    path::Path,
    process::ExitCode,
    time::Duration,
};

const PATIENCE: Duration = Duration::from_secs(2);

/// The acts in which the canary succeeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CanaryReport {
    /// It read a file that it was not given.
    pub(crate) read: bool,
    /// It could change the mode of that file.
    pub(crate) changed_mode: bool,
    pub(crate) connected: bool,
    pub(crate) saw: bool,
    pub(crate) signalled: bool,
    /// It could set a resource limit of that process.
    pub(crate) set_limit: bool,
    /// It could empty the file.
    pub(crate) emptied: bool,
    /// It wrote a file in the folder that it was given.
    pub(crate) wrote: bool,
}

impl CanaryReport {
    /// Returns `true` if nothing held it.
    pub(crate) fn can_do_everything(&self) -> bool {
        self.read && self.changed_mode && self.emptied && self.connected && self.saw && self.signalled && self.wrote
    }
}

/// `true` if the mode of the file can be changed. It is set to its present value.
fn is_opened(file: &str) -> bool {
    let meta = std::fs::metadata(file);
    meta.and_then(|meta| std::fs::set_permissions(file, meta.permissions())).is_ok()
}

/// `true` if the process with this id can be signalled. The signal has no effect.
fn is_signalled(number: &str) -> bool {
    let process = number.parse().ok().and_then(Pid::from_raw);
    process.is_some_and(|process| rustix::process::test_kill_process(process).is_ok())
}

/// `true` if the file can be emptied in one of the two ways that need no handle for writing.
fn is_emptied(file: &str) -> bool {
    let while_reading = || File::options().read(true).custom_flags(libc::O_TRUNC).open(file);
    nix::unistd::truncate(file, 0).is_ok() || while_reading().is_ok()
}

/// `true` if a file can be written in the folder.
fn is_written(folder: &str) -> bool {
    std::fs::write(Path::new(folder).join("written"), b"sung").is_ok()
}

/// `true` if a resource limit of the process with this id can be set. The new value is our own, which is the same,
/// since nothing of ours changes that limit.
fn can_set_limit(number: &str) -> bool {
    let same = rustix::process::getrlimit(Resource::Msgqueue);
    let process = number.parse().ok().and_then(Pid::from_raw);
    process.is_some_and(|process| rustix::process::prlimit(Some(process), Resource::Msgqueue, same).is_ok())
}

/// Runs the canary. Its arguments are a file, a port of this machine, a process id, and a folder that it may change.
pub(super) fn main(arguments: &[String]) -> ExitCode {
    let [file, port, process, folder] = arguments else {
        return ExitCode::FAILURE;
    };
    let Ok(port) = port.parse::<u16>() else {
        return ExitCode::FAILURE;
    };
    let report = CanaryReport {
        read: std::fs::read(file).is_ok(),
        changed_mode: is_opened(file),
        connected: TcpStream::connect_timeout(&SocketAddr::from(([127, 0, 0, 1], port)), PATIENCE).is_ok(),
        saw: Path::new("/proc").join(process).exists(),
        signalled: is_signalled(process),
        set_limit: can_set_limit(process),
        emptied: is_emptied(file),
        wrote: is_written(folder),
    };
    match serde_json::to_writer(std::io::stdout(), &report) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
