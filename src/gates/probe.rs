//! Runs commands that the Coach asked for in a throw-away copy of the commit.

use crate::{
    config::RepositorySettings,
    gates::{
        gate_result,
        run::{
            context::{GateContext, GateError},
            prepared::Prepared,
        },
    },
};
use domain::{
    evidence::{Gate, GateResult, Weight},
    ids::Sha,
};
use git::Mirror;
use tokio_util::sync::CancellationToken;

/// Runs each command after set-up, one after the other in one copy, and returns the results. A probe has no consequence
/// by itself: the Coach asked for it and judges it.
/// A failing command is evidence, never an error.
pub async fn probe(
    context: &GateContext,
    mirror: &Mirror,
    head: &Sha,
    settings: &RepositorySettings,
    commands: &[String],
    cancel: &CancellationToken,
) -> Result<Vec<GateResult>, GateError> {
    let prepared = Prepared::new(context, mirror, head, settings, cancel).await?;
    let ready = prepared.ready().await?;
    let mut results = Vec::new();
    for (at, command) in commands.iter().enumerate() {
        let evidence = ready.command(command).await?;
        let gate = Gate::Probe(at.saturating_add(1));
        results.push(gate_result::result(gate, Weight::Informational, evidence));
    }
    Ok(results)
}
