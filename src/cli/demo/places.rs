//! What the demo leaves on the disk, and what of it stays.

use std::path::{Path, PathBuf};

/// What is left behind.
pub(super) struct Places {
    /// The forge's copy of the repository.
    pub repository: PathBuf,
    /// The transcript.
    pub transcript: PathBuf,
    /// The repository that was imported, where it is a person's own.
    pub own: Option<PathBuf>,
    /// For how long.
    pub staying: Staying,
}

/// For how long what the demo made is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Staying {
    /// After the end too.
    Kept,
    /// Until the end.
    Until,
}

/// Removes what nobody needs any more: checkouts, mirrors and caches, or everything.
pub(super) fn tidy(folder: &Path, staying: Staying) {
    match staying {
        Staying::Kept => {
            git::delete(&folder.join("data"));
            let _ = std::fs::remove_file(folder.join("agents.yml"));
        }
        Staying::Until => git::delete(folder),
    }
}
