//! The reasons why there is no evidence.

use crate::refused_host::RefusedHost;
use serde::{Deserialize, Serialize};

/// The most hosts in a sentence.
const NAMED_HOSTS: usize = 10;

/// The reason why there is no evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Absence {
    /// The settings name no command, and none could be detected.
    NoCommand,
    /// The command could not start.
    CouldNotStart {
        /// The command.
        command: String,
        /// The system's message, for example "program not found: pytest".
        reason: String,
    },
    /// The service's time limit stopped the command.
    TimedOut {
        /// The command.
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
        /// The command.
        command: String,
        /// The hosts, at least one.
        hosts: Vec<RefusedHost>,
        /// The command's output.
        output: String,
    },
    /// An earlier Gate had to pass first, and did not.
    NotReached,
    /// This version does not run this kind of Gate.
    NotInThisVersion,
    /// The new tests are inside source files, so they cannot be run against the old code alone.
    Inline,
    /// A file that the settings name as evidence is missing or cannot be read.
    Unreadable {
        /// Its path.
        path: String,
        /// The problem with it, as a sentence.
        reason: String,
    },
    /// New failures cannot be told from old ones: the tests failed before, and their runner names none.
    Unnamed,
    /// The runner does not name all its tests, and none that it names is the one that is asked about.
    NoResultByName {
        /// The name that is asked about.
        test: String,
    },
    /// A check by someone else gave no usable result in time.
    Unfinished {
        /// The check's name and state, as a sentence.
        what: String,
    },
    /// CI is held until a person lets it run.
    CiHeld,
    /// A check by someone else judges the pull request and not the code, so a person has to act.
    JudgesPull {
        /// The check's name and why no Player can mend it, as a sentence.
        what: String,
    },
}

impl Absence {
    /// Returns the reason for people.
    pub fn sentence(&self) -> String {
        match self {
            Self::NoCommand => "no command is set and none could be detected".to_owned(),
            Self::CouldNotStart { command, reason } => format!("`{command}` could not start: {reason}"),
            Self::TimedOut {
                command,
                seconds,
                in_test,
                ..
            } => {
                let place = in_test
                    .as_ref()
                    .map_or_else(String::new, |test| format!(", in `{test}`"));
                format!("AutoBuild stopped `{command}` after {seconds} seconds{place}")
            }
            Self::HostRefused { command, hosts, .. } => {
                let hosts: Vec<String> = hosts
                    .iter()
                    .take(NAMED_HOSTS)
                    .map(|refused| format!("`{}`", refused.host))
                    .collect();
                format!("`{command}` did not reach {}", hosts.join(", "))
            }
            Self::NotReached => "not reached, because an earlier Gate did not pass".to_owned(),
            Self::CiHeld => "CI is held until a person lets it run".to_owned(),
            Self::NotInThisVersion => "not run in this version".to_owned(),
            Self::Inline => "the new tests stand inside source files and cannot be separated from them".to_owned(),
            Self::Unreadable { path, reason } => format!("`{path}` cannot be used: {reason}"),
            Self::Unnamed => {
                "the tests were red before this change and their runner names none, so new failures cannot be told"
                    .to_owned()
            }
            Self::NoResultByName { test } => {
                format!("the runner does not name all its tests, so no one can say whether `{test}` passed")
            }
            Self::Unfinished { what } | Self::JudgesPull { what } => what.clone(),
        }
    }
}
