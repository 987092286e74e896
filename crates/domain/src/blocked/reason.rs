//! The reasons why a task or a Feature cannot continue by itself, the step that was under way, and the severity.

use crate::{
    blocked::failure::Failure,
    budget::Spent,
    evidence::{Evidence, Unmet},
    feature::{BaseFailures, UncalledTests},
    ids::{TaskId, User},
    inquiry::{Inquirer, Inquiries},
};
use serde::{Deserialize, Serialize};
use text::{mistake::SettingsMistake, words};

/// The reason why no Player may start on the default branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PreFlightFault {
    /// Set-up or tests cannot be run.
    NotRun,
    /// Tests run and none of them passes, so no test could show that a task is done.
    NothingPasses,
    /// A criterion names a test, and the test run prints no names.
    NoNames,
    /// There are tests, and no command was found that runs them.
    NoCommand,
    /// More tests fail than can be excused, or several for one cause. A person may accept that.
    FailingBase,
}

/// The failed run of pre-flight, without the names of its tests and its output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PreFlightCause {
    /// The result of set-up.
    SetUp(Evidence),
    /// The result of the tests.
    Tests(Evidence),
    /// A criterion names a test, and the test run prints no names.
    NoNames { task: TaskId, test: String, tests: Evidence },
    /// A task needs tests, and no command was found that runs the existing ones.
    NoCommand { task: TaskId, tests: UncalledTests },
    /// The failing tests, and the signs in their output that this machine lacks something.
    Failing(BaseFailures),
}

/// The reason why a task or a Feature cannot continue by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BlockReason {
    /// Every allowed turn ended with feedback.
    OutOfTurns { turns: u32 },
    /// Two turns in a row changed nothing.
    NoChangeTwice,
    /// The same issues came back in three turns in a row.
    SameIssues,
    /// A limit of money, tokens or time is used up.
    BudgetSpent(Spent),
    /// A step failed, and no further try resolved that.
    Failed {
        step: WorkStep,
        failure: Failure,
        /// The end of an agent's output, masked and shortened; empty if there is none.
        printed: String,
    },
    /// A required Gate could not run.
    GatesAbsent {
        /// Each such Gate, and why it could not run.
        reasons: Vec<Unmet>,
    },
    /// An agent asks a person.
    Inquiry { by: Inquirer, inquiries: Inquiries },
    /// A person's request for changes is still open although the Coach approves.
    OpenReview { by: User },
    /// A person paused this task.
    Paused { by: User },
    /// A task that this one depends on was given up.
    NeedGone { task: TaskId },
    /// After a force-push, the branch is no longer based on the integration branch.
    ForcePushed { by: User },
    /// A branch rule forbids the branch's name or a push.
    BranchRule { rule: String },
    /// Set-up or tests of the default branch cannot be run.
    PreFlightFailed { fault: PreFlightFault, what: Box<PreFlightCause>, output: String },
    /// The default branch conflicts with the integration branch, and a person must merge it.
    DefaultConflict {
        files: Vec<String>,
        /// The task that should have resolved the conflict, and was given up.
        given_up: Option<TaskId>,
    },
    /// The merged result of a wave failed its Gates.
    WaveGateRed { failures: Vec<Unmet> },
    /// Tasks of the wave wait for a person.
    TasksBlocked { tasks: Vec<TaskId> },
    /// The repository's settings cannot be read.
    BadSettings { mistakes: Vec<SettingsMistake> },
    /// The service crashed three times during the same step.
    Crashed { step: WorkStep },
}

impl BlockReason {
    pub fn severity(&self) -> Severity {
        match self {
            Self::Failed { failure, .. } if failure.is_agents() => Severity::Major,
            Self::BudgetSpent(_)
            | Self::Inquiry { .. }
            | Self::OpenReview { .. }
            | Self::Paused { .. }
            | Self::NeedGone { .. }
            | Self::TasksBlocked { .. } => Severity::Minor,
            Self::OutOfTurns { .. }
            | Self::NoChangeTwice
            | Self::SameIssues
            | Self::ForcePushed { .. }
            | Self::DefaultConflict { .. }
            | Self::WaveGateRed { .. } => Severity::Major,
            Self::GatesAbsent { .. }
            | Self::Failed { .. }
            | Self::BranchRule { .. }
            | Self::PreFlightFailed { .. }
            | Self::BadSettings { .. }
            | Self::Crashed { .. } => Severity::Critical,
        }
    }

    /// `true` if the task was blocked because its turns made no progress.
    pub fn is_stuck(&self) -> bool {
        matches!(self, Self::OutOfTurns { .. } | Self::NoChangeTwice | Self::SameIssues)
    }

    /// Returns the reason for a failure of a step without output of an agent.
    pub fn failed(step: WorkStep, failure: Failure) -> Self {
        Self::Failed { step, failure, printed: String::new() }
    }

    /// Returns the failure of an agent that is the reason, if it is one.
    pub fn agent_failure(&self) -> Option<&Failure> {
        if let Self::Failed { failure, .. } = self { Some(failure).filter(|failure| failure.is_agents()) } else { None }
    }
}

/// The step that was under way, by the kind of its effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkStep {
    Plan,
    /// Checking the default branch.
    PreFlight,
    /// Creating the integration branch.
    OpenIntegration,
    MergeDefault,
    /// Running the Gates on the integration branch.
    WaveGate,
    /// Opening the pull request into the default branch.
    OpenFeaturePull,
    Design,
    /// Running the Player.
    Play,
    /// Opening a task's pull request.
    OpenPull,
    Gates,
    /// Reading the repository's CI.
    Ci,
    Coach,
    PostReview,
    PublishCheck,
    /// Merging a task's pull request.
    Merge,
    #[serde(rename = "looking_at_it")]
    HandleAct,
    /// An effect that no state waits for.
    Other(String),
}

impl WorkStep {
    /// Returns the step that an effect of this kind performs.
    pub fn of_kind(kind: &str) -> Self {
        serde_json::from_value(kind.into()).unwrap_or_else(|_| Self::Other(kind.to_owned()))
    }
}

words! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Severity {
        /// Only a person's decision is missing.
        Minor = "minor",
        /// The work cannot succeed by itself.
        Major = "major",
        /// No work of this kind can continue until someone fixes the environment.
        Critical = "critical",
    }
}

#[cfg(test)]
mod tests {
    use super::{BlockReason, WorkStep};
    use crate::blocked::{Defect, Failure};

    #[test]
    fn every_reason_is_stored_and_read_back() {
        let defect = Failure::Defect { defect: Defect::NoIntegrationBranch };
        let reason = BlockReason::failed(WorkStep::of_kind("open_integration"), defect);
        let stored = serde_json::to_string(&reason).unwrap();
        assert_eq!(serde_json::from_str::<BlockReason>(&stored).unwrap(), reason);
    }
}
