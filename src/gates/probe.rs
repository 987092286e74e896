//! Commands that the Coach asked for, run in a throw-away copy of the commit.

use crate::{
    config::RepositorySettings,
    gates::{
        run::{
            context::{Bench, GateError},
            prepared::Prepared,
        },
        said,
    },
};
use domain::{
    evidence::{Gate, GateResult, Weight},
    ids::Sha,
};
use git::Mirror;
use tokio_util::sync::CancellationToken;

/// Runs each command after set-up, one after the other in one copy, and shows what came of it. Nothing follows from a
/// probe by itself: the Coach asked, and the Coach judges.
///
/// # Errors
///
/// A cancellation, or a failure of the service itself. What a command does is evidence, never an error.
pub async fn probe(
    bench: &Bench,
    mirror: &Mirror,
    head: &Sha,
    settings: &RepositorySettings,
    commands: &[String],
    cancel: &CancellationToken,
) -> Result<Vec<GateResult>, GateError> {
    let prepared = Prepared::new(bench, (mirror, head), settings, cancel).await?;
    let ready = prepared.ready().await?;
    let mut results = Vec::new();
    for (at, command) in commands.iter().enumerate() {
        let evidence = ready.command(command).await?;
        let gate = Gate::Probe(at.saturating_add(1));
        results.push(said::result(gate, Weight::Shown, evidence));
    }
    Ok(results)
}
