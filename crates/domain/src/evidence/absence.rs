//! The reasons why there is no evidence.

use crate::refused_host::RefusedHost;
use serde::{Deserialize, Serialize};

/// The reason why there is no evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Absence {
    /// The settings name no command, and none could be detected.
    NoCommand,
    /// The command could not start.
    CouldNotStart { command: String, reason: StartFailure },
    /// The service's time limit stopped the command.
    TimedOut {
        command: String,
        /// The limit in seconds.
        seconds: u64,
        /// The test that had started and had no result, if its runner prints it.
        in_test: Option<String>,
        /// The tests that had failed by then. After failed tests, a program often does not end either.
        failed: Vec<String>,
    },
    /// The command failed because it did not reach hosts.
    HostRefused {
        command: String,
        /// The hosts, at least one.
        hosts: Vec<RefusedHost>,
        output: String,
    },
    /// An earlier Gate had to pass first, and did not.
    NotReached,
    /// A file that the settings name as evidence is missing or cannot be read.
    Unreadable {
        path: String,
        /// The reader's message, for example "not found".
        reason: String,
        /// The command that should have written it, if it failed.
        after: Option<FailedCommand>,
    },
    /// New failures cannot be distinguished from old ones: the tests failed before, and their runner names none.
    Unnamed,
    /// The runner does not name all its tests, and this one is not among those that it names.
    NoResultByName { test: String },
    /// No check by someone else began.
    NoCi,
    /// The checks by others could not be read.
    CiUnreadable {
        /// The forge's answer.
        reason: String,
    },
    /// Checks by others gave no usable result in time.
    Unfinished { checks: Vec<OpenCheck> },
    /// CI is held until a person lets it run.
    CiHeld,
    /// Checks by others judge the pull request and not the code, so a person has to act.
    JudgesPull { checks: Vec<OpenCheck> },
}

/// Why a command could not start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StartFailure {
    /// These programs, which its line calls, are neither in the checkout nor on `PATH`.
    NoPrograms(Vec<String>),
    /// The machine has neither bash nor sh.
    NoShell,
    /// The line has a pipe, and sh would lose a failure before it.
    NeedsBash,
    /// A message of the system, of a shell or of a runner.
    #[serde(untagged)]
    Message(String),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedCommand {
    pub command: String,
    /// The exit code; `None` if a signal or a time limit ended it.
    pub exit_code: Option<i32>,
}

/// Why a failed check judges the pull request and not the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PullCheck {
    /// Its job never checks out the code.
    WithoutCode,
    /// Its job runs no command, and starts again when only the pull request changes.
    StartsWithoutPush,
    /// It does not report on commits that belong to no pull request.
    OnlyOnPulls,
    /// It reports the same without the change.
    SameBefore,
}

/// A check that has no usable result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenCheck {
    pub name: String,
    pub state: CheckState,
}

/// The state of a check without a usable result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckState {
    /// It had not ended when its time was over. Holds the forge's word for its state.
    Running(String),
    /// It judges the pull request.
    FailedOnPull(PullCheck),
    /// It ended without a result. Holds the forge's word for that.
    NoAnswer(String),
}
