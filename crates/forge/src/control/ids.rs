//! Finds ids by names.

use crate::{disk::ForgeError, forge::Forge};

impl Forge {
    /// Returns the id of the repository that is or was called `owner/name`.
    pub fn repo_id(&self, full_name: &str) -> Result<u64, ForgeError> {
        let unknown = || ForgeError::Unknown(format!("repository {full_name}"));
        let (owner, name) = full_name.split_once('/').ok_or_else(unknown)?;
        let found = self
            .site
            .read(|state| state.repo_once_named(owner, name).map(|repo| repo.id));
        found.ok_or_else(unknown)
    }

    /// Returns the id of an account.
    pub fn user_id(&self, login: &str) -> Result<u64, ForgeError> {
        let found = self.site.read(|state| state.user_named(login).map(|user| user.id));
        found.ok_or_else(|| ForgeError::Unknown(format!("account {login}")))
    }
}
