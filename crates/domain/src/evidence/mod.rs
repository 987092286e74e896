//! What the Gates found. Nothing that ran is not a pass: evidence is `Passed`, `Failed` or `Absent` with a reason.

mod baseline;
mod gate;
mod profile;

pub use crate::{
    evidence::{
        baseline::{Additions, Baseline, Ground, WaivedTest},
        gate::{Excuse, Excused, Gate, GateReport, GateResult, TestNames, repeats},
        profile::{Profile, items, profile},
    },
    weight::Weight,
};

use crate::shorten;
use serde::{Deserialize, Serialize};

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
    /// Results by name; `None` where neither the runner nor a results file names them.
    #[serde(default)]
    pub names: Option<TestNames>,
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
        /// The test that had begun and had no result, where its runner says so.
        #[serde(default)]
        in_test: Option<String>,
        /// Tests that had failed by then: a program whose tests failed often does not end either.
        #[serde(default)]
        failed: Vec<String>,
    },
    /// An earlier Gate had to pass first and did not.
    NotReached,
    /// This version does not run this kind of Gate.
    NotInThisVersion,
    /// New tests stand inside source files and cannot be run against the old code alone.
    Inline,
    /// A file that the settings name as evidence is not there or cannot be read.
    Unreadable {
        /// Its path.
        path: String,
        /// What is wrong with it, as a sentence.
        reason: String,
    },
    /// It cannot be told which failures are new: the tests were red before, and their runner names none.
    Unnamed,
    /// Someone else's check gave no usable answer in time.
    Unfinished {
        /// Its name and its state, as a sentence.
        what: String,
    },
}

impl Finding {
    /// The outcome in one line: command, exit code, counts where there are any, and the first failing tests.
    pub fn sentence(&self) -> String {
        match self.counts {
            Counts::Unknown => self.told(None),
            Counts::Known { .. } => self.told(Some(self.counts)),
        }
    }

    /// The same of what should have run tests: that their number is unknown is worth a word.
    pub fn sentence_of_tests(&self) -> String {
        self.told(Some(self.counts))
    }

    /// How many tests failed, whether or not they are named here.
    pub fn failed(&self) -> usize {
        let named = self.failing.len();
        match (&self.names, self.counts) {
            (Some(names), _) => names.failed.len().max(named),
            (None, Counts::Known { failed, .. }) => usize::try_from(failed).unwrap_or(usize::MAX).max(named),
            (None, Counts::Unknown) => named,
        }
    }

    fn told(&self, counts: Option<Counts>) -> String {
        let ended = match self.exit_code {
            _ if self.command.is_empty() => return self.output.clone(),
            Some(code) => format!("`{}` exited with {code}", self.command),
            None => format!("`{}` was ended by a signal or a deadline", self.command),
        };
        let named = self.failing.iter().take(NAMED_FAILURES);
        let named: Vec<String> = named.map(|name| shorten::middle(name, LONGEST_NAME)).collect();
        let more = match self.failed().saturating_sub(NAMED_FAILURES) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let counted = counts.map_or_else(|| ended.clone(), |counts| format!("{ended}, {}", counts.sentence()));
        match named.is_empty() {
            true => counted,
            false => format!("{counted}: {}{more}", named.join(", ")),
        }
    }
}

const NAMED_FAILURES: usize = 10;
/// The longest name in a sentence.
const LONGEST_NAME: usize = 200;

impl Counts {
    /// The numbers as people read them.
    pub fn sentence(&self) -> String {
        match self {
            Self::Unknown => "count unknown".to_owned(),
            Self::Known {
                passed,
                failed,
                skipped: 0,
            } => format!("{passed} passed, {failed} failed"),
            Self::Known {
                passed,
                failed,
                skipped,
            } => format!("{passed} passed, {failed} failed, {skipped} skipped"),
        }
    }
}

impl Absence {
    /// The reason as people read it.
    pub fn sentence(&self) -> String {
        match self {
            Self::NoCommand => "no command is set and none could be detected".to_owned(),
            Self::CouldNotStart { command, reason } => format!("`{command}` could not start: {reason}"),
            Self::TimedOut {
                command,
                seconds,
                in_test: None,
                failed: _,
            } => format!("AutoBuild stopped `{command}` after {seconds} seconds"),
            Self::TimedOut {
                command,
                seconds,
                in_test: Some(test),
                failed: _,
            } => format!("AutoBuild stopped `{command}` after {seconds} seconds, in `{test}`"),
            Self::NotReached => "not reached, because an earlier Gate did not pass".to_owned(),
            Self::NotInThisVersion => "not run in this version".to_owned(),
            Self::Inline => "the new tests stand inside source files and cannot be separated from them".to_owned(),
            Self::Unreadable { path, reason } => format!("`{path}` cannot be used: {reason}"),
            Self::Unnamed => {
                "the tests were red before this change and their runner names none, so new failures cannot be told"
                    .to_owned()
            }
            Self::Unfinished { what } => what.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Counts, Evidence, Excuse, Excused, Finding, GateReport, TestNames};

    #[test]
    fn the_failures_of_a_sentence_are_all_that_were_counted() {
        let named = |count: usize| (0..count).map(|n| format!("t{n}")).collect::<Vec<_>>();
        let mut finding = Finding {
            command: "pytest".to_owned(),
            exit_code: Some(1),
            counts: Counts::Known {
                passed: 1,
                failed: 150,
                skipped: 0,
            },
            failing: named(50),
            output: String::new(),
            names: None,
        };
        assert!(
            finding.sentence().ends_with("t9 and 140 more"),
            "{}",
            finding.sentence()
        );
        finding.names = Some(TestNames {
            failed: named(150),
            ..TestNames::default()
        });
        assert!(
            finding.sentence().ends_with("t9 and 140 more"),
            "{}",
            finding.sentence()
        );
        let mut report = GateReport::new(None, Evidence::Failed(finding.clone()));
        report.excused.push(Excused {
            test: "t149".to_owned(),
            why: Excuse::Flaky,
        });
        let held = report.held(&finding).sentence();
        assert!(held.ends_with("t9 and 139 more"), "{held}");
    }
}
