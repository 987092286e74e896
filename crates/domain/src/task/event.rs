//! The events of a Task.

use crate::{
    blocked::{BlockReason, Failure},
    contract::Judgement,
    design::Design,
    evidence::{GateReport, GateResult},
    ids::{Emission, PullNumber, ReviewId, Sha, TaskId, User},
    inquiry::Inquiries,
    problem::ReviewItem,
    report::{Discrepancy, LeftOut, PlayerReport},
    task::task::HumanReview,
};
use serde::{Deserialize, Serialize};

/// An event of a Task. Its `emission` is that of the effect that ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// Its wave is open.
    Begin,
    /// The designer ended.
    Designed {
        emission: Emission,
        /// The design; `None` if the settings no longer ask for one.
        design: Option<Box<Design>>,
    },
    /// The designer or the Player ended with inquiries.
    Inquired {
        emission: Emission,
        inquiries: Inquiries,
        /// A commit with the work so far, if the tree had changed.
        partial: Option<Sha>,
    },
    /// The Player ended.
    Played { emission: Emission, outcome: Box<PlayerOutcome> },
    /// The pull request is open.
    PullOpened {
        pull: PullNumber,
        /// The pull request's branch, since each attempt has its own branch and pull request.
        branch: String,
    },
    /// The Gates ended.
    Gated {
        emission: Emission,
        /// The commit that they ran on.
        head: Sha,
        report: Box<GateReport>,
        /// Claims of the Player's report that the tree or the Gates contradict.
        discrepancies: Vec<Discrepancy>,
    },
    /// CI has finished, or its time limit is over.
    CiRead {
        emission: Emission,
        /// The commit that CI ran on.
        head: Sha,
        result: Box<GateResult>,
    },
    /// The Coach ended, and the contracts were checked.
    Judged {
        emission: Emission,
        head: Sha,
        judgement: Box<Judgement>,
        /// The results of the commands that the Coach asked for.
        probes: Vec<GateResult>,
    },
    /// The Coach gave no usable answer, even after all tries.
    CoachFailed {
        emission: Emission,
        failure: Failure,
        /// The last output of the Coach's program.
        printed: String,
    },
    /// AutoBuild merged the pull request.
    Merged { emission: Emission, commit: Sha },
    /// A rule of the repository refused the merge.
    MergeRefused {
        emission: Emission,
        /// GitHub's error text.
        rule: String,
    },
    /// The branch conflicts with work that was merged in the meantime.
    MergeConflict { emission: Emission, files: Vec<String> },
    /// The integration branch had moved on, so it was merged into the task's branch. Nothing has verified the result.
    CaughtUp {
        emission: Emission,
        /// The branch's new head.
        head: Sha,
    },
    /// An effect that the task waits for was given up.
    Stuck { emission: Emission, reason: BlockReason },
    /// A task that this one needs was given up.
    NeedGone {
        /// The task that was given up.
        task: TaskId,
    },
    /// A task that this one needs, and that was given up, is being built again.
    NeedBack {
        /// The task that is built again.
        task: TaskId,
    },
    /// A person did something.
    Person { by: User, did: PersonDid },
    /// The Feature ended or does not need the task any more.
    FeatureCancelled {
        /// The person who ended the Feature, if a person did.
        by: Option<User>,
    },
}

/// The result of a Player's run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlayerOutcome {
    /// The Player's work was pushed.
    Pushed {
        base: Sha,
        head: Sha,
        report: PlayerReport,
        /// New files that ignore rules kept out of the commit.
        left_out: Vec<LeftOut>,
    },
    /// The Player changed nothing.
    NoChange {
        /// The last commit that was judged, or the commit where the task's branch starts.
        base: Sha,
        /// The branch's head; `None` if nothing is pushed.
        head: Option<Sha>,
        report: PlayerReport,
        /// New files that ignore rules kept out of the commit.
        left_out: Vec<LeftOut>,
    },
    /// The commit must not be pushed; it is kept under a held ref.
    Held {
        base: Sha,
        report: PlayerReport,
        /// New files that ignore rules kept out of the commit.
        left_out: Vec<LeftOut>,
        /// Why the commit must not be pushed, as issues for the Player.
        items: Vec<ReviewItem>,
    },
    /// The branch's head is not the stored one: a person pushed in the meantime.
    Overtaken {
        /// The branch's head now.
        head: Sha,
    },
    /// The Player gave no usable result, even after all tries.
    Failed {
        failure: Failure,
        /// The last output of the Player's program.
        printed: String,
        /// A commit with the unfinished work, if the tree had changed.
        partial: Option<Sha>,
    },
    /// The Player must not continue after any result.
    Stopped {
        /// Why it must not continue.
        reason: BlockReason,
        /// A commit with the unfinished work, if the tree had changed.
        partial: Option<Sha>,
    },
}

impl PlayerOutcome {
    /// Returns the new files that ignore rules kept out; `None` if the run gave no result.
    pub(super) fn left_out(&self) -> Option<&[LeftOut]> {
        match self {
            Self::Pushed { left_out, .. } | Self::NoChange { left_out, .. } | Self::Held { left_out, .. } => {
                Some(left_out)
            }
            Self::Overtaken { .. } | Self::Failed { .. } | Self::Stopped { .. } => None,
        }
    }
}

/// An act of a person that changes a Task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PersonDid {
    /// `/autobuild resume`.
    Resume {
        guidance: Option<String>,
        /// The number of turns that the task gets in addition.
        turns: u32,
    },
    /// `/autobuild approve` on a blocked task.
    Override,
    /// An approving review. It withdraws the person's own requests for changes, and overrides a block that remains.
    Approve {
        review: ReviewId,
        /// The commit that was reviewed; only the branch's head can be approved.
        commit: Option<Sha>,
    },
    /// `/autobuild retry`.
    Retry {
        /// The number of turns that the new attempt gets.
        turns: u32,
    },
    /// `/autobuild skip`.
    Skip,
    /// `/autobuild pause` on the task's pull request.
    Pause,
    /// `/autobuild cancel` on the task's pull request.
    Cancel,
    /// The task's pull request was closed without a merge.
    ClosePull {
        /// The pull request that was closed.
        pull: PullNumber,
    },
    /// The task's pull request was reopened.
    ReopenPull {
        /// The pull request that was reopened.
        pull: PullNumber,
        /// The number of turns that the task gets from here on.
        turns: u32,
    },
    /// The task's pull request was merged.
    MergePull {
        commit: Option<Sha>,
        /// The head that was merged, if GitHub says it.
        #[serde(default)]
        head: Option<Sha>,
    },
    /// A push to the task's branch.
    Push {
        /// The branch's head at the time when the event is made, which may be newer than the push.
        head: Sha,
    },
    /// A request to check a commit again: GitHub's _Re-run_.
    Rerun {
        /// The commit to check again.
        head: Sha,
    },
    /// A push of a head that does not contain the integration branch's history.
    ForcePush { head: Sha },
    /// A review that requests changes.
    RequestChanges(HumanReview),
    /// The person withdraws requests for changes: the given one and all of theirs before it.
    WithdrawChanges {
        /// The newest request that is withdrawn.
        until: ReviewId,
    },
    /// A review that neither approves nor requests changes.
    Remark(HumanReview),
}
