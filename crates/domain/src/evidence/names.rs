//! Results by name.

use crate::evidence::Counts;
use serde::{Deserialize, Serialize};

/// The names of the tests that ran, each as its runner spells it, in the runner's order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TestNames {
    /// Tests that passed.
    pub passed: Vec<String>,
    /// Tests that failed.
    pub failed: Vec<String>,
    /// Tests that were skipped: that is not a pass.
    pub skipped: Vec<String>,
}

impl TestNames {
    /// The most names that are kept of each list.
    pub const MOST: usize = 20_000;

    /// Whether every test that the runner counted is named: only then does it mean something that a name is missing.
    pub fn names_all(&self, counts: Counts) -> bool {
        let is = |names: &[String], number: u32| u32::try_from(names.len()) == Ok(number);
        match counts {
            Counts::Known { passed, failed, .. } => is(&self.passed, passed) && is(&self.failed, failed),
            Counts::Unknown => false,
        }
    }

    /// Whether every failure that the runner counted is among the names.
    pub fn is_whole(&self, counts: Counts) -> bool {
        match counts {
            Counts::Known { failed, .. } => u32::try_from(self.failed.len()).is_ok_and(|named| named == failed),
            Counts::Unknown => self.failed.len() < Self::MOST,
        }
    }
}
