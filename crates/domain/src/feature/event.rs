//! What happens to a Feature.

use crate::{
    blocked::BlockReason,
    command::Command,
    design::PreLoop,
    effect::{Reply, ReplyTo, Thread, Unsaid},
    evidence::GateReport,
    feature::{
        feature::{Rules, Snapshot},
        preflight::PreFlown,
        state::CancelledWhy,
    },
    ids::{CommentId, Emission, FeatureKey, Millis, PullNumber, Sha, TaskId, User},
    plan::Plan,
    task,
    task::HumanReview,
};
use serde::{Deserialize, Serialize};

/// The integration branch as the feature pull request shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenedOn {
    /// The head that was known before.
    pub known: Option<Sha>,
    /// Its head now.
    pub head: Sha,
    /// The commit of the last wave gate, where the head differs from it in records alone.
    pub gated: Option<Sha>,
}

/// What happens to a Feature after it was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// A valid plan is there.
    Planned {
        /// The effect that ended.
        #[serde(alias = "run")]
        emission: Emission,
        /// The plan with what goes with it.
        planned: Box<Planned>,
    },
    /// No valid plan, also after the repair.
    PlanRefused {
        /// The effect that ended.
        #[serde(alias = "run")]
        emission: Emission,
        /// What is wrong, for people.
        message: String,
    },
    /// The living comment was written or edited.
    LivingShown {
        /// The comment.
        comment: CommentId,
        /// The plan version that it shows.
        version: Option<u32>,
        /// GitHub's time of the edit.
        at: Millis,
    },
    /// Pre-flight ended.
    PreFlown {
        /// The effect that ended.
        #[serde(alias = "run")]
        emission: Emission,
        /// How.
        outcome: Box<PreFlown>,
    },
    /// The integration branch is there, with the plan on it.
    IntegrationOpened {
        /// The effect that ended.
        #[serde(alias = "run")]
        emission: Emission,
        /// The default branch's commit that it was made from.
        base: Sha,
        /// Its head.
        head: Sha,
    },
    /// The default branch was merged.
    DefaultMerged {
        /// The effect that ended.
        #[serde(alias = "run")]
        emission: Emission,
        /// How.
        outcome: DefaultMerge,
    },
    /// The wave gate ended.
    WaveGated {
        /// The effect that ended.
        #[serde(alias = "run")]
        emission: Emission,
        /// The commit.
        head: Sha,
        /// What the Gates found.
        report: Box<GateReport>,
        /// The merge that broke it, where the Gates are red and one could be found.
        #[serde(default)]
        broke: Option<Sha>,
    },
    /// The default branch has a new head.
    DefaultPushed {
        /// It.
        head: Sha,
    },
    /// The default branch does not merge into the integration branch any more.
    DefaultConflicts {
        /// The files.
        files: Vec<String>,
        /// The default branch's commit.
        other: Sha,
    },
    /// A person with write access requests changes on the feature pull request: the body, and each inline comment with
    /// its file and line, is one item.
    ReviewRequested(Box<HumanReview>),
    /// The feature pull request is open.
    PullOpened {
        /// The effect that ended.
        #[serde(alias = "run")]
        emission: Emission,
        /// Its number.
        pull: PullNumber,
        /// What the integration branch is by then; none in events of before this was told.
        #[serde(default)]
        opened: Option<OpenedOn>,
    },
    /// Something could not be said as it should.
    Unsaid(Unsaid),
    /// An effect that the Feature waits for was given up.
    Stuck {
        /// The effect that ended.
        #[serde(alias = "run")]
        emission: Emission,
        /// Why.
        reason: BlockReason,
    },
    /// Something that happens to one task.
    Task {
        /// Which.
        task: TaskId,
        /// What.
        event: task::Event,
    },
    /// A person's command, allowed by their right.
    Commanded(Box<Commanded>),
    /// A command or label that is answered and changes nothing.
    Answered {
        /// Where.
        thread: Thread,
        /// What it answers.
        to: ReplyTo,
        /// With what.
        reply: Reply,
    },
    /// Something ends the Feature.
    Cancelled(CancelledWhy),
    /// The feature pull request was merged by a person.
    PullMerged {
        /// Which.
        pull: PullNumber,
    },
    /// The feature pull request was reopened.
    PullReopened {
        /// Which.
        pull: PullNumber,
        /// Whether the issue has a newer run.
        newer: NewerRun,
    },
    /// A person pushed to the integration branch.
    IntegrationPushed {
        /// The new head.
        head: Sha,
    },
    /// A person wants the checks of a commit again: GitHub's _Re-run_ of a check run or of all.
    Rerun {
        /// The commit.
        head: Sha,
        /// Who.
        by: User,
    },
    /// The installation was suspended.
    Suspended,
    /// The suspension was lifted.
    Unsuspended,
}

/// A valid plan with what was learnt on the way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Planned {
    /// The plan.
    pub plan: Plan,
    /// SHA-256 of it.
    pub hash: String,
    /// What was replaced or added, as sentences.
    pub notes: Vec<String>,
    /// Which commands the Gates will run, as a sentence.
    pub commands: String,
    /// The commit of the default branch that it was made on.
    pub base: Sha,
    /// What the repository's settings allow now.
    pub rules: Rules,
    /// The settings as the adapters read them.
    pub settings: serde_json::Value,
    /// Whether each of its tasks is designed before its first turn; the design of an only task that has one already.
    #[serde(default)]
    pub pre_loop: PreLoop,
}

/// How a merge of the default branch ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DefaultMerge {
    /// There was nothing new.
    UpToDate {
        /// The integration branch's head.
        head: Sha,
        /// The default branch's commit.
        other: Sha,
    },
    /// The integration branch has a new head.
    Merged {
        /// It.
        head: Sha,
        /// The default branch's commit.
        other: Sha,
    },
    /// It needs hands.
    Conflict {
        /// The files.
        files: Vec<String>,
        /// The default branch's commit.
        other: Sha,
    },
}

/// A person's command with everything that its rule needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Commanded {
    /// What they want.
    pub command: Command,
    /// Where they said it.
    pub on: Target,
    /// The thread to answer in.
    pub thread: Thread,
    /// The comment, review or button that says it.
    pub to: ReplyTo,
    /// Who.
    pub by: User,
    /// GitHub's time of it.
    pub written_at: Millis,
    /// What the repository's settings allow now, where the command reads them again.
    pub rules: Option<Rules>,
    /// The settings as the adapters read them, likewise.
    pub settings: Option<serde_json::Value>,
    /// The issue as it is now, where a new plan is made from it.
    pub snapshot: Option<Snapshot>,
    /// Whether the issue has a newer run.
    pub newer: NewerRun,
}

/// What a command is said on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// The issue, or the feature pull request.
    Feature,
    /// A task's pull request.
    Task(TaskId),
}

/// Whether the issue has a newer run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NewerRun {
    /// This is the newest.
    None,
    /// This one is.
    Exists(FeatureKey),
}
