//! Why work stops until a person decides, and the report that this person gets. When to block is the machines' part.

pub use crate::domain::recurring::same_issues_three_turns;

use crate::domain::decision::Issue;
use crate::domain::evidence::GateReport;
use crate::domain::ids::TaskId;
use crate::domain::ids::TurnNumber;
use crate::domain::ids::User;
use crate::domain::recurring;
use crate::domain::recurring::Recurring;
use crate::domain::remedy;
use crate::domain::remedy::Stopped;
use crate::domain::task::State;
use crate::domain::task::Task;
use serde::Deserialize;
use serde::Serialize;

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
    #[error("no usable result after every try: {failure}")]
    AgentFailed {
        /// How.
        failure: AgentFailure,
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
            | Self::BranchRule { .. }
            | Self::PreFlightFailed { .. }
            | Self::BadSettings { .. }
            | Self::Crashed { .. } => Severity::Critical,
        }
    }
}

/// What the work cost so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    /// Runs of agents, failed ones too.
    pub agent_runs: u32,
    /// Time that agents ran, in milliseconds.
    pub agent_ms: u64,
    /// Money in millionths of a US dollar, where every agent told it.
    pub usd_micros: Option<u64>,
}

/// Whether a person can approve the work as it is, over the Coach.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Approvable {
    /// There is a pull request with a commit.
    Yes,
    /// There is nothing that could be merged.
    NothingPushed,
    /// The commit holds what looks like a secret, which nobody can waive.
    Secret,
}

/// A command that leads on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// Goes on, with guidance and with more turns.
    Resume,
    /// Takes the work as it is, over the Coach.
    Approve,
    /// Starts a task again from the integration branch.
    Retry,
    /// Gives a task up.
    Skip,
    /// Ends the Feature.
    Cancel,
}

impl Way {
    /// The ways on from a blocked task.
    #[must_use]
    pub fn of_task(approvable: Approvable) -> Vec<Self> {
        match approvable {
            Approvable::Yes => vec![Self::Resume, Self::Approve, Self::Retry, Self::Skip],
            Approvable::NothingPushed | Approvable::Secret => vec![Self::Resume, Self::Retry, Self::Skip],
        }
    }

    /// The ways on from a blocked Feature.
    #[must_use]
    pub fn of_feature() -> Vec<Self> {
        vec![Self::Resume, Self::Retry, Self::Skip, Self::Cancel]
    }
}

/// What a person gets when a Task or a Feature cannot go on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockedReport {
    /// Why it stopped.
    pub reason: BlockReason,
    /// How bad it is.
    pub severity: Severity,
    /// Turns used.
    pub attempts: u32,
    /// Issues that came up in more than one turn, most frequent first.
    pub recurring: Vec<Recurring>,
    /// What the last verdict asked for.
    pub last_feedback: Vec<Issue>,
    /// What the Gates said last; absent when none ran.
    pub gates: Option<GateReport>,
    /// Whether a person can approve the work as it is.
    pub approvable: Approvable,
    /// What a person can do about it, as sentences.
    pub suggested_actions: Vec<String>,
    /// The commands that lead on.
    pub ways: Vec<Way>,
    /// What the work cost so far.
    pub cost: Cost,
}

impl BlockedReport {
    /// The report on a task that is blocked now, from the turns of its present attempt.
    #[must_use]
    pub fn of_task(task: &Task, cost: Cost) -> Option<Self> {
        let State::Blocked { reason } = &task.state else {
            return None;
        };
        let items: Vec<(TurnNumber, &[Issue])> = task
            .turns_now()
            .filter_map(|turn| Some((turn.number, turn.verdict.as_ref()?.items.as_slice())))
            .collect();
        let gates = task.turns_now().rev().find_map(|turn| turn.gates.clone());
        let approvable = approvable(task);
        let stopped = Stopped {
            reason,
            gates: gates.as_ref(),
            approvable,
        };
        Some(Self {
            severity: reason.severity(),
            attempts: u32::try_from(task.turns_now().count()).unwrap_or(u32::MAX),
            recurring: recurring::recurring(&items),
            last_feedback: items.last().map(|(_, items)| items.to_vec()).unwrap_or_default(),
            approvable,
            suggested_actions: remedy::suggested_actions(&stopped),
            ways: Way::of_task(approvable),
            cost,
            reason: reason.clone(),
            gates,
        })
    }

    /// The report on a Feature that is blocked for this reason, with what the Gates said about it.
    #[must_use]
    pub fn of_feature(reason: &BlockReason, gates: Option<&GateReport>, cost: Cost) -> Self {
        let approvable = Approvable::NothingPushed;
        let stopped = Stopped {
            reason,
            gates,
            approvable,
        };
        Self {
            severity: reason.severity(),
            attempts: 0,
            recurring: Vec::new(),
            last_feedback: Vec::new(),
            approvable,
            suggested_actions: remedy::suggested_actions(&stopped),
            ways: Way::of_feature(),
            cost,
            reason: reason.clone(),
            gates: gates.cloned(),
        }
    }
}

/// What stands in the way of an approval by a person, if anything.
fn approvable(task: &Task) -> Approvable {
    match (task.overridable(), task.secret()) {
        (None, _) => Approvable::NothingPushed,
        (Some(_), Some(_)) => Approvable::Secret,
        (Some(_), None) => Approvable::Yes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::evidence::Absence;
    use crate::domain::evidence::Evidence;

    #[test]
    fn a_report_survives_storage_and_is_printable_as_yaml() {
        let problem = "`decision` is missing: \"x\"\n- y".to_owned();
        let reason = BlockReason::AgentFailed {
            failure: AgentFailure::DecisionInvalid { problem },
        };
        let gates = GateReport::new(None, Evidence::Absent(Absence::NoCommand));
        let report = BlockedReport {
            last_feedback: vec![Issue::must_fix("test", "no test for \"empty\"\ninput")],
            ..BlockedReport::of_feature(&reason, Some(&gates), Cost::default())
        };
        let json = serde_json::to_string(&report).unwrap();
        assert_eq!(serde_json::from_str::<BlockedReport>(&json).unwrap(), report);
        let yaml = serde_saphyr::to_string(&report).unwrap();
        assert_eq!(serde_saphyr::from_str::<BlockedReport>(&yaml).unwrap(), report);
    }
}
