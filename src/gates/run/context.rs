//! Where Gates run, how long they may take, and what can go wrong with the place itself.

use crate::gates::remembered::Remembered;
use domain::secret::Secrets;
use git::GitError;
use sandbox::{Sandbox, egress::Ceiling};
use std::{io, path::PathBuf, time::Duration};

/// What every Gate needs from the service, whatever it looks at.
#[derive(Clone, Debug)]
pub struct Bench {
    /// The door to foreign programs.
    pub sandbox: Sandbox,
    /// The most that commands may reach.
    pub network: Ceiling,
    /// Where private homes are made; may be emptied when no Gate runs.
    pub folder: PathBuf,
    /// Where build caches are kept.
    pub caches: PathBuf,
    /// The service's own secrets, to be masked wherever they might show.
    pub secrets: Secrets,
    /// When commands are stopped.
    pub deadlines: Deadlines,
    /// What tests said before.
    pub remembered: Remembered,
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
