//! One Feature: a labelled issue being built. `step` is the only way in.

pub mod command;
pub mod event;
pub mod flow;
pub mod people;
pub mod step;

use crate::domain::blocked::BlockReason;
use crate::domain::effect::Effect;
use crate::domain::evidence::GateReport;
use crate::domain::ids::CommentId;
use crate::domain::ids::FeatureKey;
use crate::domain::ids::InstallationId;
use crate::domain::ids::Millis;
use crate::domain::ids::PullNumber;
use crate::domain::ids::Sha;
use crate::domain::ids::TaskId;
use crate::domain::ids::User;
use crate::domain::plan::Plan;
use crate::domain::task;
use crate::domain::task::Task;
use serde::Deserialize;
use serde::Serialize;

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
    /// The integration branch, once it exists.
    pub integration: Option<Integration>,
    /// The pull request into the default branch.
    pub pull: Option<PullNumber>,
    /// The open wave, from 1; 0 before the first.
    pub wave: u32,
    /// What wave gates found, oldest first.
    pub gates: Vec<WaveGate>,
    /// The comment that shows plan and progress.
    pub living: Option<Living>,
    /// Whether the installation is suspended.
    pub suspension: Suspension,
    /// How many effects it has asked for itself.
    pub emitted: u64,
    /// Its tasks, in the order of the plan, then those that AutoBuild added.
    #[serde(skip)]
    pub tasks: Vec<Task>,
}

/// The states of a Feature.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// A plan is being made.
    Planning {
        /// The effect that is waited for.
        run: u64,
    },
    /// The plan waits for a person.
    AwaitingApproval,
    /// Tasks are being built.
    Building {
        /// Where exactly.
        phase: Phase,
    },
    /// A person asked to wait; what runs ends, nothing starts.
    Paused {
        /// Where it goes on.
        phase: Phase,
        /// Who asked.
        by: User,
    },
    /// A person has to decide.
    Blocked {
        /// Why.
        reason: BlockReason,
        /// Where it goes on.
        phase: Phase,
    },
    /// The feature pull request waits for its human.
    InReview,
    /// Merged.
    Completed,
    /// Cancelled.
    Cancelled {
        /// Why.
        why: CancelledWhy,
    },
    /// No valid plan after the repair.
    Failed {
        /// What was wrong with it.
        message: String,
    },
}

/// Steps of building.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Making the plan; only in `paused` and `blocked`.
    Planning {
        /// The effect that is waited for.
        run: u64,
    },
    /// Making the integration branch.
    OpeningBranch {
        /// The effect that is waited for.
        run: u64,
    },
    /// Merging the default branch.
    MergingDefault {
        /// The effect that is waited for.
        run: u64,
        /// What comes next.
        then: Then,
    },
    /// The tasks of the open wave.
    Tasks,
    /// The wave gate.
    Gate {
        /// The effect that is waited for.
        run: u64,
        /// What comes next.
        then: Then,
    },
    /// Opening the feature pull request.
    OpeningPull {
        /// The effect that is waited for.
        run: u64,
    },
}

/// What follows a merge of the default branch or a wave gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Then {
    /// The next wave.
    Wave,
    /// The feature pull request.
    Pull,
}

/// Why a Feature was cancelled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CancelledWhy {
    /// `/autobuild cancel`.
    Command(User),
    /// The label was removed.
    LabelRemoved(User),
    /// The issue was closed.
    IssueClosed(User),
    /// The feature pull request was closed unmerged.
    PullClosed(User),
    /// The integration branch was deleted.
    BranchDeleted,
    /// The repository was archived or deleted.
    RepositoryGone,
    /// The issue was transferred or deleted.
    IssueGone,
    /// The App was removed from the repository.
    InstallationRemoved,
    /// No task was completed.
    NothingCompleted,
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
    /// What they found.
    pub report: GateReport,
}

/// The comment that shows plan and progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Living {
    /// The comment.
    pub comment: CommentId,
    /// When it was last edited.
    pub edited_at: Millis,
}

/// Whether the installation is suspended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Suspension {
    /// It is not.
    None,
    /// Nothing starts until it is lifted.
    Suspended,
}

/// A Feature and what it asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The Feature after the event.
    pub feature: Feature,
    /// What is to be done, in this order.
    pub effects: Vec<Effect>,
    /// Whose stored work stops before the new effects are added.
    pub stop: Vec<StopScope>,
}

/// Whose stored work stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StopScope {
    /// Agents, Gates and merges of one task.
    Task(TaskId),
    /// All work of the Feature.
    Feature,
}

impl Feature {
    /// The task of this name.
    #[must_use]
    pub fn task(&self, id: TaskId) -> Option<&Task> {
        self.tasks.iter().find(|task| task.id == id)
    }

    /// Whether something may still happen without a new label.
    #[must_use]
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
    #[must_use]
    pub fn is_held(&self) -> bool {
        matches!(self.state, State::Paused { .. }) || self.suspension == Suspension::Suspended
    }

    /// The number of the last wave.
    #[must_use]
    pub fn last_wave(&self) -> u32 {
        self.tasks.iter().map(|task| task.wave).max().unwrap_or(0)
    }

    /// What the task machine needs of this Feature.
    #[must_use]
    pub fn task_rules(&self) -> task::Rules {
        task::Rules {
            max_turns: self.rules.max_turns,
            merge: self.rules.merge,
            branch_prefix: self.key.branch_prefix(),
        }
    }
}

impl State {
    /// The product's word for it.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Planning { .. } => "planning",
            Self::AwaitingApproval => "awaiting_approval",
            Self::Building { .. } => "building",
            Self::Paused { .. } => "paused",
            Self::Blocked { .. } => "blocked",
            Self::InReview => "in_review",
            Self::Completed => "completed",
            Self::Cancelled { .. } => "cancelled",
            Self::Failed { .. } => "failed",
        }
    }

    /// The word for it in the plan's YAML.
    #[must_use]
    pub fn plan_word(&self) -> &'static str {
        match self {
            Self::Planning { .. } | Self::AwaitingApproval => "planned",
            Self::Building { .. } | Self::Paused { .. } | Self::Blocked { .. } | Self::InReview => "in_progress",
            Self::Completed => "completed",
            Self::Cancelled { .. } | Self::Failed { .. } => "failed",
        }
    }
}
