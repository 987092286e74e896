//! One claimed effect while it is performed, and the ways in which it ends.

use crate::{
    engine::apply::{ApplyError, Fact},
    github::GithubError,
    store::{Hold, NewEffect, StoreError, StoreFailure, StoredEffect, Trouble},
};
use domain::{
    blocked::{AgentFailure, Defect, Fault, RepositoryFault},
    budget::Spent,
    ids::{FeatureKey, InstallationId, Millis, RepoId},
};
use git::{GitError, Over};
use sandbox::StartError;
use std::{
    io,
    io::ErrorKind,
    sync::{Mutex, atomic::AtomicU32},
    time::{Duration, Instant},
};
use tokio_util::sync::CancellationToken;

/// An effect that this worker holds.
pub struct Job {
    /// The effect as claimed.
    pub effect: StoredEffect,
    /// Proof that it is ours.
    pub hold: Hold,
    /// Cancelled when the effect is no longer wanted, or no longer ours.
    pub cancel: CancellationToken,
    /// Until when this worker may push and speak: two thirds of a lease from the last renewal.
    may_speak: Mutex<Instant>,
    /// How many writes to GitHub this try was allowed.
    pub(super) writes: AtomicU32,
}

/// How a performed effect ended well.
#[derive(Debug)]
pub enum Done {
    /// With a fact for its Feature.
    Fact(FeatureKey, Box<Fact>),
    /// With nothing more to say.
    Nothing,
    /// With effects that belong to no Feature.
    FollowUp(Vec<NewEffect>),
}

/// Why an effect was not performed.
#[derive(Debug, thiserror::Error)]
pub enum EffectError {
    /// It may work later; counts as a try, or is waited out.
    #[error("{fault}")]
    Later {
        /// What failed.
        fault: Fault,
        /// Not before.
        not_before: Option<Millis>,
    },
    /// A limit; counts as nothing.
    #[error("limited until {} (ms): {why}", until.0)]
    Limited {
        /// Whose limit it is.
        by: LimitedBy,
        /// Not before.
        until: Millis,
        /// For operators.
        why: String,
    },
    /// It looked, and what it waits for is not there yet; counts as nothing.
    #[error("to be looked at again at {} (ms)", until.0)]
    Waiting {
        /// When to look again.
        until: Millis,
    },
    /// The installation is suspended; counts as nothing.
    #[error("the installation is suspended")]
    Suspended,
    /// It will never work unless somebody mends it.
    #[error("{0}")]
    Failed(Fault),
    /// An agent failed; counts as a try.
    #[error("{}", .0.failure)]
    Agent(FailedRun),
    /// An agent failed, and no try would mend it.
    #[error("{}", .0.failure)]
    Hopeless(FailedRun),
    /// The model's API does not serve us; counts as nothing.
    #[error("waits for the model's API until {} (ms): {why}", wait.until.0)]
    Parked {
        /// For what, and until when.
        wait: ApiWait,
        /// For operators.
        why: String,
    },
    /// The budget is used up.
    #[error("the budget of `{}` is spent", .0.setting())]
    Spent(Spent),
    /// It was told to stop.
    #[error("stopped")]
    Stopped,
}

/// A failure of an agent, with what its program left to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedRun {
    /// How it failed.
    pub failure: AgentFailure,
    /// What was printed last, masked and shortened; empty where that tells people nothing.
    pub printed: String,
}

impl From<AgentFailure> for FailedRun {
    fn from(failure: AgentFailure) -> Self {
        let printed = String::new();
        Self { failure, printed }
    }
}

/// A wait for a model's API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiWait {
    /// Whose API.
    pub provider: String,
    /// Why it was refused, and when the run began that was; none where others were, and it was not asked.
    pub trouble: Option<(Trouble, Millis)>,
    /// Not before.
    pub until: Millis,
}

