//! What a Feature remembers: the issue, the rules, the plan, the integration branch, what Gates found.

use crate::{
    ci::CiPolicy,
    evidence::GateReport,
    feature::discussion::Discussion,
    ids::{CommentId, Millis, Sha, TaskId, User},
    plan::Plan,
    task,
};
use serde::{Deserialize, Serialize};

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
