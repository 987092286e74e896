//! The file that holds the forge's state, always replaced as a whole.

use super::{refusal::Refusal, state::State};
use std::{io, io::Write, path::Path};

/// The moment at which a forge writes its state to its file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Saving {
    /// Soon after a change. A process that is killed may lose the last changes.
    #[default]
    Soon,
    /// Before anybody learns of a change: answers and deliveries wait for the file. So a process that is killed at any
    /// moment knows everything that its callers know when it starts again. Acknowledged deliveries are deleted.
    First,
}

/// The reason why the forge could not be opened or saved, or refused a request.
#[derive(Debug, thiserror::Error)]
pub enum ForgeError {
    /// The folder, the file or the port cannot be used.
    #[error("{what} {place}")]
    Io {
        /// The action that failed.
        what: &'static str,
        /// The path or address.
        place: String,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// The file is not a forge's state.
    #[error("{place} is not a forge's memory")]
    NotOurs {
        /// The path of the file.
        place: String,
        /// The cause.
        #[source]
        source: serde_json::Error,
    },
    /// The file exists and cannot be read.
    #[error("{place} cannot be read")]
    Unreadable {
        /// The path of the file.
        place: String,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// git failed.
    #[error(transparent)]
    Git(#[from] git::bare::BareError),
    /// The forge refused the request.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The forge has nothing of this name.
    #[error("the forge has no {0}")]
    Unknown(String),
}

pub(super) fn io_error<'a>(what: &'static str, place: &'a Path) -> impl FnOnce(io::Error) -> ForgeError + 'a {
    move |source| ForgeError::Io { what, place: place.display().to_string(), source }
}

/// Reads the state; a missing file is an empty state.
pub(super) fn load(file: &Path) -> Result<State, ForgeError> {
    match std::fs::read(file) {
        Ok(bytes) => serde_json::from_slice(&bytes)
            .map_err(|source| ForgeError::NotOurs { place: file.display().to_string(), source }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(State::default()),
        Err(source) => Err(ForgeError::Unreadable { place: file.display().to_string(), source }),
    }
}

/// Replaces the file in one step, so that it is never half written.
pub(super) fn save(file: &Path, bytes: &[u8], saving: Saving) -> Result<(), ForgeError> {
    let folder = file.parent().unwrap_or(Path::new("."));
    let mut fresh = tempfile::NamedTempFile::new_in(folder).map_err(io_error("writing in", folder))?;
    fresh.write_all(bytes).map_err(io_error("writing", file))?;
    if saving == Saving::First {
        fresh.as_file().sync_all().map_err(io_error("writing", file))?;
    }
    fresh.persist(file).map_err(|error| io_error("replacing", file)(error.error))?;
    if saving == Saving::First {
        let folder = std::fs::File::open(folder).and_then(|folder| folder.sync_all());
        folder.map_err(io_error("writing in", file))?;
    }
    Ok(())
}
