//! What the rows are made from, and how long it is waited for.

use crate::{config::ServerSettings, engine::Engine, github::GithubError};
use domain::ids::RepoName;
use std::time::Duration;

/// How long GitHub and the database are waited for.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);
/// The same for what this machine has to try out.
pub(super) const SLOW_PATIENCE: Duration = Duration::from_secs(20);

/// What the rows of a service are made from.
#[derive(Clone, Copy)]
pub(in crate::cli) struct Look<'a> {
    /// What the service is given.
    pub(in crate::cli) settings: &'a ServerSettings,
    /// The service, where it runs in this process.
    pub(in crate::cli) running: Option<&'a Engine>,
    /// A repository to look at.
    pub(in crate::cli) repo: Option<&'a RepoName>,
}

/// GitHub's answer, if it comes in time. Calls are large futures, of which many stand side by side: each has its place on
/// the heap, for the stacks of the service's threads are small.
pub(super) async fn asked<T>(question: impl Future<Output = Result<T, GithubError>>) -> Result<T, Unasked> {
    match tokio::time::timeout(PATIENCE, Box::pin(question)).await {
        Ok(answered) => Ok(answered?),
        Err(_) => Err(Unasked::Late),
    }
}

/// Why GitHub gave no answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unasked {
    /// It refused, or was not reached.
    #[error(transparent)]
    Github(#[from] GithubError),
    /// It took too long.
    #[error("no answer within {} seconds", PATIENCE.as_secs())]
    Late,
}
