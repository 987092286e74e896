//! Why a Task or a Feature cannot go on by itself.

use crate::{
    blocked::{doing::Doing, failure::AgentFailure, fault::Fault, severity::Severity},
    budget::SpentBudget,
    ids::{TaskId, User},
};
use serde::{Deserialize, Serialize};

/// What pre-flight found that keeps Players from starting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PreFlightFault {
    /// Set-up or tests cannot be run.
    #[default]
    NotRun,
    /// Tests run, and none passes: nothing that a task does could be told from what was so before.
    NothingPasses,
    /// A criterion is bound to a test by name, and nothing names the tests.
    NoNames,
}

/// Why a Task or a Feature cannot go on by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum BlockReason {
    /// Every allowed turn ended with feedback.
    #[error("all {turns} turns are used up and the last one was not approved")]
    OutOfTurns {
        /// How many there were.
        turns: u32,
    },
    /// Two turns in a row changed nothing.
    #[error("two turns in a row changed nothing")]
    NoChangeTwice,
    /// The same issues came back three turns running.
    #[error("three turns in a row ended with the same issues")]
    SameIssues,
    /// The money, tokens or time allowed are used up.
    #[error("the budget is spent")]
    BudgetSpent(SpentBudget),
    /// An agent gave no usable result after every try.
    #[error("no usable result of an agent: {failure}")]
    AgentFailed {
        /// How.
        failure: AgentFailure,
        /// What its program printed last, masked and shortened.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        printed: String,
    },
    /// A Gate that the profile demands could not run.
    #[error("a Gate could not run: {}", .reasons.join("; "))]
    GatesAbsent {
        /// Which and why, as sentences.
        reasons: Vec<String>,
    },
    /// A person's request for changes is open although the Coach approves.
    #[error("the request for changes of {login} is open", login = .by.login)]
    OpenReview {
        /// Whose.
        by: User,
    },
    /// A person asked to pause this task.
    #[error("paused by {login}", login = .by.login)]
    Paused {
        /// Who.
        by: User,
    },
    /// A task that this one needs was given up.
    #[error("it needs {task}, which was given up")]
    NeedGone {
        /// Which.
        task: TaskId,
    },
    /// The branch was force-pushed off the integration branch's history.
    #[error("{login} force-pushed its branch off the history of the integration branch", login = .by.login)]
    ForcePushed {
        /// By whom.
        by: User,
    },
    /// The forge refused something that the work cannot do without.
    #[error("GitHub refused {doing}: {said}")]
    ForgeRefused {
        /// What was asked of it.
        doing: Doing,
        /// Its words.
        said: String,
    },
    /// Something else failed that the work cannot do without: at GitHub, in the repository, on our own machine.
    #[error("{doing}: {fault}")]
    Failed {
        /// What was being done.
        doing: Doing,
        /// What failed.
        fault: Fault,
    },
    /// The branch rules forbid a name or a push.
    #[error("a rule forbids its branches: {rule}")]
    BranchRule {
        /// The rule as the forge names it.
        rule: String,
    },
    /// Set-up or tests of the default branch cannot be run.
    #[error("pre-flight: {what}")]
    PreFlightFailed {
        /// What is wrong.
        #[serde(default)]
        fault: PreFlightFault,
        /// Which command, and how it ended.
        what: String,
        /// Its output, shortened.
        output: String,
    },
    /// Merging the default branch needs hands.
    #[error("the default branch conflicts with the integration branch in {}", named(.files))]
    DefaultConflict {
        /// The files.
        files: Vec<String>,
        /// The task that was to resolve it, and was given up.
        #[serde(default)]
        given_up: Option<TaskId>,
    },
    /// The merged result of a wave does not hold.
    #[error("the merged result of the wave does not hold: {}", .failures.join("; "))]
    WaveGateRed {
        /// What failed, as sentences.
        failures: Vec<String>,
    },
    /// Tasks of the wave wait for a person.
    #[error("{} wait for a person", named(.tasks))]
    TasksBlocked {
        /// Which.
        tasks: Vec<TaskId>,
    },
    /// The repository's settings cannot be read.
    #[error("the repository's settings cannot be read: {}", .mistakes.join("; "))]
    BadSettings {
        /// Each mistake as a sentence.
        mistakes: Vec<String>,
    },
    /// The service ended three times while it did this.
    #[error("AutoBuild was cut off three times during this: {doing}")]
    Crashed {
        /// What it was doing.
        doing: Doing,
    },
}

/// Names of things, shortened to what a sentence can bear.
fn named<T: std::fmt::Display>(things: &[T]) -> String {
    let shown: Vec<String> = things.iter().take(10).map(T::to_string).collect();
    match things.len().saturating_sub(10) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

impl BlockReason {
    /// How bad it is.
    #[must_use]
    pub fn severity(&self) -> Severity {
        match self {
            Self::BudgetSpent(_)
            | Self::OpenReview { .. }
            | Self::Paused { .. }
            | Self::NeedGone { .. }
            | Self::TasksBlocked { .. } => Severity::Minor,
            Self::OutOfTurns { .. }
            | Self::NoChangeTwice
            | Self::SameIssues
            | Self::AgentFailed { .. }
            | Self::ForcePushed { .. }
            | Self::DefaultConflict { .. }
            | Self::WaveGateRed { .. } => Severity::Major,
            Self::GatesAbsent { .. }
            | Self::ForgeRefused { .. }
            | Self::Failed { .. }
            | Self::BranchRule { .. }
            | Self::PreFlightFailed { .. }
            | Self::BadSettings { .. }
            | Self::Crashed { .. } => Severity::Critical,
        }
    }
}

impl BlockReason {
    /// The reason that follows from a failure during `doing`, which no try mended.
    #[must_use]
    pub fn of_fault(doing: Doing, fault: Fault) -> Self {
        match fault {
            Fault::Refused { said } => Self::ForgeRefused { doing, said },
            Fault::Unreachable { .. }
            | Fault::History { .. }
            | Fault::Repository { .. }
            | Fault::DiskFull { .. }
            | Fault::NoProgram { .. }
            | Fault::Isolation { .. }
            | Fault::Database { .. }
            | Fault::Unreadable { .. }
            | Fault::Git { .. }
            | Fault::Machine { .. }
            | Fault::Defect { .. } => Self::Failed { doing, fault },
        }
    }
}
