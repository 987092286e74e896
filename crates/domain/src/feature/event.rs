//! The events of a Feature.

use crate::{
    blocked::BlockReason,
    command::Command,
    design::PreLoop,
    effect::{FailedAct, Reply, ReplyTo, Thread},
    evidence::{GateReport, GateResult},
    exposure::Exposure,
    feature::{
        feature::{Rules, Snapshot},
        preflight::PreFlightOutcome,
        state::CancelledWhy,
    },
    ids::{CommentId, Emission, FeatureKey, InstallationId, Millis, PullNumber, Sha, TaskId, User},
    inquiry::{Inquirer, Inquiries},
    plan::{Plan, parse::PlanAuthor},
    task,
    task::HumanReview,
};
use serde::{Deserialize, Serialize};

/// The integration branch when the feature pull request was opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenedOn {
    /// The head that the Feature knew before.
    pub known: Option<Sha>,
    /// The branch's head now.
    pub head: Sha,
    /// The commit of the last wave gate, if the head differs from it only in records.
    pub gated: Option<Sha>,
    /// The branch with that head; `None` for the one that the Feature knows.
    #[serde(default)]
    pub branch: Option<String>,
}

/// An event of a Feature that exists already. Its `emission` is that of the effect that ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// A valid plan was made.
    Planned {
        emission: Emission,
        /// The plan, with the facts that were found while it was made.
        planned: Box<Planned>,
    },
    /// The planner, or the designer of an only task, ended with inquiries.
    Inquired { emission: Emission, inquired: Box<Inquired> },
    /// There is no valid plan, even after the repair.
    PlanRefused {
        emission: Emission,
        author: PlanAuthor,
        /// The mistakes in the plan, as a text for people.
        message: String,
    },
    /// The living comment was written or edited.
    LivingShown {
        comment: CommentId,
        version: Option<u32>,
        /// GitHub's time of the edit.
        at: Millis,
    },
    /// Pre-flight ended.
    PreFlown { emission: Emission, outcome: Box<PreFlightOutcome> },
    /// The integration branch exists, with the plan on it.
    IntegrationOpened {
        emission: Emission,
        /// The default branch's commit that it was made from.
        base: Sha,
        head: Sha,
    },
    /// The merge of the default branch ended.
    DefaultMerged { emission: Emission, outcome: DefaultMerge },
    /// A pushed tree has more workflows than the Feature knows, or workflows that give more.
    CiExposed { exposure: Exposure },
    /// The wave gate ended.
    WaveGated {
        emission: Emission,
        /// The commit that the Gates ran on.
        head: Sha,
        report: Box<GateReport>,
        /// The merge that broke the result, if the Gates failed and one was found.
        broke: Option<Sha>,
    },
    /// The repository's own CI has ended on the feature pull request.
    CiRead {
        emission: Emission,
        /// The commit that CI ran on.
        head: Sha,
        result: Box<GateResult>,
    },
    /// The default branch has a new head.
    DefaultPushed { head: Sha },
    /// The default branch no longer merges into the integration branch.
    DefaultConflicts {
        files: Vec<String>,
        /// The default branch's commit.
        other: Sha,
    },
    /// A person with write access requests changes on the feature pull request. The review's body is one item, and so
    /// is each inline comment, with its file and line.
    ReviewRequested(Box<HumanReview>),
    /// The feature pull request is open.
    PullOpened { emission: Emission, pull: PullNumber, opened: OpenedOn },
    /// Something could not be said or done as intended.
    #[serde(rename = "unsaid")]
    FailedAct(FailedAct),
    /// An effect that the Feature waits for was given up.
    Stuck { emission: Emission, reason: BlockReason },
    /// An event of one task.
    Task { task: TaskId, event: task::Event },
    /// A person gave a command, with the right to do so.
    Commanded(Box<Commanded>),
    /// A command or label got an answer and changed nothing.
    Answered { thread: Thread, to: ReplyTo, reply: Reply },
    /// The Feature was cancelled.
    Cancelled(CancelledWhy),
    /// A person merged the feature pull request.
    PullMerged { pull: PullNumber },
    /// The feature pull request was reopened.
    PullReopened { pull: PullNumber, newer: NewerRun },
    /// A person pushed to the integration branch.
    IntegrationPushed { head: Sha },
    /// A person asked to check a commit again: GitHub's _Re-run_ of one check run or of all.
    Rerun {
        /// The commit to check again.
        head: Sha,
        by: User,
    },
    /// The installation was suspended.
    Suspended,
    /// The suspension was lifted.
    Unsuspended,
    /// Another installation gives access to the repository now, for example after a transfer.
    InstallationChanged { installation: InstallationId },
}

/// The inquiries of a planner, with the settings as they were read for its run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Inquired {
    /// The agent that asks.
    pub by: Inquirer,
    pub inquiries: Inquiries,
    /// The parts of the repository's settings that the rules need, as they are now.
    pub rules: Rules,
    /// The settings as the adapters read them.
    pub settings: serde_json::Value,
}

/// A valid plan, with the facts that were found while it was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Planned {
    pub plan: Plan,
    /// The plan's SHA-256 hash, in hexadecimal.
    pub hash: String,
    /// The things that AutoBuild replaced in it or added to it, as sentences.
    pub notes: Vec<String>,
    /// The commands that the Gates will run, as a sentence.
    pub commands: String,
    /// The commit of the default branch that the plan was made on.
    pub base: Sha,
    /// The parts of the repository's settings that the rules need, as they are now.
    pub rules: Rules,
    /// The settings as the adapters read them.
    pub settings: serde_json::Value,
    /// The rights and secrets that CI would give to the code.
    #[serde(default)]
    pub exposure: Exposure,
    /// The state of the design of each task. An only task may have its design already.
    pub pre_loop: PreLoop,
}

/// How a merge of the default branch ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DefaultMerge {
    /// The default branch had nothing new.
    UpToDate {
        head: Sha,
        /// The default branch's commit.
        other: Sha,
    },
    /// The integration branch has a new head.
    Merged {
        head: Sha,
        /// The default branch's commit.
        other: Sha,
    },
    /// The branches conflict, so someone has to resolve the merge.
    Conflict {
        files: Vec<String>,
        /// The default branch's commit.
        other: Sha,
    },
}

/// A person's command, with everything that its rule needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Commanded {
    pub command: Command,
    /// The Feature or task that the command is for.
    pub on: Target,
    pub thread: Thread,
    /// The comment, review or button that gave the command.
    pub to: ReplyTo,
    pub by: User,
    /// GitHub's time of the comment, review or button.
    pub written_at: Millis,
    /// The rules from the repository's settings as they are now, if the command reads the settings again.
    pub rules: Option<Rules>,
    /// The repository's settings as the adapters read them, if the command reads them again.
    pub settings: Option<serde_json::Value>,
    /// The rights and secrets that CI would give to the code now, if the command reads the settings again.
    #[serde(default)]
    pub exposure: Option<Exposure>,
    /// The issue as it is now, if a new plan is made from it.
    pub snapshot: Option<Snapshot>,
    /// The newer run of the issue, if there is one.
    pub newer: NewerRun,
}

/// The subject of a command, which follows from the page on which it was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// The Feature: the issue or the feature pull request.
    Feature,
    /// One task: its pull request.
    Task(TaskId),
}

/// The newer run of the issue, if there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NewerRun {
    /// This run is the newest.
    None,
    Exists(FeatureKey),
}
