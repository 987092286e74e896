//! The resources and time limits of the Gates, and their errors.

use domain::ids::Sha;
use git::{GitError, blocking};
use parking_lot::Mutex;
use sandbox::{
    Sandbox,
    egress::{Ceiling, Refusals},
};
use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};
use text::secret::Secrets;

/// The service's resources that every Gate needs.
#[derive(Clone, Debug)]
pub struct GateContext {
    pub sandbox: Sandbox,
    /// The server's limit on the hosts that commands may reach.
    pub network: Ceiling,
    /// The commit of the default branch that the work is based on: it decides which registries set-up may reach. Without
    /// one, set-up reaches none.
    pub default_branch: Option<Sha>,
    /// The list to which the hosts are added that commands cannot reach.
    pub refusals: Refusals,
    /// The folder for prepared checkouts; it may be emptied while no Gate runs.
    pub folder: PathBuf,
    /// The folder for build caches and cached test results.
    pub caches: PathBuf,
    /// The service's own secrets, which are masked in all output.
    pub secrets: Secrets,
    pub deadlines: Deadlines,
    pub checkout_locks: CheckoutLocks,
}

impl GateContext {
    /// Returns the context for work on a commit of the default branch itself.
    pub(crate) fn on_default_branch(&self, commit: &Sha) -> Self {
        Self { default_branch: Some(commit.clone()), ..self.clone() }
    }
}

/// A lock per repository for its only checkout folder at isolation levels 0 and 1: every run holds it. Clones share the
/// locks.
#[derive(Clone, Debug, Default)]
pub struct CheckoutLocks(Arc<Mutex<BTreeMap<PathBuf, CheckoutLock>>>);

type CheckoutLock = Arc<tokio::sync::Mutex<()>>;

impl CheckoutLocks {
    pub(crate) fn of(&self, mirror: &Path) -> CheckoutLock {
        let mut all = self.0.lock();
        Arc::clone(all.entry(mirror.to_path_buf()).or_default())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadlines {
    pub setup: Duration,
    pub test: Duration,
}

impl Default for Deadlines {
    fn default() -> Self {
        Self { setup: Duration::from_secs(20 * 60), test: Duration::from_secs(30 * 60) }
    }
}

/// A reason why there is no report. It is never evidence against the change.
#[derive(Debug, thiserror::Error)]
pub enum GateError {
    /// The caller cancelled.
    #[error("the Gates were cancelled")]
    Cancelled,
    /// The service itself failed.
    #[error("running the Gates: {doing}")]
    Host { doing: &'static str, source: io::Error },
    /// The mirror could not be read.
    #[error("running the Gates: reading the repository")]
    Git(#[from] GitError),
}

/// Runs blocking work on tokio's threads for such work.
pub(super) async fn blocking_io<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    blocking(work).await.unwrap_or_else(|error| Err(error.into()))
}

/// Returns a function that adds the failed operation to a system error.
pub(crate) fn host(doing: &'static str) -> impl Fn(io::Error) -> GateError {
    move |source| GateError::Host { doing, source }
}
