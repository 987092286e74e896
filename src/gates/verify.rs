//! Everything that is run and read for one task's commit, in one report.

use crate::domain::evidence::GateReport;
use crate::gates::bench::Bench;
use crate::gates::bench::GateError;
use crate::gates::stand::Stand;
use crate::gates::subject::Subject;
use tokio_util::sync::CancellationToken;

/// Runs every Gate of a task's commit.
///
/// # Errors
///
/// A cancellation, or a failure of the service itself. What a command does is evidence, never an error.
pub async fn verify(bench: &Bench, subject: &Subject<'_>, cancel: &CancellationToken) -> Result<GateReport, GateError> {
    let stand = Stand::new(bench, subject.mirror, subject.head, subject.settings, cancel).await?;
    let tests = stand.tests(bench).await?;
    Ok(GateReport::new(stand.setup, tests))
}
