//! What can go wrong with git, by what the caller does next.

use crate::names::NotABranchName;
use std::time::Duration;

/// What a call of git works with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// Repositories of ours alone.
    Disk,
    /// The forge as well.
    Network,
}

/// A failed git operation. No text in it holds a token.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// The forge could not be reached or answered with a passing failure: try again later.
    #[error("the forge could not be reached: {0}")]
    Transient(String),
    /// The forge refused the token or its rights.
    #[error("the forge refused: {0}")]
    Denied(String),
    /// The forge does not know the repository (any more), or the token may not see it.
    #[error("the repository is gone: {0}")]
    Gone(String),
    /// The named revision, branch or file does not exist.
    #[error("{0} does not exist")]
    Missing(String),
    /// The history holds an object that could harm whoever checks it out, so git did not take it. Git's own line.
    #[error("git refuses an object: {0}")]
    History(String),
    /// The disk of this machine is full.
    #[error("the disk is full: {0}")]
    NoSpace(String),
    /// A name that git must not be given.
    #[error(transparent)]
    Name(#[from] NotABranchName),
    /// Git was still busy at its deadline and was stopped.
    #[error("git {command} took longer than {} s", .after.as_secs())]
    TimedOut {
        /// The subcommand.
        command: String,
        /// What it worked with.
        over: Over,
        /// The deadline.
        after: Duration,
    },
    /// Git printed more than the caller was ready to hold.
    #[error("git {command} printed more than {cap} bytes")]
    TooLarge {
        /// The subcommand.
        command: String,
        /// The cap that was exceeded.
        cap: usize,
    },
    /// Git failed in a way that trying again will not mend.
    #[error("git {command} failed with {code}: {stderr}")]
    Failed {
        /// The subcommand.
        command: String,
        /// Exit code, or −1 for a signal.
        code: i32,
        /// What git said, shortened, tokens masked.
        stderr: String,
    },
    /// Git printed what we do not understand.
    #[error("git {command} printed something unexpected: {what}")]
    Unexpected {
        /// The subcommand.
        command: String,
        /// What was found.
        what: String,
    },
    /// Git itself could not be started.
    #[error("git could not be started: {source}")]
    NotStarted {
        /// The cause.
        #[source]
        source: std::io::Error,
    },
    /// The disk or the operating system failed.
    #[error("{what}: {source}")]
    Io {
        /// What was being done.
        what: String,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
}

impl GitError {
    /// An I/O failure with what was being done.
    pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let what = what.into();
        move |source| Self::Io { what, source }
    }

    /// Output of `command` that does not read as it should.
    pub(crate) fn unexpected(command: &str, what: impl Into<String>) -> Self {
        Self::Unexpected {
            command: command.to_owned(),
            what: what.into(),
        }
    }
}