impl EffectError {
    /// To be tried again.
    pub(super) fn later(fault: Fault) -> Self {
        Self::Later {
            fault,
            not_before: None,
        }
    }

    /// GitHub, or somebody else who may, said no.
    pub(super) fn refused(said: impl Into<String>) -> Self {
        Self::Failed(Fault::Refused { said: said.into() })
    }

    /// The repository is not as the work needs it.
    pub(super) fn repository(what: RepositoryFault) -> Self {
        Self::Failed(Fault::Repository { what })
    }

    /// What is stored cannot be read.
    pub(super) fn unreadable(said: impl Into<String>) -> Self {
        Self::Failed(Fault::Unreadable { said: said.into() })
    }

    /// What is known of the work does not fit together.
    pub(super) fn defect(what: Defect) -> Self {
        Self::Failed(Fault::Defect { what })
    }

    /// Whether an agent was at work and may have left something behind.
    pub(super) fn left_work(&self) -> bool {
        match self {
            Self::Agent(_) | Self::Hopeless(_) | Self::Parked { .. } | Self::Spent(_) => true,
            Self::Later { .. }
            | Self::Limited { .. }
            | Self::Waiting { .. }
            | Self::Suspended
            | Self::Failed(_)
            | Self::Stopped => false,
        }
    }
}

/// Whose limit it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitedBy {
    /// GitHub's: everyone of this installation waits.
    GitHub,
    /// Our own spacing of writes.
    Spacing,
}

impl Job {
    /// A job whose lease of `lease` starts now.
    pub(super) fn new(effect: StoredEffect, hold: Hold, cancel: CancellationToken, lease: Duration) -> Self {
        Self {
            effect,
            hold,
            cancel,
            may_speak: Mutex::new(Instant::now() + lease * 2 / 3),
            writes: AtomicU32::new(0),
        }
    }

    /// The lease was renewed.
    pub(super) fn renewed(&self, lease: Duration) {
        *self.may_speak.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Instant::now() + lease * 2 / 3;
    }

    /// Whether nobody ever held the effect before: nothing can be there that an earlier try made. One that was put off
    /// counts as no try, and may have written all the same.
    pub fn is_fresh(&self) -> bool {
        self.effect.fence <= 1
    }

    /// Whether an earlier try failed or was cut off, and may have been obeyed.
    pub(super) fn failed_before(&self) -> bool {
        self.effect.attempt > 0 || self.effect.crashes > 0
    }

    /// Asked before everything that others can see: a worker that may have lost its lease keeps silent.
    pub fn may_speak(&self) -> Result<(), EffectError> {
        let until = *self.may_speak.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if self.cancel.is_cancelled() || Instant::now() > until {
            Err(EffectError::Stopped)
        } else {
            Ok(())
        }
    }

    /// Waits, unless the effect is to stop.
    pub(super) async fn sleep(&self, time: Duration) -> Result<(), EffectError> {
        tokio::select! {
            () = self.cancel.cancelled() => Err(EffectError::Stopped),
            () = tokio::time::sleep(time) => Ok(()),
        }
    }

    /// The installation that the effect belongs to.
    pub fn installation(&self) -> InstallationId {
        self.effect.installation
    }

    /// The repository, which every effect but an installation's delivery has.
    pub fn repo(&self) -> Result<RepoId, EffectError> {
        self.effect
            .repo
            .ok_or_else(|| EffectError::defect(Defect::NoRepository))
    }
}

impl From<GithubError> for EffectError {
    fn from(error: GithubError) -> Self {
        let said = error.reason();
        match error {
            GithubError::Transient { retry_after, .. } | GithubError::Uncertain { retry_after, .. } => Self::Later {
                fault: Fault::Unreachable { said },
                not_before: retry_after,
            },
            GithubError::Unauthorized | GithubError::Malformed { .. } => Self::later(Fault::Refused { said }),
            GithubError::RateLimited { until } => Self::Limited {
                by: LimitedBy::GitHub,
                until,
                why: said,
            },
            GithubError::Suspended => Self::Suspended,
            GithubError::Forbidden { .. }
            | GithubError::Uninstalled
            | GithubError::Gone
            | GithubError::NotFound
            | GithubError::Refused { .. } => Self::refused(said),
        }
    }
}

