//! What is looked at: a task's commit, a merged wave, the merges that may have broken it.

use crate::config::{Mode, RepositorySettings};
use domain::{
    evidence::{Additions, Baseline, WaivedTest},
    ids::Sha,
    plan::{PlannedTask, TaskType},
    task::Origin,
};
use git::Mirror;

/// A task's commit and everything that it is measured by.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    /// Holds both commits.
    pub mirror: &'a Mirror,
    /// Where the task's work forked from the integration branch.
    pub fork: &'a Sha,
    /// The commit that is judged.
    pub head: &'a Sha,
    /// The task.
    pub task: &'a PlannedTask,
    /// Where the task comes from.
    pub origin: &'a Origin,
    /// Whether new tests must fail on the old code.
    pub mode: Mode,
    /// The tests as they were before anyone changed anything.
    pub baseline: &'a Baseline,
    /// The repository's settings.
    pub settings: &'a RepositorySettings,
    /// Failing tests that a person waived.
    pub waived: &'a [WaivedTest],
    /// What persons pushed to the task's branch: each push as the commit before it and the one after.
    pub people: &'a [(Sha, Sha)],
}

/// The integration branch after a wave.
#[derive(Clone, Copy)]
pub struct WaveSubject<'a> {
    /// Holds the commit.
    pub mirror: &'a Mirror,
    /// The commit that is judged.
    pub head: &'a Sha,
    /// The plan's smoke command.
    pub smoke: Option<&'a str>,
    /// The heaviest kind of task in it: decides whether tests must run at all.
    pub kind: TaskType,
    /// The tests as they were before anyone changed anything.
    pub baseline: &'a Baseline,
    /// The repository's settings.
    pub settings: &'a RepositorySettings,
    /// Failing tests that a person waived.
    pub waived: &'a [WaivedTest],
}

/// A broken integration branch, and since when it may be broken.
#[derive(Clone, Copy)]
pub struct Suspects<'a> {
    /// Holds the commits.
    pub mirror: &'a Mirror,
    /// The last commit of the integration branch on which the wave gate held.
    pub green: &'a Sha,
    /// The commit on which it does not.
    pub head: &'a Sha,
    /// The tests that fail there by name; empty where none is named.
    pub failing: &'a [String],
    /// The plan's smoke command, where that is what failed.
    pub smoke: Option<&'a str>,
    /// What is added to the test command.
    pub additions: Additions,
    /// The repository's settings.
    pub settings: &'a RepositorySettings,
}
