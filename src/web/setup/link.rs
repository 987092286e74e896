//! The one-time link to the set-up. It is in the data folder, so anybody who can read that folder can open the set-up.

use crate::config::{NotKept, read_private, write_private};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The file's name in the data folder.
const FILE: &str = "setup-link.json";

/// A link that was not opened yet.
#[derive(Serialize, Deserialize)]
pub struct SetupLink {
    /// The service's address, such as `http://127.0.0.1:8080`.
    pub service: String,
    /// The token that opens the page once.
    pub(super) token: String,
}

impl SetupLink {
    /// Creates a link to the service at this address.
    pub fn new(service: String, token: String) -> Self {
        Self { service, token }
    }

    /// Returns the link's full address.
    pub fn address(&self) -> String {
        format!("{}/setup?token={}", self.service.trim_end_matches('/'), self.token)
    }

    /// Reads the link in a data folder. A damaged file counts as none, since another link will replace it.
    pub fn read(folder: &Path) -> Result<Option<Self>, NotKept> {
        match read_private(&folder.join(FILE)) {
            Err(NotKept::NotOurs { .. }) => Ok(None),
            read => read,
        }
    }

    /// Writes the link to a data folder, replacing any other.
    pub fn write(&self, folder: &Path) -> Result<(), NotKept> {
        write_private(&folder.join(FILE), self)
    }

    /// Removes the link, which was opened or is of no use any more.
    pub fn remove(folder: &Path) {
        let _ = std::fs::remove_file(folder.join(FILE));
    }
}
