//! New tests that did not run, and the reasons.

use serde::{Deserialize, Serialize};

/// New tests that did not run, for one reason.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct UnrunTests {
    /// Each test with its file.
    pub tests: Vec<(String, String)>,
    /// The run's report on them.
    pub outcome: UnrunOutcome,
    /// The condition that keeps them from running, if it was found.
    pub condition: Option<RunCondition>,
}

/// A run's report on tests that did not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnrunOutcome {
    /// It calls them skipped.
    Skipped,
    /// It does not name them.
    NotNamed,
}

/// A condition that keeps tests from running.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RunCondition {
    pub code: String,
    /// The file that holds it.
    pub path: String,
    /// The way to run the tests.
    pub cure: RunCure,
}

/// A way to run tests that a condition keeps from running.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunCure {
    /// The condition always holds, so only taking it away helps.
    TakeAway,
    /// The commands of the settings can meet it.
    Meet {
        /// A command that does.
        example: Option<String>,
    },
}
