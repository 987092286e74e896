//! Failures that are neither an agent's nor a verdict on its work: GitHub's, the repository's, our own machine's.

use crate::ids::{FeatureKey, Sha, TaskId};
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
    #[error("the repository is not as it has to be: {what:?}")]
    Repository {
        /// What is missing, or in the way.
        what: RepositoryFault,
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
    #[error("what is stored cannot be read: {said}")]
    Unreadable {
        /// The reader's words, for operators.
        #[serde(alias = "what")]
        said: String,
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
    #[error("the work is not as it has to be: {what:?}")]
    Defect {
        /// What does not fit.
        what: Defect,
    },
}

/// How a repository differs from what the work needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RepositoryFault {
    /// Its settings name an agent that this server does not offer.
    UnknownAgent {
        /// The agent's name.
        name: String,
    },
    /// A branch does not exist.
    NoBranch {
        /// The branch.
        branch: String,
    },
    /// A branch of the name that a run needs exists already, and is not that run's.
    ForeignBranch {
        /// The branch.
        branch: String,
    },
    /// Others push to a branch again and again while AutoBuild pushes to it.
    BranchMoves {
        /// The branch.
        branch: String,
    },
    /// A branch holds nothing that the branch it is to be merged into does not hold.
    NothingToMerge {
        /// The branch.
        head: String,
        /// The branch that it is to be merged into.
        base: String,
    },
    /// Two branches share no commit.
    NoCommonHistory,
    /// A commit is gone.
    NoCommit {
        /// The commit.
        commit: Sha,
    },
    /// What git or a parser said; what an older version stored.
    #[serde(untagged)]
    Said(String),
}

/// What AutoBuild should know of the work, and does not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Defect {
    /// There is no such Feature.
    NoFeature {
        /// The Feature.
        key: FeatureKey,
    },
    /// The Feature has no such task.
    NoTask {
        /// The task.
        task: TaskId,
    },
    /// The task has no open turn, or its open turn has no commit.
    NoOpenTurn {
        /// The task.
        task: TaskId,
    },
    /// The task has no commit.
    NoCommit {
        /// The task.
        task: TaskId,
    },
    /// The task has no pull request.
    NoPullRequest {
        /// The task.
        task: TaskId,
    },
    /// The Feature has no integration branch.
    NoIntegrationBranch,
    /// No Gate ran on the commit that the Coach is to look at.
    NoGates,
    /// An effect names no repository.
    NoRepository,
    /// An effect of a Feature stands without one.
    NotOfAFeature,
    /// A delivery is not stored.
    NoDelivery,
    /// The service ended each time that it performed an effect.
    CutOff {
        /// How often.
        times: u32,
    },
    /// What a writer or another part said; what an older version stored.
    #[serde(untagged)]
    Said(String),
}

impl Fault {
    /// What it costs to wait: nothing, where it passes by itself.
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
