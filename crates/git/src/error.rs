//! Errors of git, grouped by the caller's next step.

use crate::names::NotABranchName;
use std::time::Duration;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallReach {
    /// It uses only our own repositories.
    Disk,
    /// It also connects to the forge.
    Network,
}

/// A failed git operation. No text in it contains a token.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// The forge could not be reached or had a temporary failure. Try again later.
    #[error("the forge could not be reached: {0}")]
    Transient(String),
    /// The forge refused the token, or the token lacks a permission.
    #[error("the forge refused: {0}")]
    Denied(String),
    /// The forge did not accept the credentials. Git shows no more of its answer.
    #[error("the credentials for git were not accepted")]
    NoCredentials,
    /// The forge does not know the repository (any more), or the token cannot see it.
    #[error("the repository is gone: {0}")]
    Gone(String),
    /// The named revision, branch or file does not exist.
    #[error("{0} does not exist")]
    Missing(String),
    /// The history contains an object that could harm those who check it out, so git refused it. The text is git's own
    /// line.
    #[error("git refuses an object: {0}")]
    History(String),
    /// The disk of this machine is full.
    #[error("the disk is full: {0}")]
    NoSpace(String),
    /// The name is not a valid branch name.
    #[error(transparent)]
    Name(#[from] NotABranchName),
    /// Git was stopped at its deadline.
    #[error("git {command} took longer than {} s", .after.as_secs())]
    TimedOut {
        /// The subcommand.
        command: String,
        reach: CallReach,
        /// The deadline.
        after: Duration,
    },
    /// Git printed more than the caller accepts.
    #[error("git {command} printed more than {cap} bytes")]
    TooLarge {
        /// The subcommand.
        command: String,
        cap: usize,
    },
    /// Git failed in a way that trying again does not fix.
    #[error("git {command} failed with {code}: {stderr}")]
    Failed {
        /// The subcommand.
        command: String,
        /// Exit code, or −1 for a signal.
        code: i32,
        /// Git's error output, shortened, with tokens masked.
        stderr: String,
    },
    /// Git's output cannot be parsed.
    #[error("git {command} printed something unexpected: {what}")]
    Unexpected {
        /// The subcommand.
        command: String,
        /// A description of the output.
        what: String,
    },
    /// Git itself could not be started.
    #[error("git could not be started: {source}")]
    NotStarted {
        #[source]
        source: std::io::Error,
    },
    /// The disk or the operating system failed.
    #[error("{what}: {source}")]
    Io {
        /// The action that failed.
        what: String,
        #[source]
        source: std::io::Error,
    },
}

impl GitError {
    /// Wraps an I/O error with the action that failed.
    pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let what = what.into();
        move |source| Self::Io { what, source }
    }

    /// Makes the error for output of `command` that cannot be parsed.
    pub(crate) fn unexpected(command: &str, what: impl Into<String>) -> Self {
        Self::Unexpected { command: command.to_owned(), what: what.into() }
    }
}
