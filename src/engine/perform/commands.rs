//! Which commands the Gates run at a commit: settings first, else what the files tell.

use crate::{config::RepositorySettings, engine::job::EffectError, gates, gates::Chosen};
use domain::ids::Sha;
use git::Mirror;

/// Every path of a commit, as far as they are looked at.
pub(super) async fn paths(mirror: &Mirror, head: &Sha) -> Result<Vec<String>, EffectError> {
    Ok(gates::commands::paths(mirror, head).await?)
}

/// The commands for this commit.
pub(super) async fn chosen(settings: &RepositorySettings, mirror: &Mirror, head: &Sha) -> Result<Chosen, EffectError> {
    Ok(gates::commands::at(mirror, head, settings).await?)
}
