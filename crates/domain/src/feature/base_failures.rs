//! What failing tests of the base show of this machine. A few failures are excused by name. Many of them, or several for
//! one cause, more likely show that the machine lacks what the tests need.

use crate::{
    blocked::{BlockReason, PreFlightCause, PreFlightFault},
    evidence::{Baseline, Counts, Evidence, Finding},
    words,
};
use serde::{Deserialize, Serialize};

/// One in this many tests may fail.
const ONE_IN: usize = 10;

/// The failures for one cause that are too many.
const ONE_CAUSE: usize = 3;

words! {
    /// A thing that tests need and a machine may lack.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum MachineCause {
        /// A host name that resolves.
        HostName = "host name",
        /// A service that listens.
        Service = "service",
        /// A network.
        Network = "network",
        /// A user of the system, or one with other rights.
        User = "user",
        /// A tag or another name of git.
        Tag = "tag",
        /// A locale.
        Locale = "locale",
    }
}

impl MachineCause {
    /// Returns what programs print if this is missing, in lower case.
    fn marks(self) -> &'static [&'static str] {
        match self {
            Self::HostName => &[
                "name or service not known",
                "name resolution",
                "nodename nor servname",
                "unknownhostexception",
                "could not resolve host",
                "no such host",
                "getaddrinfo",
            ],
            Self::Service => &[
                "connection refused",
                "econnrefused",
                "could not connect to server",
                "can't connect to",
                "connectexception",
            ],
            Self::Network => &["network is unreachable", "enetunreach", "no route to host"],
            Self::User => &[
                "getpwuid",
                "no such user",
                "unknown user",
                "cannot be run as root",
                "must not be run as root",
                "running as root",
            ],
            Self::Tag => &[
                "no names found, cannot describe",
                "no tags can describe",
                "unknown revision or path",
                "not a valid object name",
            ],
            Self::Locale => &[
                "unsupported locale",
                "cannot set locale",
                "setlocale",
                "cannot change locale",
            ],
        }
    }

    /// Returns the number of lines that name this cause.
    fn lines(self, output: &str) -> usize {
        let is_named = |line: &&str| {
            let line = line.to_lowercase();
            self.marks().iter().any(|mark| line.contains(mark))
        };
        output.lines().filter(is_named).count()
    }
}

/// The failing tests of the base, as a person is asked about them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BaseFailures {
    /// The number of tests that fail.
    pub failed: usize,
    /// The number of tests that ran.
    pub ran: usize,
    /// The causes that the output names, the most frequent first.
    pub causes: Vec<MachineCause>,
    /// What the repository's own CI says of the same commit.
    pub ci: CiOfBase,
}

/// What the repository's own CI says of the base.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CiOfBase {
    /// Every check passed.
    Green,
    /// It failed, has not ended, or never ran.
    Unknown,
}

/// A person's decision on the failing tests of the base.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailingBase {
    /// A person is asked.
    #[default]
    Asks,
    /// A person accepted the failures as the baseline.
    Accepted,
}

/// Returns the failing tests of a baseline if they are too many to be excused, or too many for one cause.
pub fn too_many_failures(baseline: &Baseline) -> Option<BaseFailures> {
    let Evidence::Failed(finding) = &baseline.tests else {
        return None;
    };
    let (failed, ran) = counted(finding);
    let mut causes: Vec<(usize, MachineCause)> = MachineCause::ALL
        .into_iter()
        .map(|cause| (cause.lines(&finding.output), cause))
        .filter(|(lines, _)| *lines > 0)
        .collect();
    causes.sort_by_key(|(lines, _)| std::cmp::Reverse(*lines));
    let is_one_cause = failed >= ONE_CAUSE && causes.first().is_some_and(|(lines, _)| *lines >= ONE_CAUSE);
    let are_many = failed.saturating_mul(ONE_IN) > ran && ran > 0;
    (failed > 0 && (are_many || is_one_cause)).then(|| BaseFailures {
        failed,
        ran,
        causes: causes.into_iter().map(|(_, cause)| cause).collect(),
        ci: CiOfBase::Unknown,
    })
}

/// Returns the numbers of failing and of all tests, as the runner counts them, else by their names.
fn counted(finding: &Finding) -> (usize, usize) {
    let size = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
    match (finding.counts, &finding.names) {
        (Counts::Known { passed, failed, .. }, _) => (size(failed), size(failed).saturating_add(size(passed))),
        (Counts::Unknown, Some(names)) => (
            names.failed.len(),
            names.failed.len().saturating_add(names.passed.len()),
        ),
        (Counts::Unknown, None) => (finding.failing.len(), 0),
    }
}

impl BaseFailures {
    /// Returns the block in which a person is asked whether the work goes on.
    pub fn reason(self) -> BlockReason {
        BlockReason::PreFlightFailed {
            fault: PreFlightFault::FailingBase,
            what: Box::new(PreFlightCause::Failing(self)),
            output: String::new(),
        }
    }
}

impl BlockReason {
    /// `true` if a person is asked whether the failing tests of the base are accepted.
    pub fn asks_about_base(&self) -> bool {
        matches!(
            self,
            Self::PreFlightFailed {
                fault: PreFlightFault::FailingBase,
                ..
            }
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Additions;

    fn baseline(passed: u32, failed: u32, output: &str) -> Baseline {
        Baseline {
            commit: "a".repeat(40).parse().unwrap(),
            setup: None,
            tests: Evidence::Failed(Finding {
                command: "t".to_owned(),
                exit_code: Some(1),
                counts: Counts::Known {
                    passed,
                    failed,
                    skipped: 0,
                },
                output: output.to_owned(),
                ..Finding::default()
            }),
            rewritten: Vec::new(),
            additions: Additions::None,
        }
    }

    #[test]
    fn above_one_in_ten_or_three_for_one_cause_are_too_many() {
        let name = "socket.gaierror: [Errno -2] Name or service not known\n";
        let table = [
            (11, 1, String::new(), None),
            (9, 1, String::new(), None),
            (8, 1, String::new(), Some(vec![])),
            (1, 2, String::new(), Some(vec![])),
            (97, 3, name.repeat(3), Some(vec![MachineCause::HostName])),
            (97, 3, name.repeat(2), None),
            (98, 2, name.repeat(4), None),
            (9, 3, name.repeat(3), Some(vec![MachineCause::HostName])),
        ];
        for (passed, failed, output, expected) in table {
            let found = too_many_failures(&baseline(passed, failed, &output));
            assert_eq!(
                found.map(|found| found.causes),
                expected,
                "{failed} of {passed} and {failed}"
            );
        }
    }

    #[test]
    fn each_cause_is_known_by_what_programs_print() {
        let table = [
            ("getaddrinfo ENOTFOUND db", MachineCause::HostName),
            ("connect ECONNREFUSED 127.0.0.1:5432", MachineCause::Service),
            ("OSError: [Errno 101] Network is unreachable", MachineCause::Network),
            ("KeyError: 'getpwuid(): uid not found: 4321'", MachineCause::User),
            ("fatal: No names found, cannot describe anything.", MachineCause::Tag),
            ("locale.Error: unsupported locale setting", MachineCause::Locale),
        ];
        for (printed, cause) in table {
            let found = too_many_failures(&baseline(0, 1, printed)).unwrap();
            assert_eq!(found.causes, [cause], "{printed}");
        }
    }
}
