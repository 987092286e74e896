//! Why work stops until a person decides.

use crate::domain::decision::Issue;
use crate::domain::ids::TaskId;
use crate::domain::ids::User;
use serde::Deserialize;
use serde::Serialize;

/// Why a Task or a Feature cannot go on by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BlockReason {
    /// Every allowed turn ended with feedback.
    OutOfTurns {
        /// How many there were.
        turns: u32,
    },
    /// Two turns in a row changed nothing.
    NoChangeTwice,
    /// The same issues came back three turns running.
    SameIssues,
    /// The money, tokens or time allowed are used up.
    BudgetSpent {
        /// What was spent of what, as a sentence.
        what: String,
    },
    /// An agent gave no usable result after every try.
    AgentFailed {
        /// How.
        failure: AgentFailure,
    },
    /// A Gate that the profile demands could not run.
    GatesAbsent {
        /// Which and why, as sentences.
        reasons: Vec<String>,
    },
    /// A person's request for changes is open although the Coach approves.
    OpenReview {
        /// Whose.
        by: User,
    },
    /// A person asked to pause this task.
    Paused {
        /// Who.
        by: User,
    },
    /// A task that this one needs was given up.
    NeedGone {
        /// Which.
        task: TaskId,
    },
    /// The branch was force-pushed off the integration branch's history.
    ForcePushed {
        /// By whom.
        by: User,
    },
    /// The forge refused something that the work cannot do without.
    ForgeRefused {
        /// What was asked of it.
        doing: String,
        /// Its words.
        said: String,
    },
    /// The branch rules forbid a name or a push.
    BranchRule {
        /// The rule as the forge names it.
        rule: String,
    },
    /// Merging the default branch needs hands.
    DefaultConflict {
        /// The files.
        files: Vec<String>,
    },
    /// The merged result of a wave does not hold.
    WaveGateRed {
        /// What failed, as sentences.
        failures: Vec<String>,
    },
    /// Tasks of the wave wait for a person.
    TasksBlocked {
        /// Which.
        tasks: Vec<TaskId>,
    },
    /// The repository's settings cannot be read.
    BadSettings {
        /// Each mistake as a sentence.
        mistakes: Vec<String>,
    },
    /// The service ended three times while it did this.
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

/// Whether the newest three turns were told the same.
#[must_use]
pub fn same_issues_three_turns(turns: &[&[Issue]]) -> bool {
    let Some([first, second, third]) = turns.last_chunk::<3>() else {
        return false;
    };
    let prints = |items: &[Issue]| {
        let mut prints: Vec<String> = items.iter().map(fingerprint).collect();
        prints.sort_unstable();
        prints.dedup();
        prints
    };
    let (first, second, third) = (prints(first), prints(second), prints(third));
    !first.is_empty() && first == second && second == third
}

/// What makes two issues of different turns the same: category, file and words, but for case, spaces and numbers.
fn fingerprint(issue: &Issue) -> String {
    let words = |text: &str| {
        text.to_lowercase()
            .split(|c: char| !c.is_alphabetic())
            .filter(|word| !word.is_empty())
            .collect::<Vec<_>>()
            .join(" ")
    };
    format!(
        "{}|{}|{}",
        words(&issue.category),
        issue.file.as_deref().unwrap_or(""),
        words(&issue.description)
    )
}
