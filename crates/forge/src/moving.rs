//! Moves of branches. git's refs change at once, and the forge's state follows. The mover, and the merge if it is one,
//! are written to a file first, so that a forge that is killed in between completes the move at its next start.

use crate::{
    acts::branches,
    disk,
    disk::{Saving, io_error},
    refusal::Result,
    site::Site,
    state::{Access, Actor},
};
use serde::{Deserialize, Serialize};
use tokio::sync::OwnedMutexGuard;

/// A change of branches that is about to be made.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Move {
    by: Actor,
    /// The pull request that the move merges, and the branch that it merges into.
    merges: Option<(u64, String)>,
}

impl Site {
    /// Locks the repository's branches until the guard is dropped, and records who is about to move them.
    pub(super) async fn moving(&self, at: Access) -> Result<OwnedMutexGuard<()>> {
        let gate = self.gate(at.repo).await;
        self.will_move(at, None)?;
        Ok(gate)
    }

    /// Records the move that is about to happen. The caller holds the repository's gate.
    pub(super) fn will_move(&self, at: Access, merges: Option<(u64, String)>) -> Result {
        if self.saving == Saving::First {
            let meant = serde_json::to_vec(&Move { by: at.by, merges }).unwrap_or_default();
            disk::save(&self.move_file(at.repo), &meant, Saving::First)
                .map_err(|error| crate::refusal::Refusal::new(500, error.to_string()))?;
        }
        Ok(())
    }

    /// Brings the state up to date with git after an interrupted move. `else_by` counts as the mover if none was
    /// recorded.
    pub(super) async fn finish_move(&self, repo: u64, else_by: Actor) -> std::result::Result<(), disk::ForgeError> {
        let _gate = self.gate(repo).await;
        let file = self.move_file(repo);
        let meant: Option<Move> = match std::fs::read(&file) {
            Ok(bytes) => serde_json::from_slice(&bytes).ok(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => return Err(io_error("reading", &file)(error)),
        };
        let at = Access { repo, by: meant.as_ref().map_or(else_by, |meant| meant.by) };
        if let Some((number, base)) = meant.and_then(|meant| meant.merges) {
            let now = branches(&self.bare(repo)).await?;
            let unseen = self.read(|state| {
                let known = state.repo(repo).ok()?.branches.get(&base);
                let open = state.issue(repo, number).is_ok_and(|issue| issue.open);
                now.get(&base).filter(|head| open && known != Some(head)).cloned()
            });
            if let Some(head) = unseen {
                self.record_merge(at, number, &head)?;
            }
        }
        Ok(self.branches_moved(at).await?)
    }
}
