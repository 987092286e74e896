//! Where Gates run, how long they may take, and what can go wrong with the place itself.

use domain::secret::Secrets;
use git::GitError;
use sandbox::{Sandbox, egress::Ceiling};
use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

/// What every Gate needs from the service, whatever it looks at.
#[derive(Clone, Debug)]
pub struct Bench {
    /// The door to foreign programs.
    pub sandbox: Sandbox,
    /// The most that commands may reach.
    pub network: Ceiling,
    /// Where prepared checkouts lie; may be emptied when no Gate runs.
    pub folder: PathBuf,
    /// Where build caches and results of test runs are kept.
    pub caches: PathBuf,
    /// The service's own secrets, to be masked wherever they might show.
    pub secrets: Secrets,
    /// When commands are stopped.
    pub deadlines: Deadlines,
    /// Who runs where, as long as there is no wall.
    pub places: Places,
}

/// The one place of each repository in which commands run where there is no wall: whoever runs something holds it. Clones
/// share them.
#[derive(Clone, Debug, Default)]
pub struct Places(Arc<Mutex<BTreeMap<PathBuf, Place>>>);

type Place = Arc<tokio::sync::Mutex<()>>;

impl Places {
    /// The place of the repository with this mirror.
    pub(crate) fn of(&self, mirror: &Path) -> Place {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(all.entry(mirror.to_path_buf()).or_default())
    }
}

/// When commands are stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadlines {
    /// Set-up.
    pub setup: Duration,
    /// The tests, and everything else that is run.
    pub test: Duration,
}

impl Default for Deadlines {
    fn default() -> Self {
        Self {
            setup: Duration::from_secs(20 * 60),
            test: Duration::from_secs(30 * 60),
        }
    }
}

/// Why there is no report: never evidence against anyone.
#[derive(Debug, thiserror::Error)]
pub enum GateError {
    /// The caller cancelled.
    #[error("the Gates were cancelled")]
    Cancelled,
    /// The service itself could not run them.
    #[error("running the Gates: {doing}")]
    Host {
        /// What was being done.
        doing: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// The mirror could not be read.
    #[error("running the Gates: reading the repository")]
    Git(#[from] GitError),
}

/// Says what was being done when the system refused.
pub(crate) fn host(doing: &'static str) -> impl Fn(io::Error) -> GateError {
    move |source| GateError::Host { doing, source }
}