impl From<GitError> for EffectError {
    fn from(error: GitError) -> Self {
        let said = error.to_string();
        match error {
            GitError::Transient(said) => Self::later(Fault::Unreachable { said }),
            GitError::Denied(said) => Self::later(Fault::Refused { said }),
            GitError::Gone(said) => Self::refused(said),
            GitError::History(said) => Self::Failed(Fault::History { said }),
            GitError::Missing(_) => Self::later(Fault::Repository {
                what: RepositoryFault::Said(said),
            }),
            GitError::Name(_) | GitError::TooLarge { .. } => Self::repository(RepositoryFault::Said(said)),
            GitError::TimedOut {
                over: Over::Network, ..
            } => Self::later(Fault::Unreachable { said }),
            GitError::NoSpace(said) => Self::later(Fault::DiskFull { said }),
            GitError::TimedOut { over: Over::Disk, .. } | GitError::Failed { .. } | GitError::Unexpected { .. } => {
                Self::later(Fault::Git { said })
            }
            GitError::NotStarted { source } => Self::later(not_started(&source)),
            GitError::Io { what, source } => Self::later(of_machine(&what, &source)),
        }
    }
}

/// Why git could not be started.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the kinds of the standard library are many, and more will come"
)]
fn not_started(error: &io::Error) -> Fault {
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::PermissionDenied => Fault::NoProgram {
            program: "git".to_owned(),
            said: error.to_string(),
        },
        _ => of_machine("starting git", error),
    }
}

impl From<StoreError> for EffectError {
    fn from(error: StoreError) -> Self {
        let said = explained(&error);
        match error.what_failed() {
            StoreFailure::Disk => Self::later(Fault::DiskFull { said }),
            StoreFailure::Value => Self::later(Fault::Unreadable { said }),
            StoreFailure::Database => Self::later(Fault::Database { said }),
        }
    }
}

impl From<ApplyError> for EffectError {
    fn from(error: ApplyError) -> Self {
        match error {
            ApplyError::Store(error) => error.into(),
            ApplyError::Unreadable(error) => Self::later(Fault::Unreadable {
                said: explained(&error),
            }),
            ApplyError::Contended(_) => Self::later(Fault::Database {
                said: error.to_string(),
            }),
        }
    }
}

/// What an I/O error of our own machine means. `doing` says what for.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the kinds of the standard library are many, and more will come"
)]
pub(super) fn of_machine(doing: &str, error: &io::Error) -> Fault {
    let said = match doing.is_empty() {
        true => error.to_string(),
        false => format!("{doing}: {error}"),
    };
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Fault::DiskFull { said },
        _ => Fault::Machine { said },
    }
}

impl From<io::Error> for EffectError {
    fn from(error: io::Error) -> Self {
        Self::later(of_machine("", &error))
    }
}

/// Why our machine did not run a program.
pub(super) fn of_host(doing: &str, error: &io::Error) -> Fault {
    let cause = error.get_ref().and_then(|cause| cause.downcast_ref::<StartError>());
    match cause.is_some_and(|cause| matches!(cause, StartError::Isolation(_))) {
        true => Fault::Isolation {
            said: error.to_string(),
        },
        false => of_machine(doing, error),
    }
}

/// An error with what lies beneath it.
fn explained(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut beneath = error.source();
    while let Some(cause) = beneath {
        text = format!("{text}: {cause}");
        beneath = cause.source();
    }
    text
}

#[cfg(test)]
#[expect(clippy::wildcard_enum_match_arm, reason = "a test names what it is about")]
mod tests;
