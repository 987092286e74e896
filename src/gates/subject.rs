//! The inputs of the Gates: a task's commit, or a merged wave.

use crate::config::{Mode, RepositorySettings};
use domain::{
    evidence::{Baseline, WaivedTest},
    feature::flow::HeldCheck,
    ids::Sha,
    plan::PlannedTask,
    task::Origin,
};
use git::Mirror;

/// A task's commit and everything by which it is judged.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    pub mirror: &'a Mirror,
    /// The commit of the integration branch from which the task's work started.
    pub fork: &'a Sha,
    pub head: &'a Sha,
    pub task: &'a PlannedTask,
    /// The plan's smoke command, which will judge the merged work.
    pub smoke: Option<&'a str>,
    pub origin: &'a Origin,
    pub mode: Mode,
    /// The results on the commit of the default branch with which the Feature began. Tests that failed there are
    /// excused.
    pub baseline: &'a Baseline,
    /// The results on the commit from which the task's work started, with the work of earlier tasks. Tests that passed
    /// there must still pass.
    pub before: &'a Baseline,
    pub settings: &'a RepositorySettings,
    pub waived: &'a [WaivedTest],
    /// The pushes of people to the task's branch: for each, the commit before and after it.
    pub people: &'a [(Sha, Sha)],
}

/// All tasks of a Feature as one change, because two tasks together can break rules that neither breaks alone. A Feature of
/// one task is judged so too: only then all old tests run without the Feature's own.
#[derive(Clone, Copy)]
pub struct WholeFeature<'a> {
    /// The commit of the default branch that the integration branch contains.
    pub fork: &'a Sha,
    /// A task that represents all: of the strictest type, with the words of each.
    pub task: &'a PlannedTask,
    /// `true` if it is the only one, whose turns judged all but whether old tests need its new ones.
    pub is_one_task: bool,
    /// The checks of criteria that held when their tasks were finished.
    pub checks: &'a [HeldCheck],
}

/// The integration branch after a wave.
#[derive(Clone, Copy)]
pub struct WaveSubject<'a> {
    pub mirror: &'a Mirror,
    pub head: &'a Sha,
    pub smoke: Option<&'a str>,
    /// The whole Feature as one change, after its last wave; `None` before.
    pub whole: Option<&'a WholeFeature<'a>>,
    /// The results of the tests before any change.
    pub baseline: &'a Baseline,
    pub settings: &'a RepositorySettings,
    pub waived: &'a [WaivedTest],
}
