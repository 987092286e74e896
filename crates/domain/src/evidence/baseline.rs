//! The baseline: the results of set-up and tests on a commit of the default branch, as pre-flight found them.

use crate::{
    evidence::{Evidence, Finding, TestNames},
    ids::{Sha, User},
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The results of set-up and tests on a commit before anyone changed anything.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Baseline {
    pub commit: Sha,
    /// The result of the set-up command; `None` if there is none.
    pub setup: Option<Evidence>,
    /// The result of the test command.
    pub tests: Evidence,
    /// The files of the commit that set-up rewrites and that are restored afterwards.
    pub rewritten: Vec<String>,
    /// The use of AutoBuild's additions to the test command.
    pub additions: Additions,
    /// The names of the folders that set-up and tests made.
    pub made: BTreeSet<String>,
}

/// The effect on the results of AutoBuild's additions to the test command, which make the runner name every test.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Additions {
    /// Not tried: no test ran before the work, or the baseline was already made with them.
    #[default]
    Untried,
    /// There is nothing to add.
    None,
    /// The results are the same with them.
    Harmless,
    /// Some result differs with them, so the command runs unchanged.
    Refused,
}

impl Additions {
    /// `true` if the additions are used.
    pub fn are_made(self) -> bool {
        match self {
            Self::Untried | Self::Harmless => true,
            Self::None | Self::Refused => false,
        }
    }
}

/// A failing test that a person waived. From then on it belongs to the baseline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaivedTest {
    /// The test's name, as its runner spells it.
    pub test: String,
    pub by: User,
}

/// The state of the tests in a baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ground<'a> {
    /// There are no tests, or none that run.
    Empty,
    /// They pass, but are not known by name.
    Green,
    /// They fail and are not known by name, so a new failure cannot be distinguished from an old one.
    Red,
    /// Their results are known by name, and no failure is missing.
    Named(&'a TestNames),
}

impl Baseline {
    /// Returns the state of the tests.
    pub fn ground(&self) -> Ground<'_> {
        match &self.tests {
            Evidence::Absent(_) => Ground::Empty,
            Evidence::Passed(finding) | Evidence::Failed(finding) if finding.collected_nothing() => Ground::Empty,
            Evidence::Passed(finding) => match &finding.names {
                Some(names) if names.names_all_failures(finding.counts) => Ground::Named(names),
                Some(_) | None => Ground::Green,
            },
            // A run that failed for another reason, or was cut short, does not name all failures.
            Evidence::Failed(finding) => match &finding.names {
                Some(names) if finding.names_failures(names) => Ground::Named(names),
                Some(_) | None => Ground::Red,
            },
        }
    }
}

impl Finding {
    /// `true` if the run ended by itself and every failed test is named. A run that was cut short names too few.
    pub(super) fn names_failures(&self, names: &TestNames) -> bool {
        self.exit_code.is_some() && !names.failed.is_empty() && names.names_all_failures(self.counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Counts;

    fn baseline(exit_code: i32, passed: u32, failed: u32, names: Option<&[&str]>) -> Baseline {
        let finding = Finding {
            command: "t".to_owned(),
            exit_code: Some(exit_code),
            counts: Counts::Known { passed, failed, skipped: 0 },
            failing: vec![],
            output: String::new(),
            names: names.map(|failed| TestNames {
                failed: failed.iter().map(|name| (*name).to_owned()).collect(),
                ..TestNames::default()
            }),
            ..Finding::default()
        };
        Baseline {
            commit: "a".repeat(40).parse().unwrap(),
            setup: None,
            tests: match exit_code {
                0 => Evidence::Passed(finding),
                _ => Evidence::Failed(finding),
            },
            rewritten: Vec::new(),
            additions: Additions::None,
            made: std::collections::BTreeSet::new(),
        }
    }

    #[test]
    fn only_failures_that_are_all_named_excuse_by_name() {
        let word = |baseline: Baseline| match baseline.ground() {
            Ground::Empty => "empty",
            Ground::Green => "green",
            Ground::Red => "red",
            Ground::Named(_) => "named",
        };
        let table = [
            (baseline(0, 3, 0, Some(&[])), "named"),
            (baseline(0, 3, 0, None), "green"),
            (baseline(0, 0, 0, None), "empty"),
            (baseline(5, 0, 0, Some(&[])), "empty"),
            (baseline(1, 3, 1, Some(&["a"])), "named"),
            (baseline(1, 3, 2, Some(&["a"])), "red"),
            (baseline(1, 3, 0, Some(&[])), "red"),
            (baseline(1, 3, 1, None), "red"),
        ];
        for (baseline, expected) in table {
            assert_eq!(word(baseline.clone()), expected, "{baseline:?}");
        }
    }
}
