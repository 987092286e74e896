//! What the Gates found. Nothing that ran is not a pass: evidence is `Passed`, `Failed` or `Absent` with a reason.

use crate::domain::plan::TaskType;
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

/// Adds the Gates of a task type up, by the table of product section 6.
#[must_use]
pub fn profile(kind: TaskType, gates: &GateReport) -> Profile {
    let mut failed = Vec::new();
    let mut absent = Vec::new();
    let parts = [
        gates.setup.as_ref().and_then(setup_part),
        tests_part(TestDemand::of(kind), &gates.tests),
    ];
    for part in parts.into_iter().flatten() {
        match part {
            Lack::Failed(sentence) => failed.push(sentence),
            Lack::Absent(sentence) => absent.push(sentence),
        }
    }
    match (failed.is_empty(), absent.is_empty()) {
        (false, _) => Profile::Failed(failed),
        (true, false) => Profile::Absent(absent),
        (true, true) => Profile::Passed,
    }
}

/// Why a Gate of the profile did not pass.
enum Lack {
    Failed(String),
    Absent(String),
}

/// What a task type asks of the test command.
#[derive(Clone, Copy)]
enum TestDemand {
    /// Tests must run and pass.
    Demanded,
    /// Tests that exist must pass.
    IfAny,
}

impl TestDemand {
    fn of(kind: TaskType) -> Self {
        match kind {
            TaskType::Feature | TaskType::Testing => Self::Demanded,
            TaskType::Scaffolding | TaskType::Documentation => Self::IfAny,
        }
    }
}

fn setup_part(setup: &Evidence) -> Option<Lack> {
    match setup {
        Evidence::Passed(_) | Evidence::Absent(Absence::NoCommand | Absence::NotInThisVersion) => None,
        Evidence::Failed(finding) => Some(Lack::Failed(format!("set-up failed: {}", finding.sentence()))),
        Evidence::Absent(reason) => Some(Lack::Absent(format!("set-up: {}", reason.sentence()))),
    }
}

fn tests_part(demand: TestDemand, tests: &Evidence) -> Option<Lack> {
    match (tests, demand) {
        (Evidence::Passed(finding) | Evidence::Failed(finding), TestDemand::IfAny) if finding.collected_nothing() => {
            None
        }
        (Evidence::Passed(finding) | Evidence::Failed(finding), TestDemand::Demanded) if finding.ran_nothing() => {
            Some(Lack::Failed(format!("no tests ran: {}", finding.sentence())))
        }
        (Evidence::Passed(finding), _) if !finding.says_failed() => None,
        (Evidence::Passed(finding) | Evidence::Failed(finding), _) => {
            Some(Lack::Failed(format!("tests failed: {}", finding.sentence())))
        }
        (
            Evidence::Absent(Absence::NoCommand | Absence::CouldNotStart { .. } | Absence::NotInThisVersion),
            TestDemand::IfAny,
        ) => None,
        (Evidence::Absent(reason), _) => Some(Lack::Absent(format!("tests: {}", reason.sentence()))),
    }
}

impl Finding {
    /// The outcome in one line: command, exit code, counts and the first failing tests.
    #[must_use]
    pub fn sentence(&self) -> String {
        let ended = match self.exit_code {
            Some(code) => format!("`{}` exited with {code}", self.command),
            None => format!("`{}` was ended by a signal or a deadline", self.command),
        };
        let named: Vec<&str> = self.failing.iter().take(NAMED_FAILURES).map(String::as_str).collect();
        let more = match self.failing.len().saturating_sub(NAMED_FAILURES) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        match named.is_empty() {
            true => format!("{ended}, {}", self.counts.sentence()),
            false => format!("{ended}, {}: {}{more}", self.counts.sentence(), named.join(", ")),
        }
    }

    /// The runner says that it found no test at all.
    fn collected_nothing(&self) -> bool {
        self.failing.is_empty()
            && matches!(
                self.counts,
                Counts::Known {
                    passed: 0,
                    failed: 0,
                    skipped: 0
                }
            )
    }

    /// The runner says that no test ran: none was found, or all were skipped.
    fn ran_nothing(&self) -> bool {
        self.failing.is_empty()
            && matches!(
                self.counts,
                Counts::Known {
                    passed: 0,
                    failed: 0,
                    ..
                }
            )
    }

    /// The runner names failing tests, whatever its exit code.
    fn says_failed(&self) -> bool {
        !self.failing.is_empty() || matches!(self.counts, Counts::Known { failed: 1.., .. })
    }
}

const NAMED_FAILURES: usize = 10;

