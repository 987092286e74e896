//! What is noted beside an entry's folders when it is made.

use crate::gates::run::cache::{Made, builds, times, times::Times};
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};

const NOTES: &str = "notes.json";

/// What is noted of an entry.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(super) struct Notes {
    /// How large it is.
    pub(super) bytes: u64,
    /// Where Cargo notes what is fresh; empty where nothing of Cargo was kept.
    pub(super) fingerprints: BTreeSet<String>,
    /// Files that commands wrote anew: nothing that was built of them can be told to be fresh.
    pub(super) unlike: BTreeSet<String>,
    /// The times of files and folders when it was built, where they are not the one old time.
    #[serde(default)]
    pub(super) times: Times,
    /// What set-up left.
    #[serde(default)]
    pub(super) made: Made,
}

impl Notes {
    /// Looks at a checkout as its commands left it, whose files had these times before.
    pub(super) fn of(work: &Path, before: Times, leavings: &[PathBuf], made: Made) -> io::Result<Self> {
        Ok(Self {
            made,
            bytes: 0,
            fingerprints: builds::fingerprints(work, leavings)?,
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
