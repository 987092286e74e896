//! Failures that are neither an agent's nor a verdict on its work: of GitHub, of the repository, or of our own machine.

#![expect(missing_docs, reason = "a field whose name and type say what it is has no comment")]

use crate::ids::{FeatureKey, Sha, TaskId};
use serde::{Deserialize, Serialize};

/// A failure, sorted by who can fix it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// GitHub understood the request and refused it.
    #[error("refused: {said}")]
    Refused {
        /// GitHub's message.
        said: String,
    },
    /// GitHub, a name server or the network in between failed. The work waits until it recovers.
    #[error("GitHub could not be reached, or failed itself: {said}")]
    Unreachable {
        /// The error that was seen.
        said: String,
    },
    /// Git does not accept an object of the repository's history.
    #[error("git refuses an object of the repository's history: {said}")]
    History {
        /// Git's own line: the object, the rule and the problem.
        said: String,
    },
    /// The repository is not as the work needs it.
    #[error("the repository is not as it has to be: {what:?}")]
    Repository {
        /// The missing or disturbing part.
        what: RepositoryFault,
    },
    /// Our machine's disk is full.
    #[error("the disk is full: {said}")]
    DiskFull {
        /// The system's message, for operators.
        said: String,
    },
    /// A program that AutoBuild itself needs is missing.
    #[error("the program {program} cannot be started: {said}")]
    NoProgram {
        program: String,
        /// The system's message, for operators.
        said: String,
    },
    /// Our machine could not isolate a program, so the program was not started.
    #[error("a program could not be isolated: {said}")]
    Isolation {
        /// The sandbox's message, for operators.
        said: String,
    },
    /// The database failed.
    #[error("the database failed: {said}")]
    Database { said: String },
    /// Stored data cannot be read any more.
    #[error("what is stored cannot be read: {said}")]
    Unreadable {
        /// The reader's message, for operators.
        said: String,
    },
    /// Git failed on our machine in some other way.
    #[error("git failed: {said}")]
    Git { said: String },
    /// Our machine failed in some other way.
    #[error("the machine failed: {said}")]
    Machine {
        /// The system's message, for operators.
        said: String,
    },
    /// AutoBuild's own data about the work is inconsistent: a bug of ours.
    #[error("the work is not as it has to be: {what:?}")]
    Defect { what: Defect },
}

/// A difference between a repository and what the work needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RepositoryFault {
    /// The settings name an agent that this server does not offer.
    UnknownAgent { name: String },
    /// A branch does not exist.
    NoBranch { branch: String },
    /// A branch with the name that a run needs already exists and does not belong to that run.
    ForeignBranch { branch: String },
    /// Others keep pushing to a branch while AutoBuild pushes to it.
    BranchMoves { branch: String },
    /// A branch has nothing that its target branch does not have.
    NothingToMerge { head: String, base: String },
    /// Two branches share no commit.
    NoCommonHistory,
    /// A commit no longer exists.
    NoCommit { commit: Sha },
    /// A message of git or of a parser.
    Other(String),
}

/// An inconsistency in AutoBuild's own data about the work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Defect {
    /// There is no such Feature.
    NoFeature { key: FeatureKey },
    /// The Feature has no such task.
    NoTask { task: TaskId },
    /// The task has no open turn, or its open turn has no commit.
    NoOpenTurn { task: TaskId },
    /// The task has no commit.
    NoCommit { task: TaskId },
    /// The task has no pull request.
    NoPullRequest { task: TaskId },
    /// The Feature has no integration branch.
    NoIntegrationBranch,
    /// No Gate ran on the commit that the Coach must review.
    NoGates,
    /// An effect names no repository.
    NoRepository,
    /// An effect of a Feature names no Feature.
    NotOfAFeature,
    /// A delivery was not stored.
    NoDelivery,
    /// The service ended each time it performed an effect.
    CutOff { times: u32 },
    /// A message of the database or another part.
    Other(String),
}

impl Fault {
    /// `true` if the failure passes by itself. All others last until somebody has fixed something.
    pub fn passes_by_itself(&self) -> bool {
        matches!(self, Self::Unreachable { .. })
    }
}
