//! Which installation of the Coach App covers a repository. Installations are per App: AutoBuild's is another one.

use domain::ids::{InstallationId, RepoId};
use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

/// What was found out so far.
#[derive(Default)]
pub struct CoachInstallations(Mutex<HashMap<RepoId, InstallationId>>);

impl CoachInstallations {
    pub(super) fn known(&self, repo: RepoId) -> Option<InstallationId> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&repo)
            .copied()
    }

    /// It is looked for again: a call said that it is not so any more.
    pub(super) fn forget(&self, repo: RepoId) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&repo);
    }

    pub(super) fn remember(&self, repo: RepoId, installation: InstallationId) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(repo, installation);
    }
}