impl Counts {
    /// The numbers as people read them.
    #[must_use]
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
    #[must_use]
    pub fn sentence(&self) -> String {
        match self {
            Self::NoCommand => "no command is set and none could be detected".to_owned(),
            Self::CouldNotStart { command, reason } => format!("`{command}` could not start: {reason}"),
            Self::TimedOut { command, seconds } => format!("`{command}` was ended after {seconds} seconds"),
            Self::NotReached => "not reached, because an earlier Gate did not pass".to_owned(),
            Self::NotInThisVersion => "not run in this version".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(exit_code: i32, counts: Counts) -> Finding {
        Finding {
            command: "t".to_owned(),
            exit_code: Some(exit_code),
            counts,
            failing: Vec::new(),
            output: String::new(),
        }
    }

    fn known(passed: u32, failed: u32, skipped: u32) -> Counts {
        Counts::Known {
            passed,
            failed,
            skipped,
        }
    }

    fn word(kind: TaskType, setup: Option<Evidence>, tests: Evidence) -> &'static str {
        match profile(kind, &GateReport { setup, tests }) {
            Profile::Passed => "passed",
            Profile::Failed(_) => "failed",
            Profile::Absent(_) => "absent",
        }
    }

    #[test]
    fn the_table_of_section_6_holds_for_every_kind_of_task() {
        let could_not_start = || Absence::CouldNotStart {
            command: "t".into(),
            reason: "not found".into(),
        };
        let timed_out = || Absence::TimedOut {
            command: "t".into(),
            seconds: 5,
        };
        // evidence · feature and testing · scaffolding and documentation
        let table = [
            (Evidence::Passed(finding(0, known(3, 0, 1))), "passed", "passed"),
            (Evidence::Passed(finding(0, Counts::Unknown)), "passed", "passed"),
            (Evidence::Passed(finding(0, known(0, 0, 0))), "failed", "passed"),
            (Evidence::Failed(finding(5, known(0, 0, 0))), "failed", "passed"),
            (Evidence::Passed(finding(0, known(0, 0, 7))), "failed", "passed"),
            (Evidence::Failed(finding(1, known(0, 0, 7))), "failed", "failed"),
            (Evidence::Failed(finding(1, known(3, 1, 0))), "failed", "failed"),
            (Evidence::Failed(finding(101, Counts::Unknown)), "failed", "failed"),
            (Evidence::Passed(finding(0, known(3, 1, 0))), "failed", "failed"),
            (Evidence::Absent(Absence::NoCommand), "absent", "passed"),
            (Evidence::Absent(could_not_start()), "absent", "passed"),
            (Evidence::Absent(Absence::NotInThisVersion), "absent", "passed"),
            (Evidence::Absent(timed_out()), "absent", "absent"),
            (Evidence::Absent(Absence::NotReached), "absent", "absent"),
        ];
        for (tests, demanded, if_any) in table {
            for kind in [TaskType::Feature, TaskType::Testing] {
                assert_eq!(word(kind, None, tests.clone()), demanded, "{kind:?} with {tests:?}");
            }
            for kind in [TaskType::Scaffolding, TaskType::Documentation] {
                assert_eq!(word(kind, None, tests.clone()), if_any, "{kind:?} with {tests:?}");
            }
        }
    }

    #[test]
    fn set_up_counts_for_every_kind_and_a_failure_beats_an_absence() {
        let passing = || Evidence::Passed(finding(0, known(1, 0, 0)));
        let not_reached = || Evidence::Absent(Absence::NotReached);
        let could_not_start = || {
            Evidence::Absent(Absence::CouldNotStart {
                command: "s".into(),
                reason: "?".into(),
            })
        };
        let table = [
            (None, passing(), "passed"),
            (Some(passing()), passing(), "passed"),
            (Some(Evidence::Absent(Absence::NoCommand)), passing(), "passed"),
            (
                Some(Evidence::Failed(finding(1, Counts::Unknown))),
                not_reached(),
                "failed",
            ),
            (Some(could_not_start()), not_reached(), "absent"),
            (Some(could_not_start()), passing(), "absent"),
            (
                Some(could_not_start()),
                Evidence::Failed(finding(1, known(0, 2, 0))),
                "failed",
            ),
        ];
        for (setup, tests, expected) in table {
            for kind in [
                TaskType::Feature,
                TaskType::Testing,
                TaskType::Scaffolding,
                TaskType::Documentation,
            ] {
                assert_eq!(
                    word(kind, setup.clone(), tests.clone()),
                    expected,
                    "{kind:?}: {setup:?} then {tests:?}"
                );
            }
        }
    }

    #[test]
    fn a_failure_names_command_code_counts_and_tests() {
        let mut red = finding(101, known(3, 2, 0));
        red.failing = vec!["a::b".to_owned(), "a::c".to_owned()];
        let gates = GateReport {
            setup: None,
            tests: Evidence::Failed(red),
        };
        let sentence = "tests failed: `t` exited with 101, 3 passed, 2 failed: a::b, a::c".to_owned();
        assert_eq!(profile(TaskType::Feature, &gates), Profile::Failed(vec![sentence]));
    }
}
