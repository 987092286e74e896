//! Pre-flight: what set-up and tests find on a commit of the default branch before anyone changed anything.

use crate::{
    config::RepositorySettings,
    gates::{
        commands,
        run::{
            cache,
            cache::Leavings,
            context::{Bench, GateError},
            prepared::Prepared,
        },
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
    let prepared = Prepared::new(bench, (mirror, commit), settings, cancel).await?;
    let ready = prepared.to_be_kept().await?;
    let tracked: BTreeSet<String> = commands::paths(mirror, commit).await?.into_iter().collect();
    let after_setup = ready.leavings(&tracked).await?;
    let tests = ready.tests().await?;
    if ready.is_ready() {
        let after_tests = ready.leavings(&tracked).await?;
        let kept = Leavings::worth_keeping(&after_setup, &after_tests, ready.checkout.path());
        let kept = (ready.times().clone(), kept);
        cache::keep(bench, mirror, &prepared.chosen, &ready.checkout, kept).await?;
    }
    Ok(Baseline {
        commit: commit.clone(),
        setup: ready.setup.clone(),
        tests,
        rewritten: ready.rewritten.clone(),
    })
}
