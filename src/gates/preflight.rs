//! Pre-flight: what set-up and tests find on a commit of the default branch before anyone changed anything.

use crate::{
    config::RepositorySettings,
    gates::{
        bench::{Bench, GateError},
        cache,
        cache::Leavings,
        commands,
        stand::{From, Stand},
    },
};
use domain::{evidence::Baseline, ids::Sha};
use git::Mirror;
use std::collections::BTreeSet;
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
    let stand = Stand::new(bench, mirror, commit, settings, From::NothingYet, cancel).await?;
    let tracked: BTreeSet<String> = commands::paths(mirror, commit).await?.into_iter().collect();
    let after_setup = Leavings::of(stand.place.path(), &tracked).await?;
    let tests = stand.tests().await?;
    if stand.is_ready() {
        let work = stand.place.path();
        let after_tests = Leavings::of(work, &tracked).await?;
        let kept = Leavings::worth_keeping(&after_setup, &after_tests, work);
        cache::keep(bench, mirror, commit, &stand.chosen, &stand.place, kept).await?;
    }
    Ok(Baseline {
        commit: commit.clone(),
        setup: stand.setup,
        tests,
        rewritten: stand.rewritten,
    })
}
