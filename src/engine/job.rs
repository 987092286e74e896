//! A claimed effect while it is performed, and the ways in which it can end.

use crate::{
    config::Role,
    engine::apply::{ApplyError, Fact},
    github::{GithubError, Permit},
    store::{Claimed, Hold, NewEffect, StoreError, StoreFailure, StoredEffect, Trouble},
};
use domain::{
    blocked::{Defect, Failure, FailureClass, Owner, RepositoryFault},
    budget::Spent,
    effect::Effect,
    ids::{FeatureKey, Millis, RepoId},
};
use git::{CallReach, GitError};
use parking_lot::Mutex;
use sandbox::StartError;
use std::{
    io,
    io::ErrorKind,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};
use tokio_util::sync::CancellationToken;

pub struct Job {
    pub effect: StoredEffect,
    pub hold: Hold,
    /// A token that is cancelled if the effect is no longer wanted or no longer held.
    pub cancel: CancellationToken,
    /// The time until which this worker may push and post: two thirds of a lease after the last renewal.
    may_speak: Arc<Mutex<Instant>>,
    /// Returns `true` for as long as this worker may push and post.
    pub(super) permit: Permit,
    is_fresh: bool,
    /// The number of writes to GitHub that this try was allowed.
    pub(super) writes: AtomicU32,
}

/// The result of an effect that was performed.
#[derive(Debug)]
pub enum Done {
    Fact(FeatureKey, Box<Fact>),
    /// Nothing follows.
    Nothing,
    /// Effects that belong to no Feature.
    FollowUp(Vec<NewEffect>),
}

/// The reason why an effect was not performed.
#[derive(Debug, thiserror::Error)]
pub enum EffectError {
    /// A step failed. The table of failures decides the consequences.
    #[error("{failure}")]
    Failed {
        failure: Failure,
        /// The earliest time of the next try.
        not_before: Option<Millis>,
    },
    /// A limit was reached. Counts as no try.
    #[error("limited until {} (ms): {by}", until.0)]
    Limited {
        by: LimitedBy,
        /// The earliest time of the next try.
        until: Millis,
    },
    /// It has to wait longer. This counts as no try.
    #[error("to be looked at again at {} (ms)", until.0)]
    Waiting {
        /// The time of the next look.
        until: Millis,
    },
    /// The installation is suspended. Counts as no try.
    #[error("the installation is suspended")]
    Suspended,
    /// An agent failed. Counts as a try.
    #[error("{}", .0.failure)]
    Agent(FailedRun),
    /// An agent failed, and another try would fail too.
    #[error("{}", .0.failure)]
    Permanent(FailedRun),
    /// The model's API does not serve us. Counts as no try.
    #[error("waits for the model's API until {} (ms): {why}", wait.until.0)]
    Parked { wait: ApiWait, why: String },
    /// The budget is used up.
    #[error("the budget of `{}` is spent", .0.setting())]
    Spent(Spent),
    /// It was asked to stop.
    #[error("stopped")]
    Stopped,
}

/// A failure of an agent, with the output of its program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedRun {
    pub failure: Failure,
    /// The last output, masked and shortened; empty if it would not help people.
    pub printed: String,
    /// The role of the agent; `None` if the failure is that of the effect's own agent.
    pub role: Option<Role>,
}

