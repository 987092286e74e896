//! The messages between the service and its launcher. They share one socket, which is also the launcher's lifeline.

use crate::{
    run_user::RunUser,
    spec::{Exit, Spec, StartError},
};
use domain::isolation::{Level, Limit, Limits};
use serde::{Deserialize, Serialize};
use std::{ffi::OsString, io::Read};

/// The longest request that a launcher accepts, in bytes: arguments and environment, without the input.
const REQUEST_CAP: u32 = 16 << 20;

/// The byte with which the service orders the launcher to end everything. The end of the socket means the same.
pub(crate) const STOP: u8 = b'T';

/// The byte before more input for the program. Four bytes with its length follow, then the input.
pub(crate) const INPUT: u8 = b'I';

/// The byte that marks the end of the input.
pub(crate) const INPUT_END: u8 = b'E';

/// The program to start, with its settings. The program's input follows the request.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct LaunchRequest {
    pub(crate) program: OsString,
    pub(crate) args: Vec<OsString>,
    pub(crate) cwd: OsString,
    pub(crate) env: Vec<(OsString, OsString)>,
    pub(crate) stdin_length: u64,
    /// `true` if more input follows while the program runs.
    #[serde(default)]
    pub(crate) talking: bool,
    pub(crate) grace_ms: u64,
    /// The isolation level and the resources that the program may reach.
    pub(crate) confinement: Confinement,
}

/// The isolation level and the resources that the program may reach.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Confinement {
    pub(crate) level: Level,
    /// The user of the run; `None` if it is the launcher's.
    pub(crate) user: Option<RunUser>,
    /// The program that makes namespaces.
    pub(crate) bubblewrap: OsString,
    /// The paths in the system's own folders that it must not see.
    pub(crate) masked: Vec<OsString>,
    pub(crate) read: Vec<OsString>,
    pub(crate) write: Vec<OsString>,
    /// Folders that it may also change: the real path, and the path at which it sees the folder.
    pub(crate) mounts: Vec<(OsString, OsString)>,
    pub(crate) limits: Limits,
    pub(crate) way: NetworkRoute,
    /// `true` if the program is our own binary, even if its file has moved.
    pub(crate) own: bool,
}

impl Confinement {
    /// Returns the real paths of the files and folders that the program may change.
    pub(crate) fn changeable(&self) -> impl Iterator<Item = &OsString> {
        let mounted = self.mounts.iter().map(|(folder, _)| folder);
        self.write.iter().chain(mounted)
    }
}

/// The program's only way out to a network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum NetworkRoute {
    /// There is none.
    Nowhere,
    /// This port of the machine.
    Port(u16),
    /// This port inside the sandbox, forwarded to a socket of the machine.
    Bridge { socket: OsString, port: u16 },
}

impl NetworkRoute {
    /// Returns the socket that must be visible inside the sandbox.
    pub(crate) fn socket(&self) -> Option<&OsString> {
        match self {
            Self::Nowhere | Self::Port(_) => None,
            Self::Bridge { socket, .. } => Some(socket),
        }
    }
}

impl LaunchRequest {
    /// Returns the request and the input, ready to be sent.
    pub(crate) fn frame(spec: &Spec, talking: bool, confinement: Confinement) -> Option<Vec<u8>> {
        let request = Self {
            program: spec.program.clone(),
            args: spec.args.clone(),
            cwd: spec.cwd.clone().into_os_string(),
            env: spec.env.clone(),
            stdin_length: u64::try_from(spec.stdin.len()).ok()?,
            talking,
            grace_ms: u64::try_from(spec.grace.as_millis()).ok()?,
            confinement,
        };
        Some([&request.bytes().ok()?[..], &spec.stdin].concat())
    }

    /// Returns the request in the form that [`LaunchRequest::read`] reads.
    pub(crate) fn bytes(&self) -> std::io::Result<Vec<u8>> {
        let json = serde_json::to_vec(self)?;
        let length = u32::try_from(json.len()).ok().filter(|length| *length <= REQUEST_CAP);
        let length = length.ok_or(std::io::ErrorKind::InvalidInput)?;
        Ok([&length.to_be_bytes()[..], &json].concat())
    }

    /// Reads a request. Its input follows in `source`.
    pub(crate) fn read(source: &mut impl Read) -> std::io::Result<Self> {
        let mut length = [0; 4];
        source.read_exact(&mut length)?;
        let length = u32::from_be_bytes(length);
        if length > REQUEST_CAP {
            return Err(std::io::ErrorKind::InvalidData.into());
        }
        let mut json = Vec::new();
        source.take(u64::from(length)).read_to_end(&mut json)?;
        Ok(serde_json::from_slice(&json)?)
    }
}

/// A message from the service after the request.
pub(crate) enum ServiceMessage {
    /// More input for the program.
    Input(Vec<u8>),
    /// The end of the program's input.
    InputEnd,
    /// The order to end everything.
    Stop,
}

impl ServiceMessage {
    pub(crate) fn read(source: &mut impl Read) -> std::io::Result<Self> {
        let (mut kind, mut length) = ([0; 1], [0; 4]);
        source.read_exact(&mut kind)?;
        match kind {
            [INPUT] => source.read_exact(&mut length)?,
            [INPUT_END] => return Ok(Self::InputEnd),
            _ => return Ok(Self::Stop),
        }
        let length = u32::from_be_bytes(length);
        let mut piece = Vec::new();
        let read = source.take(u64::from(length)).read_to_end(&mut piece)?;
        match u32::try_from(read) {
            Ok(read) if read == length => Ok(Self::Input(piece)),
            _ => Err(std::io::ErrorKind::UnexpectedEof.into()),
        }
    }
}

/// Why a launcher could not isolate a program, beside the errors of the system.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotConfined {
    #[error("the request could not be read: {0}")]
    Unreadable(std::io::Error),
    #[error("the thread that starts it ended")]
    NoThread,
    #[error("the sandbox could not be built")]
    NotBuilt,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Report {
    /// There is no such program.
    NotFound(String),
    /// It cannot be executed.
    NotExecutable(String),
    /// The folder to start in does not exist.
    NoFolder(String),
    /// It could not be started for another reason.
    Refused(String),
    /// Every right that it may not have is gone. It is about to be started.
    Confined,
    /// It could not be isolated, and was not started.
    NotConfined(String),
    /// It exceeded a limit.
    OverLimit(Limit),
    /// The program itself ended; processes that it started may still run.
    Exited(i32),
    /// The program itself was ended by a signal.
    Signalled(i32),
    /// No process that it started is left.
    Swept,
}

impl Report {
    /// Returns the program's end; `None` for a report about something else.
    pub(crate) fn outcome(self) -> Option<Result<Exit, StartError>> {
        Some(match self {
            Self::NotFound(program) => Err(StartError::NotFound(program)),
            Self::NotExecutable(program) => Err(StartError::NotExecutable(program)),
            Self::NoFolder(folder) => Err(StartError::NoFolder(folder)),
            Self::Refused(reason) => Err(StartError::Refused(reason)),
            Self::Exited(code) => Ok(Exit::Exited(code)),
            Self::Signalled(signal) => Ok(Exit::Signalled(signal)),
            Self::NotConfined(reason) => Err(StartError::Isolation(reason)),
            Self::OverLimit(limit) => Ok(Exit::OverLimit(limit)),
            Self::Confined | Self::Swept => return None,
        })
    }
}
