//! The one-time link to the set-up. It lies in the data folder, so that who may read that may open the page.

use crate::config::{NotKept, read_private, write_private};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The file's name in the data folder.
const FILE: &str = "setup-link.json";

/// A link that nobody opened yet.
#[derive(Serialize, Deserialize)]
pub struct SetupLink {
    /// Where the service listens, as `http://127.0.0.1:8080`.
    pub service: String,
    /// What opens the page, once.
    pub(super) token: String,
}

impl SetupLink {
    /// A link to the service at this address.
    #[must_use]
    pub fn new(service: String, token: String) -> Self {
        Self { service, token }
    }

    /// The whole address.
    #[must_use]
    pub fn address(&self) -> String {
        format!("{}/setup?token={}", self.service.trim_end_matches('/'), self.token)
    }

    /// The link that a data folder holds. A damaged one is none: another takes its place.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    pub fn read(folder: &Path) -> Result<Option<Self>, NotKept> {
        match read_private(&folder.join(FILE)) {
            Err(NotKept::NotOurs { .. }) => Ok(None),
            read => read,
        }
    }

    /// Puts the link in a data folder, instead of any other.
    ///
    /// # Errors
    ///
    /// The system refused.
    pub fn write(&self, folder: &Path) -> Result<(), NotKept> {
        write_private(&folder.join(FILE), self)
    }

    /// The link was opened, or is of no use any more.
    pub fn remove(folder: &Path) {
        let _ = std::fs::remove_file(folder.join(FILE));
    }
}
