//! The results of the Gates: `Passed`, `Failed`, or `Absent` with a reason. A Gate that did not run has not passed.

pub(crate) mod absence;
mod baseline;
mod fact;
mod gate;
mod profile;
mod symptoms;

pub use crate::{
    evidence::{
        absence::{Absence, CheckState, FailedCommand, OpenCheck, PullCheck, StartFailure},
        baseline::{Additions, Baseline, Ground, WaivedTest},
        fact::{Experiment, Fact, NamedTest, TouchedKinds},
        gate::{Excuse, Excused, Gate, GateReport, GateResult, TestNames, repeated_test_failures},
        profile::{Cause, Part, Profile, Unmet, items, profile},
        symptoms::{ErrorLines, SharedFailure, Symptoms, SystemError},
    },
    integrity::Weight,
};

pub(crate) use profile::{OpenGate, open_gates};

use crate::refused_host::RefusedHost;
use serde::{Deserialize, Serialize};

/// The outcome of one Gate on one commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// The Gate ran, and its requirement is met.
    Passed(Finding),
    /// The Gate ran, and its requirement is not met. The Player must fix that.
    Failed(Finding),
    /// The Gate could not run. It never approves, and it is never the Player's fault.
    Absent(Absence),
}

impl Evidence {
    /// Returns the word that reviews and tables show.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Passed(_) => "passed",
            Self::Failed(_) => "failed",
            Self::Absent(_) => "absent",
        }
    }

    /// Returns the evidence of a command that did not reach these hosts: if it failed, they are the reason.
    pub fn without_hosts(self, hosts: &[RefusedHost]) -> Self {
        match self {
            Self::Failed(finding) if !hosts.is_empty() => Self::Absent(Absence::HostRefused {
                command: finding.command,
                hosts: hosts.to_vec(),
                output: finding.output,
            }),
            evidence @ (Self::Passed(_) | Self::Failed(_) | Self::Absent(_)) => evidence,
        }
    }

    /// Like [`Self::without_hosts`], for the hosts that only a person can open: a change can repair neither the network nor
    /// the ecosystems of the default branch.
    pub fn without_hosts_for_a_person(self, hosts: &[RefusedHost]) -> Self {
        let lost = hosts.iter().filter(|refused| refused.why.waits_for_person());
        self.without_hosts(&lost.cloned().collect::<Vec<_>>())
    }

    /// Returns the result of the command, if it ran.
    pub fn finding(&self) -> Option<&Finding> {
        match self {
            Self::Passed(finding) | Self::Failed(finding) => Some(finding),
            Self::Absent(_) => None,
        }
    }

    /// Returns the result of the command, if it failed.
    pub fn failure(&self) -> Option<&Finding> {
        match self {
            Self::Failed(finding) => Some(finding),
            Self::Passed(_) | Self::Absent(_) => None,
        }
    }
}

/// The result of a command that ran.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The command as configured or detected; empty for a Gate without one.
    pub command: String,
    /// The exit code; `None` if a signal or a time limit ended it.
    pub exit_code: Option<i32>,
    /// The numbers of tests, if the runner prints them.
    pub counts: Counts,
    /// The names of failing tests, if the runner prints them; at most 50.
    pub failing: Vec<String>,
    /// The output with secrets masked, shortened in the middle to at most 8,000 characters.
    pub output: String,
    /// The facts that the Gate found, or about how the command ran: the whole result of a Gate without a command.
    pub facts: Vec<Fact>,
    /// The results by name; `None` if neither the runner nor a results file names them.
    pub names: Option<TestNames>,
    /// The failed tests whose failure is a name, an import or a parameter that the code does not have.
    pub unfit: Vec<String>,
    /// The text and the hosts that its failures share.
    pub symptoms: Box<Symptoms>,
}

/// The numbers of tests, if they could be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Counts {
    /// The runner's output gave no numbers. Shown as "count unknown".
    #[default]
    Unknown,
    /// The numbers as the runner printed them.
    Known { passed: u32, failed: u32, skipped: u32 },
}

impl Finding {
    /// Returns the names of the failed tests, if any are named.
    pub fn failed_names(&self) -> impl Iterator<Item = &String> {
        self.names.as_ref().map_or(&self.failing, |names| &names.failed).iter()
    }

    /// Returns the number of failed tests, named here or not.
    pub fn failed(&self) -> usize {
        let named = self.failing.len();
        match (&self.names, self.counts) {
            (Some(names), _) => names.failed.len().max(named),
            (None, Counts::Known { failed, .. }) => usize::try_from(failed).unwrap_or(usize::MAX).max(named),
            (None, Counts::Unknown) => named,
        }
    }
}
