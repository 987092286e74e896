//! Failures that are neither an agent's nor a verdict on its work: GitHub's, the repository's, our own machine's.

use serde::{Deserialize, Serialize};

/// What failed, by who can mend it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// GitHub understood and said no.
    #[error("refused: {said}")]
    Refused {
        /// Its words.
        said: String,
    },
    /// GitHub, a name server or the network between failed. It is waited out.
    #[error("GitHub could not be reached, or failed itself: {said}")]
    Unreachable {
        /// What was seen of it.
        said: String,
    },
    /// Git does not take what the repository's history holds.
    #[error("git refuses an object of the repository's history: {said}")]
    History {
        /// Git's own line: the object, the rule, what is wrong.
        said: String,
    },
    /// The repository is not as the work needs it.
    #[error("the repository is not as it has to be: {what}")]
    Repository {
        /// What is missing, or in the way.
        what: String,
    },
    /// The disk of our machine is full.
    #[error("the disk is full: {said}")]
    DiskFull {
        /// The system's words, for operators.
        said: String,
    },
    /// A program that AutoBuild itself needs is not there.
    #[error("the program {program} cannot be started: {said}")]
    NoProgram {
        /// Which.
        program: String,
        /// The system's words, for operators.
        said: String,
    },
    /// Our machine could not isolate a program, so it was not started.
    #[error("a program could not be isolated: {said}")]
    Isolation {
        /// The sandbox's words, for operators.
        said: String,
    },
    /// The database failed.
    #[error("the database failed: {said}")]
    Database {
        /// Its words, for operators.
        said: String,
    },
    /// What AutoBuild stored cannot be read any more.
    #[error("what is stored cannot be read: {what}")]
    Unreadable {
        /// What it is, and how it differs from what is expected.
        what: String,
    },
    /// Git failed on our machine, in a way that is none of the others.
    #[error("git failed: {said}")]
    Git {
        /// Its words.
        said: String,
    },
    /// Anything else of our machine failed.
    #[error("the machine failed: {said}")]
    Machine {
        /// The system's words, for operators.
        said: String,
    },
    /// What AutoBuild knows of the work does not fit together: a mistake of ours.
    #[error("the work is not as it has to be: {what}")]
    Defect {
        /// What does not fit.
        what: String,
    },
}

impl Fault {
    /// What it costs to wait: nothing, where it passes by itself.
    #[must_use]
    pub fn passes(&self) -> Passes {
        match self {
            Self::Unreachable { .. } => Passes::ByItself,
            Self::Refused { .. }
            | Self::History { .. }
            | Self::Repository { .. }
            | Self::DiskFull { .. }
            | Self::NoProgram { .. }
            | Self::Isolation { .. }
            | Self::Database { .. }
            | Self::Unreadable { .. }
            | Self::Git { .. }
            | Self::Machine { .. }
            | Self::Defect { .. } => Passes::WhenMended,
        }
    }
}

/// When a failure is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passes {
    /// After a while: nobody of ours can do anything about it.
    ByItself,
    /// When somebody has mended it.
    WhenMended,
}
