//! The notes that are stored beside an entry's folders.

use crate::gates::run::cache::Made;
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};

const NOTES: &str = "notes.json";

/// The notes about an entry.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(super) struct Notes {
    /// The entry's size.
    pub(super) bytes: u64,
    /// Files that commands rewrote: nothing built from them can be judged up to date.
    pub(super) rewritten: BTreeSet<PathBuf>,
    /// The kind of files that set-up left.
    pub(super) made: Made,
}

impl Notes {
    pub(super) fn read(entry: &Path) -> io::Result<Self> {
        Ok(serde_json::from_slice(&fs::read(entry.join(NOTES))?)?)
    }

    pub(super) fn write(&self, entry: &Path) -> io::Result<()> {
        fs::write(entry.join(NOTES), serde_json::to_vec(self)?)
    }
}
