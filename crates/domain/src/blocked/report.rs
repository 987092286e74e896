//! The blocked report as data, which a person gets when a task or a Feature cannot continue.

use crate::{
    blocked::reason::BlockReason,
    cost::Cost,
    evidence::GateReport,
    feature::Feature,
    ids::TurnNumber,
    problem::ReviewItem,
    recurring,
    recurring::Recurring,
    task::{State, Task},
};

/// A person's option to approve the work as it is, overriding the Coach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Approvable {
    /// There is a pull request with a commit.
    Yes,
    NothingPushed,
    /// The commit contains something that looks like a secret, which nobody can waive.
    Secret,
}

/// A command that lets the work continue or ends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextCommand {
    /// Continues, with guidance and more turns.
    Resume,
    /// Accepts the work as it is, overriding the Coach.
    Approve,
    /// Starts a task again from the integration branch.
    Retry,
    /// Gives up a task.
    Skip,
    /// Makes a new plan; only before any task has started.
    Plan,
    /// Ends the Feature.
    Cancel,
}

impl NextCommand {
    pub fn of_task(approvable: Approvable) -> Vec<Self> {
        match approvable {
            Approvable::Yes => vec![Self::Resume, Self::Approve, Self::Retry, Self::Skip],
            Approvable::NothingPushed | Approvable::Secret => vec![Self::Resume, Self::Retry, Self::Skip],
        }
    }

    /// Returns the commands for a blocked Feature: only those that AutoBuild would accept in its present state.
    pub fn of_feature(feature: &Feature) -> Vec<Self> {
        if feature.is_untouched() {
            return vec![Self::Resume, Self::Plan, Self::Cancel];
        }
        let retry = feature.to_retry().map(|_| Self::Retry);
        let skip = feature.to_skip().map(|_| Self::Skip);
        let ways = [Some(Self::Resume), retry, skip, Some(Self::Cancel)];
        ways.into_iter().flatten().collect()
    }
}

/// The report that a person gets when a task or a Feature cannot continue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockedReport {
    pub reason: BlockReason,
    /// The number of turns used.
    pub attempts: u32,
    /// Issues that came up in more than one turn, most frequent first.
    pub recurring: Vec<Recurring>,
    /// The items of the last verdict on a turn that changed something.
    pub last_feedback: Vec<ReviewItem>,
    /// The last results of the Gates; `None` if none ran.
    pub gates: Option<GateReport>,
    /// If a person can approve the work as it is.
    pub approvable: Approvable,
    /// The commands with which a person lets the work continue, or ends it.
    pub ways: Vec<NextCommand>,
    /// The cost of the work so far.
    pub cost: Cost,
}

impl BlockedReport {
    /// Returns the report on a task, from the turns of its present attempt; `None` if the task is not blocked.
    pub fn of_task(task: &Task, cost: Cost) -> Option<Self> {
        let State::Blocked { reason } = &task.state else {
            return None;
        };
        let items: Vec<(TurnNumber, &[ReviewItem])> = task
            .turns_of_attempt()
            .filter_map(|turn| Some((turn.number, turn.verdict.as_ref()?.items.as_slice())))
            .collect();
        let gates = task.turns_of_attempt().rev().find_map(|turn| turn.gates.clone());
        let approvable = approvable(task);
        let last = task.last_judged().and_then(|turn| turn.verdict.as_ref());
        let last = last.map(|verdict| verdict.items.clone());
        Some(Self {
            attempts: u32::try_from(task.turns_of_attempt().count()).unwrap_or(u32::MAX),
            recurring: recurring::recurring(&items),
            last_feedback: last.unwrap_or_default(),
            approvable,
            ways: NextCommand::of_task(approvable),
            cost,
            reason: reason.clone(),
            gates,
        })
    }

    /// Returns the report on a Feature that is blocked for this reason. `gates` are the results that belong to the
    /// reason.
    pub fn of_feature(feature: &Feature, reason: &BlockReason, gates: Option<&GateReport>, cost: Cost) -> Self {
        let mut ways = NextCommand::of_feature(feature);
        // Other instructions to the planner do not help if the agent itself fails.
        if reason.agent_failure().is_some() {
            ways.retain(|way| *way != NextCommand::Plan);
        }
        Self {
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

/// Decides if a person can approve the task's work.
fn approvable(task: &Task) -> Approvable {
    match task.secret() {
        _ if !task.is_overridable() => Approvable::NothingPushed,
        Some(_) => Approvable::Secret,
        None => Approvable::Yes,
    }
}
