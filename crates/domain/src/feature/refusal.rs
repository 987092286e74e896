//! Why a command or label is not obeyed.

use crate::{
    blocked::BlockReason,
    command::CommandMistake,
    feature::state::State,
    ids::{FeatureKey, Sha, TaskId},
};
use serde::{Deserialize, Serialize};

/// What a person gives to have something done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    /// A label.
    Label,
    /// A command in a comment.
    Command,
    /// A review.
    Review,
    /// A button of a check run.
    Button,
}

/// Who somebody without the needed right is to the repository.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Asker {
    /// Somebody who has more than everybody has, or may have.
    #[default]
    Member,
    /// Anybody: the repository is public, and they have no more than that gives.
    Anybody,
}

/// What is possible instead of a command that does not fit the state. The aliases are the sentences that older versions
/// stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Possible {
    /// Work has begun: only a new run gets another plan.
    #[serde(alias = "cancel, then label again")]
    AnotherRun,
    /// Only a plan that waits for approval can be approved.
    #[serde(alias = "a plan that waits for approval says so in its comment")]
    WaitingPlan,
    /// Only what is blocked or paused can be resumed.
    #[serde(alias = "only what is blocked or paused can be resumed")]
    Stopped,
    /// Only what is running can be paused.
    #[serde(alias = "nothing is running that could be paused")]
    Running,
    /// Tasks can be changed only while the Feature is being built.
    #[serde(alias = "tasks can be changed while the Feature is being built")]
    Building,
    /// Only a blocked or paused task can be resumed.
    #[serde(alias = "only a blocked or paused task can be resumed")]
    StoppedTask,
    /// Only a blocked task with a pushed commit can be approved over the Coach.
    #[serde(alias = "only a blocked task with a pushed commit can be approved over the Coach")]
    PushedTask,
    /// A completed task stays completed.
    #[serde(alias = "a completed task stays completed")]
    CompletedStays,
    /// Only a task that is running can be paused.
    #[serde(alias = "nothing of it is running that could be paused")]
    RunningTask,
    /// The task has ended.
    #[serde(alias = "it has ended already")]
    Ended,
    /// The button belongs to a check run from when the task was blocked.
    #[serde(alias = "the button is of a check run from when it was blocked")]
    OldButton,
}

/// Why a command or label is not obeyed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// It could not be looked at in the end.
    NotLookedAt {
        /// What.
        trigger: Trigger,
        /// What stood in the way.
        reason: Box<BlockReason>,
    },
    /// The sender may not.
    NoPermission {
        /// The right that the settings ask for.
        needed: String,
        /// Who they are to the repository.
        #[serde(default)]
        asker: Asker,
    },
    /// GitHub could not say whether the sender may.
    PermissionUnknown,
    /// Not a command.
    Malformed {
        /// What is wrong.
        reason: CommandMistake,
        /// The nearest valid form.
        nearest: String,
    },
    /// The issue has no run.
    NoRun,
    /// The label was given while a run is unfinished.
    RunUnfinished {
        /// Which.
        run: FeatureKey,
    },
    /// The label was given by a bot.
    BotLabel,
    /// One task is wanted, and nobody may say what must hold: the issue has no check boxes that do, and no design is made.
    NoCriteria,
    /// The same, because these check boxes name no check.
    UnboundCriteria {
        /// What they say.
        boxes: Vec<String>,
    },
    /// The label was given to a closed issue, or the issue was closed since.
    IssueClosed,
    /// Someone without write access edited the issue after it was labelled.
    EditedSince {
        /// Who.
        by: String,
    },
    /// The run has ended.
    RunEnded {
        /// Its state.
        state: String,
    },
    /// A newer run of the issue exists.
    NewerRun {
        /// Which.
        run: FeatureKey,
    },
    /// The state does not allow it.
    NotNow {
        /// The command's word.
        command: String,
        /// The state's word.
        state: String,
        /// What is possible instead.
        instead: Possible,
    },
    /// The given hash is not that of the plan.
    OtherPlan {
        /// Given.
        given: String,
        /// First eight digits of the plan in force.
        current: String,
    },
    /// The plan was changed after the comment was written, or was not shown yet.
    PlanChanged {
        /// First eight digits of the plan in force.
        current: String,
    },
    /// The Feature has no such task.
    NoSuchTask {
        /// Given.
        task: TaskId,
        /// The tasks it has.
        known: Vec<TaskId>,
    },
    /// The command needs a task's name here.
    NameTheTask {
        /// The command's word.
        command: String,
    },
    /// The task's commit holds a secret, which nobody can waive.
    SecretFound {
        /// The task.
        task: TaskId,
        /// Where, as a path with its line.
        place: String,
    },
    /// An approving review is about another commit than the branch's head.
    StaleReview {
        /// The task.
        task: TaskId,
        /// The head now.
        head: Sha,
    },
    /// Its task is in the wrong state.
    TaskNotNow {
        /// The command's word.
        command: String,
        /// The task.
        task: TaskId,
        /// Its state's word.
        state: String,
        /// What is possible instead.
        instead: Possible,
    },
}

impl Refusal {
    /// The state does not allow the command.
    pub(super) fn not_now(state: &State, command: &str, instead: Possible) -> Self {
        Self::NotNow {
            command: command.to_owned(),
            state: state.word().to_owned(),
            instead,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Possible, Refusal};
    use crate::command::CommandMistake;

    #[test]
    fn refusals_that_older_versions_stored_as_sentences_are_read() {
        let stored = r#"{"not_now":{"command":"plan","state":"building","instead":"cancel, then label again"}}"#;
        let Refusal::NotNow { instead, .. } = serde_json::from_str(stored).unwrap() else {
            panic!("{stored}");
        };
        assert_eq!(instead, Possible::AnotherRun);
        let stored = r#"{"malformed":{"reason":"`x` is not a command","nearest":"/autobuild help"}}"#;
        let Refusal::Malformed { reason, .. } = serde_json::from_str(stored).unwrap() else {
            panic!("{stored}");
        };
        assert_eq!(reason, CommandMistake::Stored("`x` is not a command".to_owned()));
    }
}
