//! What happens to a Task.

use crate::{
    blocked::{AgentFailure, BlockReason},
    contract::Judgement,
    decision::Issue,
    design::Design,
    evidence::{GateReport, GateResult},
    ids::{Emission, PullNumber, ReviewId, Sha, TaskId, User},
    report::{Discrepancy, PlayerReport},
    task::task::HumanReview,
};
use serde::{Deserialize, Serialize};

/// What happens to a Task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// Its wave is open.
    Begin,
    /// The designer ended.
    Designed {
        /// The effect that ended.
        #[serde(alias = "run")]
        emission: Emission,
        /// The design; `None` where the settings no longer ask for one.
        #[serde(default)]
        design: Option<Box<Design>>,
    },
    /// The Player ended.
    Played {
        /// The effect that ended.
        #[serde(alias = "run")]
        emission: Emission,
        /// How.
        outcome: Box<Played>,
    },
    /// The pull request is open.
    PullOpened {
        /// Its number.
        pull: PullNumber,
        /// Its branch: one attempt's pull request is not the next one's.
        branch: String,
    },
    /// The Gates ended.
    Gated {
        /// The effect that ended.
        #[serde(alias = "run")]
        emission: Emission,
        /// The commit they ran on.
        head: Sha,
        /// What they found.
        report: Box<GateReport>,
        /// Claims of the Player that the tree or the Gates contradict.
        discrepancies: Vec<Discrepancy>,
    },
    /// CI said its last word, or its time is over.
    CiRead {
        /// The effect that ended.
        #[serde(alias = "run")]
        emission: Emission,
        /// The commit.
        head: Sha,
        /// What it comes to.
        result: Box<GateResult>,
    },
    /// The Coach ended, and the contracts were checked.
    Judged {
        /// The effect that ended.
        #[serde(alias = "run")]
        emission: Emission,
        /// The commit.
        head: Sha,
        /// What stands.
        judgement: Box<Judgement>,
        /// What the commands that the Coach asked for showed.
        #[serde(default)]
        probes: Vec<GateResult>,
    },
    /// The Coach gave no usable answer after every try.
    CoachFailed {
        /// The effect that ended.
        #[serde(alias = "run")]
        emission: Emission,
        /// Why.
        failure: AgentFailure,
        /// What its program printed last.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        printed: String,
    },
    /// The pull request is merged by us.
    Merged {
        /// The effect that ended.
        #[serde(alias = "run")]
        emission: Emission,
        /// The commit on the integration branch.
        commit: Sha,
    },
    /// A rule refused the merge.
    MergeRefused {
        /// The effect that ended.
        #[serde(alias = "run")]
        emission: Emission,
        /// GitHub's words.
        rule: String,
    },
    /// The branch conflicts with what was merged meanwhile.
    MergeConflict {
        /// The effect that ended.
        #[serde(alias = "run")]
        emission: Emission,
        /// The files.
        files: Vec<String>,
    },
    /// The integration branch had moved on and was merged into the branch: what came of that is not verified yet.
    CaughtUp {
        /// The effect that ended.
        #[serde(alias = "run")]
        emission: Emission,
        /// The branch's new head.
        head: Sha,
    },
    /// An effect that the task waits for was given up.
    Stuck {
        /// The effect that ended.
        #[serde(alias = "run")]
        emission: Emission,
        /// Why.
        reason: BlockReason,
    },
    /// A task it needs was given up.
    NeedGone {
        /// Which.
        task: TaskId,
    },
    /// A task it needs, which was given up, is being built again.
    NeedBack {
        /// Which.
        task: TaskId,
    },
    /// Something that a person did.
    Person {
        /// Who.
        by: User,
        /// What.
        did: PersonDid,
    },
    /// The Feature ended.
    FeatureCancelled {
        /// By whom, where it was a person.
        by: Option<User>,
    },
}

/// How a Player run ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Played {
    /// Its work is pushed.
    Pushed {
        /// The commit it started from.
        base: Sha,
        /// The commit pushed.
        head: Sha,
        /// What the Player says.
        report: PlayerReport,
    },
    /// Nothing changed.
    NoChange {
        /// The commit it started from.
        base: Sha,
        /// What the Player says.
        report: PlayerReport,
    },
    /// The commit may not be pushed; it is kept under a held ref.
    Held {
        /// The commit it started from.
        base: Sha,
        /// What the Player says.
        report: PlayerReport,
        /// Why, for the Player.
        items: Vec<Issue>,
    },
    /// The branch has another head than stored: a person pushed meanwhile.
    Overtaken {
        /// The head now.
        head: Sha,
    },
    /// No usable result after every try.
    Failed {
        /// Why.
        failure: AgentFailure,
        /// What its program printed last.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        printed: String,
        /// A commit with what there was, if the tree had changed.
        partial: Option<Sha>,
    },
    /// It may not go on, whatever it would do.
    Stopped {
        /// Why.
        reason: BlockReason,
        /// A commit with what there was, if the tree had changed.
        partial: Option<Sha>,
    },
}

/// What a person does to a Task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PersonDid {
    /// `/autobuild resume`.
    Resume {
        /// Words to the Player.
        guidance: Option<String>,
        /// How many turns more.
        turns: u32,
    },
    /// `/autobuild approve` on a blocked task.
    Override,
    /// Approves in a review: that takes their own requests for changes back, and overrides where the task stays blocked.
    Approve {
        /// The review.
        review: ReviewId,
        /// The commit that was looked at; only the branch's head can be approved.
        commit: Option<Sha>,
    },
    /// `/autobuild retry`.
    Retry {
        /// How many turns the new attempt has.
        turns: u32,
    },
    /// `/autobuild skip`.
    Skip,
    /// `/autobuild pause` on the task's pull request.
    Pause,
    /// `/autobuild cancel` on the task's pull request.
    Cancel,
    /// Closes the task's pull request without merging it.
    ClosePull {
        /// Which.
        pull: PullNumber,
    },
    /// Reopens the task's pull request.
    ReopenPull {
        /// Which.
        pull: PullNumber,
        /// How many turns it has from here.
        turns: u32,
    },
    /// Merges the task's pull request.
    MergePull {
        /// The commit on the integration branch.
        commit: Option<Sha>,
    },
    /// Pushes to the task's branch.
    Push {
        /// The branch's head as it is when the event is made, which may be newer than the push.
        head: Sha,
    },
    /// Wants the checks of a commit again: GitHub's _Re-run_.
    Rerun {
        /// The commit.
        head: Sha,
    },
    /// Pushes a head that does not contain the integration branch's history.
    ForcePush {
        /// The new head.
        head: Sha,
    },
    /// Requests changes.
    RequestChanges(HumanReview),
    /// Takes requests for changes back, this one and those before it.
    WithdrawChanges {
        /// The newest that is taken back.
        until: ReviewId,
    },
    /// Reviews without deciding anything.
    Remark(HumanReview),
}
