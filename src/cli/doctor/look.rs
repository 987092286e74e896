//! The sources of the rows, and the time limits.

use crate::{config::ServerSettings, engine::Engine, github::GithubError};
use domain::{
    diagnosis::{Row, Topic},
    ids::RepoName,
};
use std::time::Duration;

/// The time limit for GitHub and the database.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);
/// The time limit for trying out sandbox and agents on this machine.
pub(super) const SLOW_PATIENCE: Duration = Duration::from_secs(20);

/// The sources of a service's rows.
#[derive(Clone, Copy)]
pub(in crate::cli) struct DoctorInput<'a> {
    pub(in crate::cli) settings: &'a ServerSettings,
    /// The service, if it runs in this process.
    pub(in crate::cli) running: Option<&'a Engine>,
    pub(in crate::cli) repo: Option<&'a RepoName>,
}

/// Returns GitHub's answer, if it comes in time. The call's large future is boxed: many calls run at once, and the
/// stacks of the service's threads are small.
pub(super) async fn ask_in_time<T>(question: impl Future<Output = Result<T, GithubError>>) -> Result<T, Unasked> {
    match tokio::time::timeout(PATIENCE, Box::pin(question)).await {
        Ok(answered) => Ok(answered?),
        Err(_) => Err(Unasked::Late),
    }
}

/// Returns the row for a question that GitHub did not answer, although it answered others.
pub(super) fn unanswered(topic: Topic, why: &Unasked) -> Row {
    Row::warning(topic, format!("GitHub did not say: {why}"), "try again in a moment")
}

/// The reason why GitHub gave no answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unasked {
    /// GitHub refused, or was not reached.
    #[error(transparent)]
    Github(#[from] GithubError),
    /// The answer took too long.
    #[error("no answer within {} seconds", PATIENCE.as_secs())]
    Late,
}
