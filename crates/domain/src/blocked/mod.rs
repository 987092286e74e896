//! Why work stops until a person decides, and the report that this person gets. When to block is the machines' part.

mod class;
mod cut;
mod fault;
mod report;
mod word;

use crate::ids::{TaskId, User};
pub use crate::{
    blocked::{
        class::FailureClass,
        cut::Cut,
        fault::{Fault, Passes},
        report::{Approvable, BlockedReport, Way},
    },
    cost::Cost,
    recurring::same_issues_three_turns,
};
use serde::{Deserialize, Serialize};

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
    #[error("the budget is spent: {what}")]
    BudgetSpent {
        /// What was spent of what, as a sentence.
        what: String,
    },
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
        doing: String,
        /// Its words.
        said: String,
    },
    /// Something else failed that the work cannot do without: at GitHub, in the repository, on our own machine.
    #[error("{doing}: {fault}")]
    Failed {
        /// What was being done.
        doing: String,
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
        doing: String,
    },
}

/// A failure that is not an agent's verdict. It uses up no turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum AgentFailure {
    /// The program is not there.
    #[error("the agent program {program:?} was not found")]
    NotFound {
        /// The program as configured.
        program: String,
    },
    /// It ended with an error.
    #[error("the agent failed: {how}")]
    Failed {
        /// Exit code or signal, and the end of its error output.
        how: String,
    },
    /// Its time was up.
    #[error("the agent was stopped after {seconds} seconds")]
    TimedOut {
        /// The limit.
        seconds: u64,
    },
    /// It printed nothing for too long.
    #[error("the agent went silent for {seconds} seconds")]
    WentSilent {
        /// The limit.
        seconds: u64,
    },
    /// It printed more than is read.
    #[error("the agent printed more than {bytes} bytes")]
    TooMuchOutput {
        /// The limit.
        bytes: u64,
    },
    /// It is older than what we can work with.
    #[error("the agent program {program:?} is version {found}; at least {least} is needed")]
    TooOld {
        /// The program as configured.
        program: String,
        /// What it says it is.
        found: String,
        /// The oldest that works.
        least: String,
    },
    /// It did not start as it was asked to: other tools, other permissions, servers that nobody asked for.
    #[error("the agent did not start as it was asked to: {what}")]
    NotAsAsked {
        /// What differs.
        what: String,
    },
    /// The model's API limits us. The work waits for it.
    #[error("the model's API limits the rate: {said}")]
    RateLimited {
        /// Its words.
        said: String,
        /// How long it asked us to wait, where it did.
        retry_after_seconds: Option<u64>,
    },
    /// The model's API is overloaded, failing or out of reach. The work waits for it.
    #[error("the model's API is not available: {said}")]
    Unavailable {
        /// Its words.
        said: String,
        /// How long it asked us to wait, where it did.
        retry_after_seconds: Option<u64>,
    },
    /// The model's API refuses the credentials, or there is no credit. Trying again helps nobody.
    #[error("the model's API refuses the credentials or the account: {said}")]
    NotAuthorised {
        /// Its words, for operators.
        said: String,
    },
    /// The model's API knows no such model, or does not offer it to us.
    #[error("the model {model:?} is not available: {said}")]
    NoSuchModel {
        /// The model.
        model: String,
        /// The API's words.
        said: String,
    },
    /// The model refused to do it.
    #[error("the model refused the work: {said}")]
    ModelRefused {
        /// Its words.
        said: String,
    },
    /// The model's API does not take what the program asks: a mistake of the program, or a setting that does not fit.
    #[error("the model's API refuses the request (HTTP {status}): {said}")]
    RequestRefused {
        /// The status of its answer.
        status: u64,
        /// Its words.
        said: String,
    },
    /// What it was told, or what it had read, is longer than the model can take.
    #[error("the work is too long for the model")]
    PromptTooLong,
    /// The model stopped at its limit of output.
    #[error("the model stopped at its limit of output")]
    OutputLimit,
    /// It made as many calls as it may in one run.
    #[error("the agent made {turns} calls of its model, as many as it may")]
    OutOfAgentTurns {
        /// The limit.
        turns: u32,
    },
    /// Its share of the budget was used up.
    #[error("the agent used up its share of the budget")]
    OutOfMoney,
    /// A Player or planner without an answer.
    #[error("the agent's output does not end with a JSON object")]
    ReportMissing,
    /// A Player's or planner's answer of the wrong shape.
    #[error("the agent's report is not valid: {problem}")]
    ReportInvalid {
        /// Which key, what was expected.
        problem: String,
    },
    /// A Coach without an answer.
    #[error("the Coach's output does not end with a JSON object")]
    DecisionMissing,
    /// A Coach's answer of the wrong shape.
    #[error("the Coach's decision is not valid: {problem}")]
    DecisionInvalid {
        /// Which key, what was expected.
        problem: String,
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

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// A person's decision is all that is missing.
    Minor,
    /// The work does not get there by itself.
    Major,
    /// Nothing of this kind can go on until someone mends the surroundings.
    Critical,
}

impl Severity {
    /// The word that people read.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Minor => "minor",
            Self::Major => "major",
            Self::Critical => "critical",
        }
    }
}

impl BlockReason {
    /// How bad it is.
    #[must_use]
    pub fn severity(&self) -> Severity {
        match self {
            Self::BudgetSpent { .. }
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
    pub fn of_fault(doing: String, fault: Fault) -> Self {
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
