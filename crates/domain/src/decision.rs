//! The Coach's decision on a turn, and the verdict that follows from it.

use crate::{
    problem::{Breach, ReviewItem},
    question::{OpenQuestion, QuestionAnswer},
};
use serde::{Deserialize, Serialize};
use text::words;

/// The Coach's decision on one turn, as parsed from its answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CoachDecision {
    pub decision: DecisionKind,
    /// The reasons, in a paragraph.
    pub summary: String,
    /// One entry per criterion that the Coach checked.
    pub criteria: Vec<CriterionFinding>,
    /// The Coach's statement about the tests.
    pub tests: Option<CoachTests>,
    /// The problems and remarks.
    pub issues: Vec<ReviewItem>,
    /// Free text for the Player.
    pub feedback: String,
    pub answers: Vec<QuestionAnswer>,
    /// The commands to run as Gates, for `probe` only.
    pub commands: Vec<String>,
    /// Unknown keys of the answer. They are ignored and shown.
    pub ignored: Vec<String>,
}

impl CoachDecision {
    /// Replaces the decision's findings about these criteria with later ones.
    pub fn with_findings(mut self, about: &[usize], findings: Vec<CriterionFinding>) -> Self {
        let answers = |finding: &CriterionFinding| about.contains(&finding.criterion);
        let later: Vec<CriterionFinding> = findings.into_iter().filter(answers).collect();
        let is_replaced = |finding: &CriterionFinding| later.iter().any(|later| later.criterion == finding.criterion);
        self.criteria.retain(|finding| !is_replaced(finding));
        self.criteria.extend(later);
        self
    }

    /// Replaces the decision's answers to these questions with later ones.
    pub fn with_answers(mut self, about: &[usize], mut answers: Vec<QuestionAnswer>) -> Self {
        answers.retain(|answer| about.contains(&answer.question));
        let is_replaced = |answer: &QuestionAnswer| answers.iter().any(|later| later.question == answer.question);
        self.answers.retain(|answer| !is_replaced(answer));
        self.answers.extend(answers);
        self
    }
}

words! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum DecisionKind {
        /// The work may be merged.
        Approve = "approve",
        /// The Player must continue.
        Feedback = "feedback",
        /// AutoBuild must run these commands and ask again; allowed once per turn.
        Probe = "probe",
    }
}

/// A Coach's right to ask for commands, once per turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probing {
    /// The Coach has not asked yet.
    Allowed,
    /// The Coach has asked.
    Over,
}

/// The Coach's finding about one acceptance criterion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CriterionFinding {
    /// The criterion's number, from 1.
    pub criterion: usize,
    pub met: CriterionMet,
    /// A file, test or command that shows the finding.
    pub evidence: String,
}

/// The Coach's opinion on a criterion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CriterionMet {
    Met,
    NotMet,
}

/// The Coach's statement about the tests. It is stored, and nothing relies on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CoachTests {
    pub command: String,
    /// The number of tests that passed, as claimed.
    pub passed: u64,
    /// The number of tests that failed, as claimed.
    pub failed: u64,
    /// Coverage in percent.
    pub coverage: Option<f64>,
    /// Names of failing tests.
    pub failures: Vec<String>,
}

/// The outcome of a turn once the contracts are checked. Code may lower a decision, never raise it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// Approval or feedback.
    pub outcome: Outcome,
    /// The Coach's decision; `None` if no Coach ran, because nothing changed or the commit may not be pushed.
    pub decision: Option<CoachDecision>,
    /// The contracts that the decision or the change broke, each with the reason.
    pub breaches: Vec<Breach>,
    /// The questions that the decision's answers leave open.
    pub open_questions: Vec<OpenQuestion>,
    /// Everything that the Player must or may fix, `must_fix` first.
    pub items: Vec<ReviewItem>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The work may be merged.
    Approve,
    /// Another turn follows, or the task blocks.
    Feedback,
}
