//! Why a command or label is not obeyed.

use crate::{
    blocked::BlockReason,
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
        reason: String,
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
        instead: String,
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
        instead: String,
    },
}

impl Refusal {
    /// The state does not allow the command.
    pub(super) fn not_now(state: &State, command: &str, instead: &str) -> Self {
        Self::NotNow {
            command: command.to_owned(),
            state: state.word().to_owned(),
            instead: instead.to_owned(),
        }
    }
}
