//! The notes that are stored beside an entry's folders.

use crate::gates::run::cache::{Made, builds, times, times::Times};
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
    /// Cargo's fingerprint folders; empty if nothing of Cargo's was kept.
    pub(super) fingerprints: BTreeSet<String>,
    /// Files that commands rewrote: nothing built from them can be judged up to date.
    pub(super) unlike: BTreeSet<String>,
    /// The times of files and folders at the build, unless they are the fixed old time.
    #[serde(default)]
    pub(super) times: Times,
    /// The kind of files that set-up left.
    #[serde(default)]
    pub(super) made: Made,
}

impl Notes {
    /// Examines a checkout after its commands ran; `before` are the files' times before.
    pub(super) fn of(work: &Path, before: Times, untracked_files: &[PathBuf], made: Made) -> io::Result<Self> {
        Ok(Self {
            made,
            bytes: 0,
            fingerprints: builds::fingerprints(work, untracked_files)?,
            unlike: times::disturbed(work, &before),
            times: before.into_iter().filter(|(_, time)| *time != times::OLD).collect(),
        })
    }

    pub(super) fn read(entry: &Path) -> io::Result<Self> {
        Ok(serde_json::from_slice(&fs::read(entry.join(NOTES))?)?)
    }

    pub(super) fn write(&self, entry: &Path) -> io::Result<()> {
        fs::write(entry.join(NOTES), serde_json::to_vec(self)?)
    }
}