impl From<Failure> for FailedRun {
    fn from(failure: Failure) -> Self {
        Self { failure, printed: String::new(), role: None }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiWait {
    pub provider: String,
    /// The cause of the refusal and the start of the refused run. `None` if only other runs were refused.
    pub trouble: Option<(Trouble, Millis)>,
    /// The earliest time of the next try.
    pub until: Millis,
}

impl EffectError {
    pub(super) fn by(self, role: Role) -> Self {
        let named = |failed: FailedRun| FailedRun { role: Some(role), ..failed };
        match self {
            Self::Agent(failed) => Self::Agent(named(failed)),
            Self::Permanent(failed) => Self::Permanent(named(failed)),
            other @ (Self::Failed { .. }
            | Self::Limited { .. }
            | Self::Waiting { .. }
            | Self::Suspended
            | Self::Parked { .. }
            | Self::Spent(_)
            | Self::Stopped) => other,
        }
    }

    /// `true` if GitHub answered, and did not do it.
    pub(super) fn is_refusal(&self) -> bool {
        if let Self::Failed { failure, .. } = self {
            let rule = failure.rule();
            rule.owner == Owner::GitHub && rule.class != FailureClass::Passes
        } else {
            false
        }
    }

    /// `true` if a step failed for a reason that passes by itself.
    pub(super) fn passes(&self) -> bool {
        matches!(self, Self::Failed { failure, .. } if failure.rule().class == FailureClass::Passes)
    }

    /// Creates an error for a refusal, for example by GitHub.
    pub(super) fn refused(said: impl Into<String>) -> Self {
        Failure::GitHubRefused { message: said.into() }.into()
    }

    /// Creates an error for a repository that lacks something that the work needs.
    pub(super) fn repository(fault: RepositoryFault) -> Self {
        Failure::Repository { fault }.into()
    }

    /// Creates an error for a stored value that cannot be read.
    pub(super) fn unreadable(said: impl Into<String>) -> Self {
        Failure::Unreadable { message: said.into() }.into()
    }

    /// Creates an error for an inconsistent state, which is a defect of AutoBuild.
    pub(super) fn defect(defect: Defect) -> Self {
        Failure::Defect { defect }.into()
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LimitedBy {
    /// GitHub, with its reason: all effects of this installation wait.
    #[error("{0}")]
    GitHub(String),
    #[error("writes to GitHub are spaced")]
    Spacing,
    #[error("what is left of the budget is set aside for runs that have not ended")]
    OtherRuns,
}

impl Job {
    /// Creates a job that may push and post until `may_speak`, unless its lease is renewed. `put_off` is the fence with
    /// which this process put the effect off before anybody had written.
    pub(super) fn new(claimed: Claimed, cancel: CancellationToken, may_speak: Instant, put_off: Option<i64>) -> Self {
        let Claimed { effect, hold } = claimed;
        let is_fresh = effect.fence <= 1 || put_off == Some(effect.fence - 1);
        let may_speak = Arc::new(Mutex::new(may_speak));
        let (until, cancelled) = (Arc::clone(&may_speak), cancel.clone());
        Self {
            effect,
            hold,
            cancel,
            may_speak,
            permit: Arc::new(move || !cancelled.is_cancelled() && Instant::now() <= *until.lock()),
            is_fresh,
            writes: AtomicU32::new(0),
        }
    }

    /// Returns the effect that is to be performed.
    pub(super) fn parse_effect(&self) -> Result<Effect, EffectError> {
        serde_json::from_str(&self.effect.payload)
            .map_err(|error| EffectError::unreadable(format!("the effect {}: {error}", self.effect.id)))
    }

    pub(super) fn renewed(&self, may_speak: Instant) {
        *self.may_speak.lock() = may_speak;
    }

    /// Returns `true` if no earlier try can have written anything: nobody held the effect before, or only this process
    /// did, and put it off before its first write. Any other try may have written, also one that counts as no attempt.
    pub fn is_fresh(&self) -> bool {
        self.is_fresh
    }

    /// Returns `true` if nothing was ever written for the effect, by this try or an earlier one.
    pub(super) fn is_untouched(&self) -> bool {
        self.is_fresh && self.writes.load(Ordering::Relaxed) == 0
    }

    /// `true` if an earlier try failed or was cut off. GitHub may still have carried out that try's request.
    pub(super) fn failed_before(&self) -> bool {
        self.effect.attempt > 0 || self.effect.crashes > 0 || self.effect.waits_for.is_some()
    }

    /// Fails with [`EffectError::Stopped`] if the effect is cancelled or the lease may be lost. Called before each
    /// action that others can see.
    pub fn ensure_lease(&self) -> Result<(), EffectError> {
        if (self.permit)() { Ok(()) } else { Err(EffectError::Stopped) }
    }

    /// Waits for `time`. Fails with [`EffectError::Stopped`] if the effect is cancelled meanwhile.
    pub(super) async fn sleep(&self, time: Duration) -> Result<(), EffectError> {
        tokio::select! {
            () = self.cancel.cancelled() => Err(EffectError::Stopped),
            () = tokio::time::sleep(time) => Ok(()),
        }
    }

    /// Returns the repository. Only the delivery of an installation's event has none.
    pub fn repo(&self) -> Result<RepoId, EffectError> {
        self.effect.repo.ok_or_else(|| EffectError::defect(Defect::NoRepository))
    }
}

impl From<Failure> for EffectError {
    fn from(failure: Failure) -> Self {
        Self::Failed { failure, not_before: None }
    }
}

impl From<GithubError> for EffectError {
    fn from(error: GithubError) -> Self {
        let said = error.reason();
        match error {
            GithubError::Transient { retry_after, .. } | GithubError::Uncertain { retry_after, .. } => {
                Self::Failed { failure: Failure::GitHubUnreachable { message: said }, not_before: retry_after }
            }
            GithubError::Unauthorized | GithubError::Malformed { .. } => {
                Failure::GitHubUnclear { message: said }.into()
            }
            GithubError::RateLimited { until } => Self::Limited { by: LimitedBy::GitHub(said), until },
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
            GitError::Transient(said) => Failure::GitHubUnreachable { message: said }.into(),
            GitError::Denied(said) => Failure::GitHubUnclear { message: said }.into(),
            GitError::NoCredentials => Failure::GitHubUnclear { message: said }.into(),
            GitError::Gone(said) => Self::refused(said),
            GitError::History(said) => Failure::History { message: said }.into(),
            GitError::Missing(_) => Failure::Repository { fault: RepositoryFault::Missing(said) }.into(),
            GitError::Name(_) | GitError::TooLarge { .. } => Self::repository(RepositoryFault::Other(said)),
            GitError::TimedOut { reach: CallReach::Network, .. } => Failure::GitHubUnreachable { message: said }.into(),
            GitError::NoSpace(said) => Failure::DiskFull { message: said }.into(),
            GitError::TimedOut { reach: CallReach::Disk, .. }
            | GitError::Failed { .. }
            | GitError::Unexpected { .. } => Failure::Git { message: said }.into(),
            GitError::NotStarted { source } => not_started(&source).into(),
            GitError::Io { what, source } => of_machine(&what, &source).into(),
        }
    }
}

/// Returns the fault for a git process that could not be started.
#[expect(clippy::wildcard_enum_match_arm, reason = "the kinds of the standard library are many, and more will come")]
fn not_started(error: &io::Error) -> Failure {
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::PermissionDenied => {
            Failure::NoProgram { program: "git".to_owned(), message: error.to_string() }
        }
        _ => of_machine("starting git", error),
    }
}

impl From<StoreError> for EffectError {
    fn from(error: StoreError) -> Self {
        of_store(&error).into()
    }
}

impl From<ApplyError> for EffectError {
    fn from(error: ApplyError) -> Self {
        of_apply(&error).into()
    }
}

/// Returns the failure of the store for an error.
fn of_store(error: &StoreError) -> Failure {
    let message = explained(error);
    match error.what_failed() {
        StoreFailure::Disk => Failure::DiskFull { message },
        StoreFailure::Value => Failure::Unreadable { message },
        StoreFailure::Statement => Failure::DatabaseRefused { message },
        StoreFailure::Database => Failure::Database { message },
    }
}

/// Returns the failure that kept a fact from being applied.
pub(super) fn of_apply(error: &ApplyError) -> Failure {
    match error {
        ApplyError::Store(error) => of_store(error),
        ApplyError::Unreadable(error) => Failure::Unreadable { message: explained(error) },
        ApplyError::Contended(_) => Failure::Database { message: error.to_string() },
    }
}

/// Returns the fault for an I/O error of our own machine. `doing` names the operation and may be empty.
#[expect(clippy::wildcard_enum_match_arm, reason = "the kinds of the standard library are many, and more will come")]
pub(super) fn of_machine(doing: &str, error: &io::Error) -> Failure {
    let said = if doing.is_empty() { error.to_string() } else { format!("{doing}: {error}") };
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Failure::DiskFull { message: said },
        _ => Failure::Machine { message: said },
    }
}

impl From<io::Error> for EffectError {
    fn from(error: io::Error) -> Self {
        of_machine("", &error).into()
    }
}

/// Returns the fault for a program that our machine could not run.
pub(super) fn of_host(doing: &str, error: &io::Error) -> Failure {
    let cause = error.get_ref().and_then(|cause| cause.downcast_ref::<StartError>());
    if cause.is_some_and(|cause| matches!(cause, StartError::Isolation(_))) {
        Failure::Isolation { message: error.to_string() }
    } else {
        of_machine(doing, error)
    }
}

/// Returns the error's message followed by those of its causes.
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
