//! Questions about a change: a suspicion, or a change that somebody has to want. Running decides nothing here, so the
//! Coach or a person answers each by name.

use crate::{
    integrity::{Detail, IntegrityFinding, Rule},
    test_outcome::TestOutcome,
};
use serde::{Deserialize, Serialize};

/// The most lines of a question's material.
pub const MOST_LINES: usize = 40;

/// The most questions in a turn.
pub const MOST_QUESTIONS: usize = 12;

/// One question. Its number is its place in [`crate::evidence::GateReport::questions`], from 1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// The outcome or rule that asks.
    pub topic: Topic,
    /// The tests, functions or files that it is about, at least one.
    pub about: Vec<String>,
    /// The path and line to look at, in the head's version of the file if it is there.
    pub place: Option<(String, u32)>,
    /// The old and the new form, the diff of the setting, or the failing output; at most [`MOST_LINES`] lines.
    pub material: String,
}

impl Question {
    /// Returns the question that a finding of a rule asks.
    pub fn about_finding(finding: &IntegrityFinding, material: String) -> Self {
        let about = match &finding.what {
            Detail::Test(name)
            | Detail::Tests { first: name, .. }
            | Detail::InTest { test: name, .. }
            | Detail::Instead { test: name, .. }
            | Detail::Function(name)
            | Detail::Path(name)
            | Detail::Setting { name, .. } => name,
            Detail::Nothing | Detail::Code(_) | Detail::Size { .. } | Detail::Sentence(_) => &finding.path,
        };
        Self {
            topic: Topic::Rule(finding.rule),
            about: vec![about.clone()],
            place: Some((finding.path.clone(), finding.line.unwrap_or(1))),
            material,
        }
    }
}

/// The outcome or rule that asks a question, the gravest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Topic {
    /// A row of the table of the four runs.
    Outcome(TestOutcome),
    /// Functions that nothing notices when they are emptied.
    Unnoticed,
    /// Assertions that fail without failing their test.
    IgnoredAssertions,
    /// A test that was stable on the base and is not on the head.
    Unstable,
    /// A file that tests and product share, without which an old test fails.
    SharedFile,
    /// A rule that reads the change.
    Rule(Rule),
}
