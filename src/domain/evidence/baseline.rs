//! What was so before: the tests of a commit of the default branch, as pre-flight found them.

use crate::domain::evidence::Counts;
use crate::domain::evidence::Evidence;
use crate::domain::evidence::Finding;
use crate::domain::evidence::TestNames;
use crate::domain::ids::Sha;
use crate::domain::ids::User;
use serde::Deserialize;
use serde::Serialize;

/// What set-up and tests find on a commit before anyone changed anything.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Baseline {
    /// The commit.
    pub commit: Sha,
    /// The set-up command; `None` when there is none.
    pub setup: Option<Evidence>,
    /// The test command.
    pub tests: Evidence,
}

/// A failing test that a person waived: from then on it belongs to what was so before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaivedTest {
    /// The test's name, as its runner spells it.
    pub test: String,
    /// Who waived it.
    pub by: User,
}

/// What a baseline says of the tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ground<'a> {
    /// There is no test, or none that runs.
    Empty,
    /// They pass, without names.
    Green,
    /// They fail, without names: a later failure cannot be told from these.
    Red,
    /// Each is known by its name.
    Named(&'a TestNames),
}

impl Baseline {
    /// What it says of the tests.
    #[must_use]
    pub fn ground(&self) -> Ground<'_> {
        match &self.tests {
            Evidence::Absent(_) => Ground::Empty,
            Evidence::Passed(finding) | Evidence::Failed(finding) if is_empty(finding) => Ground::Empty,
            Evidence::Passed(finding) | Evidence::Failed(finding) => match (&finding.names, &self.tests) {
                (Some(names), _) if names.is_whole(finding.counts) => Ground::Named(names),
                (_, Evidence::Passed(_)) => Ground::Green,
                (_, Evidence::Failed(_) | Evidence::Absent(_)) => Ground::Red,
            },
        }
    }
}

fn is_empty(finding: &Finding) -> bool {
    let none = Counts::Known {
        passed: 0,
        failed: 0,
        skipped: 0,
    };
    finding.counts == none && finding.failing.is_empty()
}
