//! A Feature with everything that is remembered of it, and what can be asked of it.

use crate::{
    ci::CiPolicy,
    effect::Unsaid,
    evidence::GateReport,
    feature::{
        discussion::Discussion,
        preflight::PreFlight,
        state::{Phase, State, Suspension},
    },
    ids::{CommentId, Emission, FeatureKey, InstallationId, Millis, PullNumber, Sha, TaskId, User},
    plan::Plan,
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

/// The issue as it was when it was labelled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    /// Its title.
    pub title: String,
    /// Its body.
    pub body: String,
    /// Who opened it.
    pub author: User,
    /// Who labelled it.
    pub labelled_by: User,
    /// When.
    pub at: Millis,
    /// Whether author and last editor may write to the repository.
    pub trust: Trust,
    /// What the label asks for.
    #[serde(default)]
    pub wanted: Wanted,
    /// What was settled below it before.
    #[serde(default)]
    pub discussion: Discussion,
}

/// What a label asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wanted {
    /// A plan of as many tasks as the issue needs.
    #[default]
    Plan,
    /// One task, without a planner.
    OneTask,
}

/// Whether those who wrote the issue may write to the repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// They may.
    Writers,
    /// Someone without the right wrote or edited it: the plan waits for approval.
    Others,
}

/// What the rules need of the repository's settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rules {
    /// Turns of a fresh task.
    pub max_turns: u32,
    /// Tasks of one Feature that may run at once.
    pub max_parallel_tasks: u32,
    /// Who merges an approved task.
    pub merge: task::MergePolicy,
    /// Which plans wait for approval.
    pub plan_approval: PlanApproval,
    /// Whether new tests must fail on the old code.
    #[serde(default)]
    pub mode: Mode,
    /// Whether the repository's own CI is evidence.
    #[serde(default)]
    pub ci: CiPolicy,
    /// Whether the plan and its tasks are written down on the integration branch, and for how long.
    #[serde(default)]
    pub records: Records,
    /// How the commands of plans are run.
    #[serde(default)]
    pub commands: Commands,
}

/// Whether the plan and its tasks are written down on the integration branch, and for how long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Records {
    /// Until the feature pull request is opened.
    #[default]
    WhileBuilding,
    /// For good: they are merged with the work.
    Keep,
    /// Not at all.
    None,
}

/// How the commands of plans are run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Commands {
    /// With all rights of the service's user.
    #[default]
    Bare,
    /// Kept apart from the machine.
    Isolated,
}

/// Whether new tests must fail on the old code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// They must.
    #[default]
    Tdd,
    /// It is only shown.
    Standard,
}

/// Which plans wait for approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanApproval {
    /// None.
    Never,
    /// All.
    Always,
    /// Those of this complexity or more.
    From(u8),
}

/// What a plan is made from, besides the snapshot.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanRequest {
    /// Words of a person to the planner.
    pub words: Option<String>,
    /// A plan given by a person, which replaces the planner.
    pub yaml: Option<String>,
}

/// A checked plan with what people are told about it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlanVersion {
    /// 1, or one more with every new plan.
    pub number: u32,
    /// The plan.
    pub plan: Plan,
    /// SHA-256 of it, in hexadecimal.
    pub hash: String,
    /// When it was made.
    pub created: Millis,
    /// Its complexity, 1 to 10.
    pub complexity: u8,
    /// What was replaced or added, as sentences.
    pub notes: Vec<String>,
    /// Which commands the Gates will run, as a sentence.
    pub commands: String,
    /// The commit of the default branch that it was made on.
    pub base: Sha,
    /// GitHub's time of the edit that first showed it.
    pub shown_at: Option<Millis>,
    /// Why it waits for approval, if it does.
    pub waits: Vec<ApprovalWhy>,
}

/// Why a plan waits for approval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalWhy {
    /// The settings ask for it.
    Settings,
    /// The complexity is at or over the settings' bound.
    Complexity {
        /// Of the plan.
        complexity: u8,
        /// Of the settings.
        from: u8,
    },
    /// Someone without write access wrote or edited the issue.
    Author,
    /// The plan names commands that would run without isolation.
    Commands,
}

/// The branch into which tasks are merged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Integration {
    /// Its name.
    pub branch: String,
    /// The default branch's commit that it was made from.
    pub base: Sha,
    /// The last head that AutoBuild knows.
    pub head: Sha,
}

/// What the Gates found on the integration branch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaveGate {
    /// After which wave.
    pub wave: u32,
    /// The commit.
    pub head: Sha,
    /// The tasks that were merged by then.
    pub merged: Vec<TaskId>,
    /// What they found.
    pub report: GateReport,
    /// A later commit that differs from this one in AutoBuild's records alone: what was found holds for it.
    #[serde(default)]
    pub stands_for: Option<Sha>,
}

impl WaveGate {
    /// Whether what was found holds for this commit.
    pub fn holds_for(&self, head: &Sha) -> bool {
        self.head == *head || self.stands_for.as_ref() == Some(head)
    }

    /// The newest commit that it holds for.
    pub fn newest(&self) -> &Sha {
        self.stands_for.as_ref().unwrap_or(&self.head)
    }
}

/// The comment that shows plan and progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Living {
    /// The comment.
    pub comment: CommentId,
    /// When it was last edited.
    pub edited_at: Millis,
}
