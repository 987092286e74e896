//! The blocked report: what a person gets when a Task or a Feature cannot go on, as data.

use crate::{
    blocked::reason::{BlockReason, Severity},
    cost::Cost,
    decision::Issue,
    evidence::GateReport,
    feature::Feature,
    ids::TurnNumber,
    recurring,
    recurring::Recurring,
    task::{State, Task},
};

/// Whether a person can approve the work as it is, over the Coach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Approvable {
    /// There is a pull request with a commit.
    Yes,
    /// There is nothing that could be merged.
    NothingPushed,
    /// The commit holds what looks like a secret, which nobody can waive.
    Secret,
}

/// A command that leads on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Goes on, with guidance and with more turns.
    Resume,
    /// Takes the work as it is, over the Coach.
    Approve,
    /// Starts a task again from the integration branch.
    Retry,
    /// Gives a task up.
    Skip,
    /// Plans again; only before any task was started.
    Plan,
    /// Ends the Feature.
    Cancel,
}

impl Way {
    /// The ways on from a blocked task.
    pub fn of_task(approvable: Approvable) -> Vec<Self> {
        match approvable {
            Approvable::Yes => vec![Self::Resume, Self::Approve, Self::Retry, Self::Skip],
            Approvable::NothingPushed | Approvable::Secret => vec![Self::Resume, Self::Retry, Self::Skip],
        }
    }

    /// The ways on from a blocked Feature: only what would be obeyed as it stands.
    pub fn of_feature(feature: &Feature) -> Vec<Self> {
        if feature.is_untouched() {
            return vec![Self::Resume, Self::Plan, Self::Cancel];
        }
        let for_one = [
            feature.to_retry().map(|_| Self::Retry),
            feature.to_skip().map(|_| Self::Skip),
        ];
        let for_one = for_one.into_iter().flatten();
        std::iter::once(Self::Resume)
            .chain(for_one)
            .chain([Self::Cancel])
            .collect()
    }
}

/// What a person gets when a Task or a Feature cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockedReport {
    /// Why it stopped.
    pub reason: BlockReason,
    /// How bad it is.
    pub severity: Severity,
    /// Turns used.
    pub attempts: u32,
    /// Issues that came up in more than one turn, most frequent first.
    pub recurring: Vec<Recurring>,
    /// What the last verdict on work asked for.
    pub last_feedback: Vec<Issue>,
    /// What the Gates said last; absent when none ran.
    pub gates: Option<GateReport>,
    /// Whether a person can approve the work as it is.
    pub approvable: Approvable,
    /// The commands that lead on.
    pub ways: Vec<Way>,
    /// What the work cost so far.
    pub cost: Cost,
}

impl BlockedReport {
    /// The report on a task that is blocked now, from the turns of its present attempt.
    pub fn of_task(task: &Task, cost: Cost) -> Option<Self> {
        let State::Blocked { reason } = &task.state else {
            return None;
        };
        let items: Vec<(TurnNumber, &[Issue])> = task
            .turns_now()
            .filter_map(|turn| Some((turn.number, turn.verdict.as_ref()?.items.as_slice())))
            .collect();
        let gates = task.turns_now().rev().find_map(|turn| turn.gates.clone());
        let approvable = approvable(task);
        Some(Self {
            severity: reason.severity(),
            attempts: u32::try_from(task.turns_now().count()).unwrap_or(u32::MAX),
            recurring: recurring::recurring(&items),
            last_feedback: task
                .last_judgement()
                .map(|verdict| verdict.items.clone())
                .unwrap_or_default(),
            approvable,
            ways: Way::of_task(approvable),
            cost,
            reason: reason.clone(),
            gates,
        })
    }

    /// The report on a Feature that is blocked for this reason, with what the Gates said about it.
    pub fn of_feature(feature: &Feature, reason: &BlockReason, gates: Option<&GateReport>, cost: Cost) -> Self {
        let mut ways = Way::of_feature(feature);
        // Other words for the planner mend no agent that fails.
        if matches!(reason, BlockReason::AgentFailed { .. }) {
            ways.retain(|way| *way != Way::Plan);
        }
        Self {
            severity: reason.severity(),
            attempts: 0,
            recurring: Vec::new(),
            last_feedback: Vec::new(),
            approvable: Approvable::NothingPushed,
            ways,
            cost,
            reason: reason.clone(),
            gates: gates.cloned(),
        }
    }
}

/// What stands in the way of an approval by a person, if anything.
fn approvable(task: &Task) -> Approvable {
    match (task.overridable(), task.secret()) {
        (None, _) => Approvable::NothingPushed,
        (Some(_), Some(_)) => Approvable::Secret,
        (Some(_), None) => Approvable::Yes,
    }
}
