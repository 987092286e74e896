//! Failing tests of the base, as signs that this machine lacks something. A few failures are excused by name. Many of
//! them, or several with the same text, more likely show that the machine lacks something that the tests need.

use crate::{
    blocked::{BlockReason, PreFlightCause, PreFlightFault},
    evidence::{Baseline, Counts, Finding, Symptoms},
};
use serde::{Deserialize, Serialize};

/// One in this many tests may fail.
const ONE_IN: usize = 10;

/// The number of tests that are too many if they fail with the same text.
const ONE_CAUSE: usize = 3;

/// The failing tests of the base, as a person is asked about them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BaseFailures {
    /// The number of tests that fail; 0 if the suite fails and its runner does not count.
    pub failed: usize,
    /// The number of tests that ran; 0 if it is unknown.
    pub ran: usize,
    /// The signs that the failures share.
    pub symptoms: Symptoms,
    /// The result of the repository's own CI on the same commit.
    pub ci: CiOfBase,
}

/// The result of the repository's own CI on the base.
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
    #[default]
    Asks,
    /// A person accepted the failures as the baseline.
    Accepted,
}

/// Returns the failing tests of a baseline if they are too many to be excused, or too many for one cause. A suite that
/// fails without counting its tests counts as one test.
pub fn too_many_failures(baseline: &Baseline, ci: CiOfBase) -> Option<BaseFailures> {
    let finding = baseline.tests.failure()?;
    let (failed, ran) = count(finding);
    let are_many = ran == 0 || failed.saturating_mul(ONE_IN) > ran;
    let are_alike = finding.symptoms.shared.iter().any(|shared| shared.tests >= ONE_CAUSE);
    (are_many || are_alike).then(|| BaseFailures { failed, ran, symptoms: Symptoms::clone(&finding.symptoms), ci })
}

/// Returns the numbers of failing and of all tests, as the runner counts them, else by their names.
fn count(finding: &Finding) -> (usize, usize) {
    let size = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
    match (finding.counts, &finding.names) {
        (Counts::Known { passed, failed, .. }, _) => (size(failed), size(failed).saturating_add(size(passed))),
        (Counts::Unknown, Some(names)) => (names.failed.len(), names.failed.len().saturating_add(names.passed.len())),
        (Counts::Unknown, None) => (finding.failing.len(), 0),
    }
}

impl BaseFailures {
    /// Returns the block in which a person is asked if the work may continue.
    pub fn reason(self) -> BlockReason {
        BlockReason::PreFlightFailed {
            fault: PreFlightFault::FailingBase,
            what: Box::new(PreFlightCause::Failing(self)),
            output: String::new(),
        }
    }
}

impl BlockReason {
    /// `true` if a person is asked to accept the failing tests of the base.
    pub fn asks_about_base(&self) -> bool {
        matches!(self, Self::PreFlightFailed { fault: PreFlightFault::FailingBase, .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::{Additions, Evidence};

    fn baseline(counts: Counts, alike: usize) -> Baseline {
        let failures: Vec<(String, &str)> = (0..alike).map(|n| (format!("t{n}"), "no such host")).collect();
        let failures = failures.iter().map(|(test, line)| (test.as_str(), *line));
        Baseline {
            commit: "a".repeat(40).parse().unwrap(),
            setup: None,
            tests: Evidence::Failed(Finding {
                command: "t".to_owned(),
                exit_code: Some(1),
                counts,
                symptoms: Box::new(Symptoms::new(failures, |_| None)),
                ..Finding::default()
            }),
            rewritten: Vec::new(),
            additions: Additions::None,
            made: std::collections::BTreeSet::new(),
        }
    }

    #[test]
    fn above_one_in_ten_or_three_for_one_cause_are_too_many() {
        let known = |passed, failed| Counts::Known { passed, failed, skipped: 0 };
        let table = [
            (known(11, 1), 0, None),
            (known(9, 1), 0, None),
            (known(8, 1), 0, Some((1, 9))),
            (known(1, 2), 0, Some((2, 3))),
            (known(97, 3), 3, Some((3, 100))),
            (known(97, 3), 2, None),
            (known(900, 90), 2, None),
            (known(900, 90), 3, Some((90, 990))),
            (known(90, 0), 0, None),
            (known(0, 0), 0, Some((0, 0))),
            (Counts::Unknown, 0, Some((0, 0))),
        ];
        for (counts, alike, expected) in table {
            let found = too_many_failures(&baseline(counts, alike), CiOfBase::Green);
            let found = found.map(|found| (found.failed, found.ran));
            assert_eq!(found, expected, "{counts:?} and {alike}");
        }
    }
}
