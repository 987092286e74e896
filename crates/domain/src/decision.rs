//! What a Coach says of a Turn, and what stands of it in the end.

pub use crate::decision_parse::{parse_decision, schema};

use crate::{
    contract::BrokenContract,
    integrity::{Detail, IntegrityFinding, Rule},
    plan::TaskType,
    weight::Weight,
};
use serde::{Deserialize, Serialize};

/// The Coach's answer to one Turn, as parsed from its report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CoachDecision {
    /// Which way the Coach went.
    pub decision: DecisionKind,
    /// Why, in a paragraph.
    pub summary: String,
    /// One entry per criterion that the Coach looked at.
    pub criteria: Vec<CriterionFinding>,
    /// What the Coach says of the tests.
    pub tests: Option<CoachTests>,
    /// What it found wrong or worth saying.
    pub issues: Vec<Issue>,
    /// Free words to the Player.
    pub feedback: String,
    /// Commands to be run as Gates, for `probe` only.
    pub commands: Vec<String>,
    /// Keys of the answer that no rule knows: they are ignored and shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignored: Vec<String>,
}

/// The word of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecisionKind {
    /// The work may be merged.
    Approve,
    /// The Player must do more.
    Feedback,
    /// Once per Turn: run these commands, then ask again.
    Probe,
}

/// Whether a Coach may still ask for commands to be run: once per Turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probing {
    /// It may.
    Allowed,
    /// It did.
    Over,
}

/// What the Coach found of one acceptance criterion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CriterionFinding {
    /// The criterion's number, from 1.
    pub criterion: usize,
    /// Whether it is met.
    pub met: CriterionMet,
    /// A file, test or command that shows it.
    pub evidence: String,
}

/// Whether a criterion is met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CriterionMet {
    /// It is.
    Met,
    /// It is not.
    NotMet,
}

/// What the Coach says of the tests; shown, never believed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CoachTests {
    /// Command it refers to.
    pub command: String,
    /// Tests said to pass.
    pub passed: u64,
    /// Tests said to fail.
    pub failed: u64,
    /// Coverage in percent.
    pub coverage: Option<f64>,
    /// Names of failing tests.
    pub failures: Vec<String>,
}

/// One thing that the Coach, a Gate or a person found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "StoredIssue")]
pub struct Issue {
    /// Whether it sends work back.
    pub severity: Severity,
    /// For example correctness, requirement, test, design or security.
    pub category: String,
    /// What is wrong.
    pub description: String,
    /// The file it is about.
    pub file: Option<String>,
    /// The line it is about, from 1, in the new version of the file.
    pub line: Option<u32>,
    /// What to do; shown as a suggestion block where it replaces the line.
    pub suggestion: Option<String>,
    /// The rule of integrity that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<Rule>,
    /// What is there, for the sentence that is the description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub what: Option<Detail>,
}

/// The category of items about integrity.
const INTEGRITY: &str = "integrity";

/// An issue as it may be stored: older ones tell their rule only by the beginning of their description.
#[derive(Deserialize)]
struct StoredIssue {
    severity: Severity,
    category: String,
    description: String,
    file: Option<String>,
    line: Option<u32>,
    suggestion: Option<String>,
    rule: Option<Rule>,
    what: Option<Detail>,
}

impl From<StoredIssue> for Issue {
    fn from(stored: StoredIssue) -> Self {
        let told = stored
            .description
            .split(':')
            .next()
            .filter(|_| stored.category == INTEGRITY);
        let known = Rule::ALL.into_iter().find(|rule| told == Some(rule.name()));
        Self {
            severity: stored.severity,
            category: stored.category,
            description: stored.description,
            file: stored.file,
            line: stored.line,
            suggestion: stored.suggestion,
            rule: stored.rule.or(known),
            what: stored.what,
        }
    }
}

/// How much an issue weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Sends work back.
    MustFix,
    /// A comment.
    ShouldFix,
    /// A comment.
    NiceToHave,
}

/// What stands after the contracts were checked. Code may lower a decision, never raise it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// Approval or feedback.
    pub outcome: Outcome,
    /// The decision it was made from; absent when there was no Coach run (no change, a commit that may not be pushed).
    pub decision: Option<CoachDecision>,
    /// Contracts that the approval broke; empty for an honest decision.
    pub broken_contracts: Vec<BrokenContract>,
    /// Everything the Player is told to mend, `must_fix` first.
    pub items: Vec<Issue>,
}

/// Which way a Turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The work may be merged.
    Approve,
    /// Another turn, or blocked.
    Feedback,
}

impl Issue {
    /// An issue that sends work back, about no file in particular.
    pub fn must_fix(category: &str, description: &str) -> Self {
        Self {
            severity: Severity::MustFix,
            category: category.to_owned(),
            description: description.to_owned(),
            file: None,
            line: None,
            suggestion: None,
            rule: None,
            what: None,
        }
    }

    /// Whether no person may waive it.
    pub fn is_never_waived(&self) -> bool {
        self.rule.is_some_and(|rule| !rule.can_be_waived())
    }
}

impl IntegrityFinding {
    /// The finding as an item for the Player and for people; its description is worded where it is told.
    pub fn item(&self, kind: TaskType) -> Issue {
        let severity = match self.weight(kind) {
            Weight::Demanded => Severity::MustFix,
            Weight::Shown => Severity::ShouldFix,
        };
        Issue {
            severity,
            category: INTEGRITY.to_owned(),
            description: self.rule.name().to_owned(),
            file: Some(self.path.clone()),
            line: self.line,
            suggestion: None,
            rule: Some(self.rule),
            what: Some(self.what.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Issue;

    #[test]
    fn a_secret_that_was_stored_without_its_rule_is_still_never_waived() {
        let stored = |category: &str, description: &str| {
            let text = serde_json::json!({
                "severity": "must_fix", "category": category, "description": description,
                "file": null, "line": null, "suggestion": null,
            });
            serde_json::from_value::<Issue>(text).unwrap().is_never_waived()
        };
        assert!(stored("integrity", "secret: a private key"));
        assert!(!stored("integrity", "stub: `todo!()`"));
        assert!(!stored("security", "secret: a private key"));
    }
}
