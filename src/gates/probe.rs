//! Commands that the Coach asked for, run in a throw-away copy of the commit.

use crate::config::CommandLine;
use crate::config::RepositorySettings;
use crate::domain::evidence::Absence;
use crate::domain::evidence::Evidence;
use crate::domain::evidence::Gate;
use crate::domain::evidence::GateResult;
use crate::domain::evidence::Weight;
use crate::domain::ids::Sha;
use crate::gates::bench::Bench;
use crate::gates::bench::GateError;
use crate::gates::place::Order;
use crate::gates::stand::Stand;
use crate::git::Mirror;
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
    let stand = Stand::new(bench, mirror, head, settings, cancel).await?;
    let mut results = Vec::new();
    for (at, command) in commands.iter().enumerate() {
        results.push(GateResult {
            gate: Gate::Probe(at.saturating_add(1)),
            evidence: one(bench, &stand, command).await?,
            weight: Weight::Shown,
            items: Vec::new(),
        });
    }
    Ok(results)
}

/// Runs one command as it was written by a model or in a plan.
pub(crate) async fn one(bench: &Bench, stand: &Stand<'_>, command: &str) -> Result<Evidence, GateError> {
    if !stand.is_ready() {
        return Ok(Evidence::Absent(Absence::NotReached));
    }
    match command.parse::<CommandLine>() {
        Ok(command) => {
            let order = Order {
                command: &command,
                naming: &[],
                deadline: bench.deadlines.test,
            };
            stand.place.run(&order).await
        }
        Err(error) => Ok(Evidence::Absent(Absence::CouldNotStart {
            command: command.to_owned(),
            reason: error.to_string(),
        })),
    }
}
