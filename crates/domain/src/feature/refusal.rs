//! The reasons why a command or label is refused.

use crate::{
    blocked::BlockReason,
    command::CommandMistake,
    feature::state::State,
    ids::{FeatureKey, Sha, TaskId},
};
use serde::{Deserialize, Serialize};

/// The way in which a person asks for something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    Label,
    Command,
    Review,
    /// A button of a check run.
    Button,
}

/// How a person without the needed right is related to the repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Asker {
    /// A person with more rights than the public has, or one whose rights are not known.
    Member,
    /// A person with no more rights than the public, in a public repository.
    Anybody,
}

/// The most writes to GitHub per hour and installation that answer people without the needed right. GitHub allows about
/// 500 an hour, and all other work shares them.
const WRITES_AN_HOUR: u32 = 20;

/// The part of them that is reserved for members. A stranger's account costs nothing, so strangers could use up all of
/// them.
const WRITES_FOR_MEMBERS: u32 = 10;

/// The most refusals of one person in an hour.
const REFUSALS_OF_A_PERSON: u32 = 3;

/// The refusals already posted to people without the needed right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RefusalsSaid {
    /// The writes in the installation within the last hour.
    pub writes: u32,
    /// The refusals of the same person there within the last hour.
    pub of_person: u32,
    /// The refusals of the same person in the same thread, at any time.
    pub in_thread: u32,
}

impl RefusalsSaid {
    /// Returns `true` if one more refusal may be posted. The limits keep refusals from crowding out the writes that
    /// others wait for. A stranger gets one reaction per thread, and none of the writes reserved for members.
    pub fn leave_room_for(&self, asker: Asker) -> bool {
        let (is_first, most) = match asker {
            Asker::Anybody => (self.in_thread == 0, WRITES_AN_HOUR - WRITES_FOR_MEMBERS),
            Asker::Member => (true, WRITES_AN_HOUR),
        };
        is_first && self.of_person < REFUSALS_OF_A_PERSON && self.writes.saturating_add(asker.writes()) <= most
    }
}

impl Asker {
    /// Returns the number of writes that a refusal takes: a reaction, and for a member a reply.
    pub fn writes(self) -> u32 {
        match self {
            Self::Anybody => 1,
            Self::Member => 2,
        }
    }
}

/// The commands that are possible instead of one that does not fit the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Possible {
    /// Work has begun: only a new run gets another plan.
    AnotherRun,
    /// Only a plan that waits for approval can be approved.
    WaitingPlan,
    /// Only blocked or paused work can be resumed.
    Stopped,
    /// Only running work can be paused.
    Running,
    /// Tasks can be changed only while the Feature is being built.
    Building,
    /// CI can be let run only while it is held.
    HeldCi,
    /// Only a blocked or paused task can be resumed.
    StoppedTask,
    /// Only a blocked task with a pushed commit can be approved over the Coach.
    PushedTask,
    CompletedStays,
    /// Only a task that is neither blocked nor over can be paused.
    RunningTask,
    Ended,
    /// The button belongs to a check run from when the task was blocked.
    OldButton,
}

/// Why a command or label is refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// AutoBuild could not process it, even after all tries.
    NotLookedAt {
        trigger: Trigger,
        /// Why it could not be processed.
        reason: Box<BlockReason>,
    },
    /// The sender lacks the needed right.
    NoPermission {
        /// The right that the settings ask for.
        needed: String,
        /// How the sender is related to the repository.
        asker: Asker,
    },
    /// GitHub could not confirm or deny the sender's right.
    PermissionUnknown,
    /// The text is no valid command.
    Malformed { reason: CommandMistake, nearest: String },
    /// The issue has no run.
    NoRun,
    /// The label was given while a run is unfinished.
    RunUnfinished { run: FeatureKey },
    /// The label was given by a bot.
    BotLabel,
    /// One task is wanted, but nothing gives its criteria: the issue has no usable check boxes, and no design is made.
    NoCriteria,
    /// The same, because these check boxes of the issue name no check.
    UnboundCriteria { boxes: Vec<String> },
    /// The label was set on a closed issue, or the issue was closed afterwards.
    IssueClosed,
    /// Someone without write access edited the issue after it was labelled.
    EditedSince { by: String },
    /// The run has ended.
    RunEnded { state: String },
    /// A newer run of the issue exists.
    NewerRun { run: FeatureKey },
    /// The state does not allow it.
    NotNow { command: String, state: String, instead: Possible },
    /// The given hash is not that of the plan.
    OtherPlan {
        given: String,
        /// The first eight digits of the hash of the plan in force.
        current: String,
    },
    /// The plan was changed after the comment was written, or was not shown yet.
    PlanChanged {
        /// The first eight digits of the hash of the plan in force.
        current: String,
    },
    /// The Feature has no such task.
    NoSuchTask { task: TaskId, known: Vec<TaskId> },
    /// The command needs the name of a task here.
    NameTheTask { command: String },
    /// The task's commit holds a secret, which nobody can waive.
    SecretFound {
        task: TaskId,
        /// The secret's file, with its line if that is known.
        place: String,
    },
    /// An approving review is about a commit that is not the branch's head.
    StaleReview {
        task: TaskId,
        /// The branch's head now.
        head: Sha,
    },
    /// The state of the task does not allow it.
    TaskNotNow { command: String, task: TaskId, state: String, instead: Possible },
}

impl Refusal {
    /// Returns the refusal of a command that the Feature's state does not allow.
    pub(super) fn not_now(state: &State, command: &str, instead: Possible) -> Self {
        Self::NotNow { command: command.to_owned(), state: state.word().to_owned(), instead }
    }
}

#[cfg(test)]
mod tests {
    use super::{Asker, RefusalsSaid};

    #[test]
    fn refusals_share_twenty_writes_and_strangers_leave_half_for_members() {
        let said = |writes, of_person, in_thread| RefusalsSaid { writes, of_person, in_thread };
        for (said, stranger, member) in [
            (said(0, 0, 0), true, true),
            (said(1, 1, 1), false, true),
            (said(9, 2, 0), true, true),
            (said(10, 0, 0), false, true),
            (said(18, 2, 5), false, true),
            (said(19, 0, 0), false, false),
            (said(20, 0, 0), false, false),
            (said(3, 3, 0), false, false),
        ] {
            assert_eq!(said.leave_room_for(Asker::Anybody), stranger, "{said:?}");
            assert_eq!(said.leave_room_for(Asker::Member), member, "{said:?}");
        }
    }
}
