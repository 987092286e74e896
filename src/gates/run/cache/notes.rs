//! What is noted beside an entry's folders when it is made.

use crate::gates::cache::{builds::Builds, packages::Packages, times};
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
    /// Files of the commit from which something was built that does not stand for them elsewhere.
    pub(super) unlike: BTreeSet<String>,
}

impl Notes {
    /// Looks at a checkout as its commands left it.
    pub(super) fn of(work: &Path, packages: &Packages, leavings: &[PathBuf]) -> io::Result<Self> {
        let builds = Builds::of(work, leavings)?;
        let mut unlike = times::disturbed(work, packages);
        unlike.extend(builds.bound);
        Ok(Self {
            bytes: 0,
            fingerprints: builds.fingerprints,
            unlike,
        })
    }

    pub(super) fn read(entry: &Path) -> io::Result<Self> {
        Ok(serde_json::from_slice(&fs::read(entry.join(NOTES))?)?)
    }

    pub(super) fn write(&self, entry: &Path) -> io::Result<()> {
        fs::write(entry.join(NOTES), serde_json::to_vec(self)?)
    }
}
