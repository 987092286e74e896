//! The results where a task's work starts: what earlier tasks of the Feature brought is there too, and must hold.

use crate::{
    config::RepositorySettings,
    gates::{
        compare,
        run::{
            context::{GateContext, GateError},
            prepared::{Coverage, Prepared},
        },
    },
};
use domain::{
    evidence::{Baseline, Evidence},
    ids::Sha,
};
use git::Mirror;
use tokio_util::sync::CancellationToken;

/// Runs set-up and tests on `commit`, unless an earlier run on the same files is known. `baseline` holds the results
/// before the Feature began, on a commit that `commit` contains.
///
/// # Errors
///
/// A cancellation, or a failure of the service itself. A failing command is evidence, never an error.
pub async fn before(
    context: &GateContext,
    (mirror, commit): (&Mirror, &Sha),
    settings: &RepositorySettings,
    baseline: &Baseline,
    cancel: &CancellationToken,
) -> Result<Baseline, GateError> {
    let prepared = Prepared::new(context, (mirror, commit), settings, cancel)
        .await?
        .after(baseline)
        .await?;
    let is_sound = |ran: &Evidence| compare::is_sound(ran, &compare::excused(ran, baseline, &[]));
    let tested = prepared.tests(Coverage::NotAsked, is_sound).await?;
    Ok(Baseline {
        commit: commit.clone(),
        setup: tested.setup,
        tests: tested.tests,
        rewritten: tested.rewritten,
        additions: baseline.additions,
        made: baseline.made.clone(),
    })
}
