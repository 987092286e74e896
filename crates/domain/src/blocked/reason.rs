//! Why a Task or a Feature cannot go on by itself.

use crate::{
    blocked::{doing::Doing, failure::AgentFailure, fault::Fault, severity::Severity},
    budget::SpentBudget,
    evidence::Evidence,
    ids::{TaskId, User},
    mistake::SettingsMistake,
};
use serde::{Deserialize, Serialize};

/// Why no Player may start on the default branch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PreFlightFault {
    /// Set-up or tests cannot be run.
    #[default]
    NotRun,
    /// Tests run and none of them passes, so no test could show that a task is done.
    NothingPasses,
    /// A criterion names a test, and the test run prints no names.
    NoNames,
}

/// The run that stopped pre-flight, without the names of its tests and its output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PreFlightCause {
    /// How set-up ended.
    SetUp(Evidence),
    /// How the tests ended.
    Tests(Evidence),
    /// A criterion names a test, and the test run prints no names.
    NoNames {
        /// The criterion's task.
        task: TaskId,
        /// The test that it names.
        test: String,
        /// How the tests ended.
        tests: Evidence,
    },
    /// The sentence that an older version stored.
    #[serde(untagged)]
    Stored(String),
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
        /// The end of its output, masked and shortened.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        printed: String,
    },
    /// A Gate that the task needs could not run.
    #[error("a Gate could not run: {}", .reasons.join("; "))]
    GatesAbsent {
        /// Each such Gate and why it could not run, in a sentence.
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
    /// GitHub refused a step that the work cannot do without.
    #[error("GitHub refused {doing}: {said}")]
    ForgeRefused {
        /// The step that GitHub refused.
        doing: Doing,
        /// GitHub's words.
        said: String,
    },
    /// A step failed for another reason: at GitHub, in the repository or on the machine of the service.
    #[error("{doing}: {fault}")]
    Failed {
        /// The step that failed.
        doing: Doing,
        /// How it failed.
        fault: Fault,
    },
    /// The branch rules forbid a name or a push.
    #[error("a rule forbids its branches: {rule}")]
    BranchRule {
        /// The rule as the forge names it.
        rule: String,
    },
    /// Set-up or tests of the default branch cannot be run.
    #[error("pre-flight: {what:?}")]
    PreFlightFailed {
        /// The kind of failure.
        #[serde(default)]
        fault: PreFlightFault,
        /// The run that failed.
        what: PreFlightCause,
        /// Its output, shortened.
        output: String,
    },
    /// The default branch conflicts with the integration branch, and a person has to merge it.
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
        /// Each failed Gate, in a sentence.
        failures: Vec<String>,
    },
    /// Tasks of the wave wait for a person.
    #[error("{} wait for a person", named(.tasks))]
    TasksBlocked {
        /// Which.
        tasks: Vec<TaskId>,
    },
    /// The repository's settings cannot be read.
    #[error("the repository's settings cannot be read: {mistakes:?}")]
    BadSettings {
        /// Each mistake.
        mistakes: Vec<SettingsMistake>,
    },
    /// The service crashed three times during the same step.
    #[error("AutoBuild was cut off three times during this: {doing}")]
    Crashed {
        /// The step.
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
