//! Remembers which installation of the Coach App covers a repository. The AutoBuild App has its own installation with
//! another id.

use domain::ids::{InstallationId, RepoId};
use parking_lot::Mutex;
use std::collections::HashMap;

/// The installations found so far, by repository.
#[derive(Default)]
pub struct CoachInstallations(Mutex<HashMap<RepoId, InstallationId>>);

impl CoachInstallations {
    pub(super) fn find(&self, repo: RepoId) -> Option<InstallationId> {
        self.0.lock().get(&repo).copied()
    }

    /// Forgets an installation that a call found to be gone, so that it is looked up again.
    pub(super) fn forget(&self, repo: RepoId) {
        self.0.lock().remove(&repo);
    }

    pub(super) fn remember(&self, repo: RepoId, installation: InstallationId) {
        self.0.lock().insert(repo, installation);
    }
}
