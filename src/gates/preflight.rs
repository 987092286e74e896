//! Pre-flight: what set-up and tests find on a commit of the default branch before anyone changed anything.

use crate::config::RepositorySettings;
use crate::domain::evidence::Baseline;
use crate::domain::ids::Sha;
use crate::gates::bench::Bench;
use crate::gates::bench::GateError;
use crate::gates::stand::Stand;
use crate::git::Mirror;
use tokio_util::sync::CancellationToken;

/// Runs set-up and tests on a commit of the default branch, and keeps what they built for later runs.
///
/// # Errors
///
/// A cancellation, or a failure of the service itself. What a command does is evidence, never an error.
pub async fn preflight(
    bench: &Bench,
    mirror: &Mirror,
    commit: &Sha,
    settings: &RepositorySettings,
    cancel: &CancellationToken,
) -> Result<Baseline, GateError> {
    let stand = Stand::new(bench, mirror, commit, settings, cancel).await?;
    let tests = stand.tests(bench).await?;
    Ok(Baseline {
        commit: commit.clone(),
        setup: stand.setup,
        tests,
    })
}
