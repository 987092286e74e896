//! What the Gates found. Nothing that ran is not a pass: evidence is `Passed`, `Failed` or `Absent` with a reason.

use serde::Deserialize;
use serde::Serialize;

/// The outcome of one Gate on one commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// The Gate ran and found what it demands.
    Passed(Finding),
    /// The Gate ran and the work does not hold: the Player's to mend.
    Failed(Finding),
    /// The Gate could not run. It never approves, and it is never the Player's fault.
    Absent(Absence),
}

impl Evidence {
    /// The word that people read in reviews and tables.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Passed(_) => "passed",
            Self::Failed(_) => "failed",
            Self::Absent(_) => "absent",
        }
    }
}

/// What a command that ran left behind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The command as configured or detected; empty for a Gate without one.
    pub command: String,
    /// Its exit code; `None` when a signal or a deadline ended it.
    pub exit_code: Option<i32>,
    /// Numbers of tests, where the runner prints them.
    pub counts: Counts,
    /// Names of failing tests, where the runner prints them; at most 50.
    pub failing: Vec<String>,
    /// Output, shortened from the middle, secrets masked; at most 8,000 characters.
    pub output: String,
}

/// Numbers of tests, or that they could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Counts {
    /// The runner's output gave no numbers: shown as "count unknown".
    Unknown,
    /// Numbers as the runner printed them.
    Known {
        /// Tests that passed.
        passed: u32,
        /// Tests that failed.
        failed: u32,
        /// Tests that were skipped.
        skipped: u32,
    },
}

/// Why there is no evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Absence {
    /// Neither the settings name a command nor could one be detected.
    NoCommand,
    /// The command could not start: what was tried and what the system said.
    CouldNotStart {
        /// The command.
        command: String,
        /// The system's answer, for example "program not found: pytest".
        reason: String,
    },
    /// The time limit of the service ended it.
    TimedOut {
        /// The command.
        command: String,
        /// The limit in seconds.
        seconds: u64,
    },
    /// An earlier Gate had to pass first and did not.
    NotReached,
    /// This version does not run this kind of Gate.
    NotInThisVersion,
}

/// Everything that the Gates found on one commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateReport {
    /// The set-up command; `None` when there is none, which is not part of the profile.
    pub setup: Option<Evidence>,
    /// The test command.
    pub tests: Evidence,
}

/// What the Gates of a task type say together: the only thing that an approval may rest on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Profile {
    /// Every Gate of the profile passed.
    Passed,
    /// At least one failed; each as a sentence for the Player.
    Failed(Vec<String>),
    /// At least one that the profile demands could not run; each as a sentence for a person.
    Absent(Vec<String>),
}
