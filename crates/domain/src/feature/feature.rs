//! A Feature as it is remembered, and what can be asked of it.

use crate::{
    feature::{
        preflight::PreFlight,
        records::{Integration, Living, PlanRequest, PlanVersion, Rules, Snapshot, WaveGate},
        saying::Unsaid,
        state::{Phase, State, Suspension},
    },
    ids::{Emission, FeatureKey, InstallationId, PullNumber, TaskId},
    task,
    task::Task,
};
use serde::{Deserialize, Serialize};

/// A Feature with everything that was said and done about it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Feature {
    /// Its identity in the store.
    pub key: FeatureKey,
    /// The installation that pays and permits.
    pub installation: InstallationId,
    /// Where it stands.
    pub state: State,
    /// The issue as it was when it was labelled.
    pub snapshot: Snapshot,
    /// What the repository's settings allow, read at every plan, resume and retry.
    pub rules: Rules,
    /// The repository's settings as the adapters read them; opaque here.
    pub settings: serde_json::Value,
    /// What the next plan is made from.
    pub request: PlanRequest,
    /// The plan in force or waiting for approval.
    pub plan: Option<PlanVersion>,
    /// What pre-flight found on the newest commit of the default branch that the work stands on.
    #[serde(default)]
    pub preflight: Option<PreFlight>,
    /// The integration branch, once it exists.
    pub integration: Option<Integration>,
    /// The pull request into the default branch.
    pub pull: Option<PullNumber>,
    /// The open wave, from 1; 0 before the first.
    pub wave: u32,
    /// What wave gates found, oldest first.
    pub gates: Vec<WaveGate>,
    /// How many more repairs of this wave people allowed.
    #[serde(default)]
    pub more_fixes: u32,
    /// The comment that shows plan and progress.
    pub living: Option<Living>,
    /// What could not be said as it should, oldest first.
    #[serde(default)]
    pub unsaid: Vec<Unsaid>,
    /// The wave gate that runs in review, on what a person pushed.
    pub checking: Option<Emission>,
    /// Whether the installation is suspended.
    pub suspension: Suspension,
    /// How many effects it has asked for itself.
    pub emitted: Emission,
    /// Its tasks, in the order of the plan, then those that AutoBuild added.
    #[serde(skip)]
    pub tasks: Vec<Task>,
}

impl Feature {
    /// The task of this name.
    pub fn task(&self, id: TaskId) -> Option<&Task> {
        self.tasks.iter().find(|task| task.id == id)
    }

    /// The task that a person would most likely start again: the one that waits, else one that was given up.
    pub fn to_retry(&self) -> Option<TaskId> {
        let first = |wanted: fn(&Task) -> bool| self.tasks.iter().find(|task| wanted(task)).map(|task| task.id);
        let given_up = |task: &Task| task.is_over() && !task.is_completed();
        first(Task::is_blocked)
            .or_else(|| first(given_up))
            .or_else(|| first(|task| !task.is_completed()))
    }

    /// The task that a person would most likely give up.
    pub fn to_skip(&self) -> Option<TaskId> {
        let first = |wanted: fn(&Task) -> bool| self.tasks.iter().find(|task| wanted(task)).map(|task| task.id);
        first(Task::is_blocked).or_else(|| first(|task| !task.is_over()))
    }

    /// Whether no task was started, and nothing was made that one could start from.
    pub fn is_untouched(&self) -> bool {
        self.integration.is_none() && self.tasks.iter().all(|task| task.turns.is_empty())
    }

    /// The branches that hold its work, the most finished first: what is merged, then each task that is not.
    pub fn branches_with_work(&self) -> Vec<String> {
        let is_merged = |task: &&Task| matches!(task.state, task::State::Completed { .. });
        let merged = self.tasks.iter().any(|task| is_merged(&task));
        let has_work = |task: &&Task| task.head.is_some() && !matches!(task.state, task::State::Skipped { .. });
        let others = self.tasks.iter().filter(|task| !is_merged(task)).filter(has_work);
        merged
            .then(|| self.key.integration_branch())
            .into_iter()
            .chain(others.map(|task| task.branch.clone()))
            .collect()
    }

    /// Whether something may still happen without a new label.
    pub fn is_unfinished(&self) -> bool {
        match self.state {
            State::Planning { .. }
            | State::AwaitingApproval
            | State::Building { .. }
            | State::Paused { .. }
            | State::Blocked { .. }
            | State::InReview => true,
            State::Completed | State::Cancelled { .. } | State::Failed { .. } => false,
        }
    }

    /// Whether work waits: the Feature is paused or its installation suspended.
    pub fn is_held(&self) -> bool {
        matches!(self.state, State::Paused { .. }) || self.suspension == Suspension::Suspended
    }

    /// The step of building that it is in, also while it is paused.
    pub fn phase(&self) -> Option<&Phase> {
        match &self.state {
            State::Building { phase } | State::Paused { phase, .. } => Some(phase),
            State::Planning { .. }
            | State::AwaitingApproval
            | State::Blocked { .. }
            | State::InReview
            | State::Completed
            | State::Cancelled { .. }
            | State::Failed { .. } => None,
        }
    }

    /// The tasks whose wave is open or over.
    pub fn opened_tasks(&self) -> impl Iterator<Item = &Task> {
        self.tasks.iter().filter(|task| task.wave <= self.wave)
    }

    /// Whether a task whose wave is open or over has not ended.
    pub fn has_open_tasks(&self) -> bool {
        self.opened_tasks().any(|task| !task.is_over())
    }

    /// The tasks that are merged.
    pub fn completed(&self) -> Vec<TaskId> {
        let completed = self.tasks.iter().filter(|task| task.is_completed());
        completed.map(|task| task.id).collect()
    }

    /// The number of the last wave.
    pub fn last_wave(&self) -> u32 {
        self.tasks.iter().map(|task| task.wave).max().unwrap_or(0)
    }

    /// What the task machine needs of this Feature.
    pub fn task_rules(&self) -> task::Rules {
        task::Rules {
            max_turns: self.rules.max_turns,
            merge: self.rules.merge,
            ci: self.rules.ci,
            branch_prefix: self.key.branch_prefix(),
        }
    }
}
