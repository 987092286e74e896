//! The problems of a turn, as facts: the items of a verdict with their problems, broken contracts, and criteria that
//! nothing shows. A prompt or a review words them.

use crate::{
    evidence::{Finding, Gate, GateReport, Unmet},
    integrity::{Detail, IntegrityFinding, Rule, Weight},
    plan::TaskType,
    question::Unsettled,
    test_outcome::TestOutcome,
    unrun::UnrunTests,
};
use serde::{Deserialize, Serialize};
use text::words;

/// One problem or remark of the Coach, a Gate or a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewItem {
    /// Its weight: `must_fix` sends work back.
    pub severity: Severity,
    pub problem: Problem,
    pub file: Option<String>,
    /// The line it is about, from 1, in the new version of the file.
    pub line: Option<u32>,
    /// The fix. If it replaces the line, it is shown as a suggestion block.
    pub suggestion: Option<String>,
}

words! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Severity {
        /// It sends work back.
        MustFix = "must_fix",
        /// A comment that should be followed.
        ShouldFix = "should_fix",
        /// A comment that may be followed.
        NiceToHave = "nice_to_have",
    }
}

/// The problem that an item is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Problem {
    /// A remark of the Coach or of a person, in their words.
    Remark {
        /// A category, for example correctness, requirement, test, design or security.
        category: String,
        text: String,
    },
    /// More remarks of a person's review, which stand on the pull request.
    MoreRemarks(usize),
    /// A person requests changes and names none.
    NothingNamed,
    /// The Coach sends the work back and names no reason.
    NoReason,
    /// The Coach named more issues than are kept.
    MoreIssues {
        /// The number of issues that it named.
        named: usize,
        /// The number of issues that are kept.
        kept: usize,
    },
    /// A rule of integrity is broken.
    Rule { rule: Rule, what: Detail },
    /// A test of the base does not hold as it did.
    Outcome {
        /// The row of the table of the four runs.
        outcome: TestOutcome,
        test: String,
    },
    /// A part of the profile is not met.
    Unmet(Unmet),
    /// Tests are required, and no command for them is known.
    NoTestCommand,
    /// A criterion is not shown to hold.
    Criterion(OpenCriterion),
    /// The check of a criterion failed.
    CheckFailed {
        /// The criterion's number, from 1.
        number: usize,
        text: String,
        /// The result of the check.
        finding: Finding,
    },
    /// No answer settles a question.
    Question(Unsettled),
    /// A check of the repository's CI failed.
    Ci {
        check: String,
        /// Its output, which may be empty.
        output: String,
    },
    /// No test runs these lines: the first and the last of each range, from 1.
    Uncovered(Vec<(u32, u32)>),
    /// A script runs when packages are installed.
    InstallScript(String),
    /// Set-up rewrote this file, which was restored before the tests ran.
    Restored(String),
    /// New tests did not run.
    Unrun(UnrunTests),
    /// The turn changed no file.
    NoChange,
    /// Ignore rules left new files out of the commit.
    LeftOut(LeftOut),
    /// The commit may not be pushed.
    Forbidden(Forbidden),
    /// The files cannot be committed.
    Uncommitted(Uncommitted),
    /// The file still has the markers of a merge conflict.
    ConflictMarkers,
    /// Nothing is wrong with the work; the review of it broke a contract.
    Review(Box<Breach>),
}

/// Why a commit may not be pushed. It never contains a secret's value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Forbidden {
    /// The settings protect the path by this pattern.
    Protected(String),
    /// A symbolic link leaves the repository.
    EscapingLink,
    /// A submodule is added or changed.
    Submodule,
    /// A filter such as Git LFS would store the file in another form, and no filter runs.
    Filtered {
        filter: String,
        /// The file and line of attributes that name it.
        rule: String,
    },
    /// A line has a secret of this kind.
    Secret(String),
    /// The name of a file has a secret.
    SecretName {
        /// The path with the secret masked.
        masked: String,
        kind: String,
    },
}

/// Why the files of a turn cannot be committed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Uncommitted {
    /// A folder cannot be read.
    Unreadable(String),
    /// Some systems read this path as `.git`.
    RefusedName(String),
    /// A folder is nested too deeply.
    TooDeep(String),
    FileTooLarge {
        path: String,
        /// The size in bytes.
        size: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// The changed files are too large together.
    TotalTooLarge {
        /// The size in bytes.
        size: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// More files changed than this.
    TooManyFiles(usize),
    /// The folder was removed or replaced.
    CheckoutGone,
    /// The file's bytes are not in the encoding that an attribute names.
    NotEncoded {
        encoding: String,
        /// The file and line of attributes that name it.
        rule: String,
    },
}

impl Problem {
    /// Returns the category in which reviews list it.
    pub fn category(&self) -> &str {
        match self {
            Self::Remark { category, .. } => category,
            Self::MoreRemarks(_) | Self::NothingNamed | Self::MoreIssues { .. } | Self::Review(_) => "review",
            Self::NoReason | Self::Criterion(_) | Self::CheckFailed { .. } | Self::NoChange => "requirement",
            Self::Rule { .. } | Self::InstallScript(_) | Self::Restored(_) => "integrity",
            Self::Outcome { .. } | Self::Unmet(_) | Self::NoTestCommand | Self::Unrun(_) => "test",
            Self::Question(_) => "question",
            Self::Ci { .. } => "ci",
            Self::Uncovered(_) => "coverage",
            Self::LeftOut(_) => "ignored_file",
            Self::Forbidden(forbidden) => forbidden.category(),
            Self::Uncommitted(Uncommitted::NotEncoded { .. }) => "encoding",
            Self::Uncommitted(_) => "unusable_file",
            Self::ConflictMarkers => "merge_conflict",
        }
    }

    /// Returns the words of the Coach or of a person.
    pub fn words(&self) -> Option<&String> {
        if let Self::Remark { text, .. } = self { Some(text) } else { None }
    }
}

impl Forbidden {
    /// `true` if the path alone is the reason, for any content of the file.
    pub fn is_of_path(&self) -> bool {
        match self {
            Self::Protected(_) | Self::EscapingLink | Self::Submodule => true,
            Self::Filtered { .. } | Self::Secret(_) | Self::SecretName { .. } => false,
        }
    }

    fn category(&self) -> &'static str {
        match self {
            Self::Protected(_) => "protected_path",
            Self::EscapingLink => "escaping_link",
            Self::Submodule => "submodule",
            Self::Filtered { .. } => "filtered_file",
            Self::Secret(_) | Self::SecretName { .. } => "secret",
        }
    }
}

impl ReviewItem {
    /// An item that sends work back and names no file.
    pub fn must_fix(problem: Problem) -> Self {
        Self { severity: Severity::MustFix, problem, file: None, line: None, suggestion: None }
    }

    /// A must-fix item in the words of the Coach or a person.
    pub fn must_fix_remark(category: &str, text: &str) -> Self {
        let (category, text) = (category.to_owned(), text.to_owned());
        Self::must_fix(Problem::Remark { category, text })
    }

    /// `true` if no person may waive it by overriding the Coach: a secret, of all rules.
    pub fn is_never_waived(&self) -> bool {
        self.rule() == Some(Rule::Secret)
    }

    /// Returns the rule of integrity that is broken.
    pub fn rule(&self) -> Option<Rule> {
        if let Problem::Rule { rule, .. } = self.problem { Some(rule) } else { None }
    }
}

impl IntegrityFinding {
    /// Returns the finding as an item for the Player and for people.
    pub fn item(&self, kind: TaskType) -> ReviewItem {
        let severity = match self.weight(kind) {
            Weight::Required => Severity::MustFix,
            Weight::Asked | Weight::Informational => Severity::ShouldFix,
        };
        let (rule, what) = (self.rule, self.what.clone());
        ReviewItem {
            severity,
            problem: Problem::Rule { rule, what },
            file: Some(self.path.clone()),
            line: self.line,
            suggestion: None,
        }
    }
}

words! {
    /// A promise that an agent's definition names and that code checks in each turn.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Contract {
        /// The Player's report has the right shape.
        ReportValid = "report_valid",
        /// The change touches only allowed paths.
        PathsAllowed = "paths_allowed",
        /// The Player's own statement never ends a task.
        NeverDeclaresDone = "never_declares_done",
        /// The Coach's decision has the right shape and asks only for possible things.
        DecisionValid = "decision_valid",
        /// Every Gate of the profile passed on this commit.
        GatesPassed = "gates_passed",
        /// Every criterion is met and has evidence that exists, except those for a person.
        CriteriaEvidenced = "criteria_evidenced",
        /// Every question is answered, with a quote that is there.
        QuestionsAnswered = "questions_answered",
        /// No `must_fix` issue is left.
        NoMustFix = "no_must_fix",
        /// An agent that may only read left its checkout unchanged.
        CheckoutUnchanged = "checkout_unchanged",
        /// The designer's answer has the right shape.
        DesignValid = "design_valid",
    }
}

/// Why a decision or a change broke a contract.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Breach {
    /// A part of the profile is not met.
    Gate(Unmet),
    /// The decision is about a criterion that does not exist, by its number.
    NoSuchCriterion(usize),
    /// A criterion is not shown to hold.
    Criterion(OpenCriterion),
    /// No answer settles a question.
    Question(Unsettled),
    /// The approval has this many `must_fix` issues.
    MustFixLeft(usize),
    /// The Coach changed these paths of its checkout.
    CheckoutChanged(Vec<String>),
    /// The Coach asked for commands instead of deciding.
    NotDecided,
    /// The change touches these paths, which no change may touch.
    ForbiddenPaths(Vec<String>),
}

impl Breach {
    pub fn contract(&self) -> Contract {
        match self {
            Self::Gate(_) => Contract::GatesPassed,
            Self::NoSuchCriterion(_) | Self::NotDecided => Contract::DecisionValid,
            Self::Criterion(_) => Contract::CriteriaEvidenced,
            Self::Question(unsettled) if unsettled.open.lacks_answer() => Contract::QuestionsAnswered,
            Self::Question(_) | Self::MustFixLeft(_) => Contract::NoMustFix,
            Self::CheckoutChanged(_) => Contract::CheckoutUnchanged,
            Self::ForbiddenPaths(_) => Contract::PathsAllowed,
        }
    }
}

/// A criterion that is not shown to hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenCriterion {
    /// Its number, from 1.
    pub number: usize,
    pub text: String,
    pub doubt: Doubt,
}

/// Why a criterion is not shown to hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Doubt {
    /// The Coach denies it, with these words.
    NotMet {
        /// The words, which may be empty.
        words: String,
    },
    /// Its own check failed on this commit.
    CheckFailed(Finding),
    /// Its own check did not run, because something before it failed, which is reported by itself.
    NotReached,
    /// The Coach says nothing about it.
    NotLookedAt,
    /// The Coach calls it met without evidence.
    WithoutEvidence,
    /// The Coach calls it met, and its evidence names nothing that exists on this commit.
    NothingReal,
}

impl Doubt {
    /// `true` if only the review is at fault, so that its author is asked for the missing parts.
    pub fn is_of_review(&self) -> bool {
        match self {
            Self::NotMet { .. } | Self::CheckFailed(_) | Self::NotReached => false,
            Self::NotLookedAt | Self::WithoutEvidence | Self::NothingReal => true,
        }
    }
}

impl OpenCriterion {
    /// Returns the item for the Player; `None` if the Gates report the same already.
    pub(crate) fn item(&self, gates: &GateReport) -> Option<ReviewItem> {
        let is_reported = match &self.doubt {
            Doubt::NotReached => true,
            Doubt::CheckFailed(_) => {
                gates.result(Gate::Check(self.number)).is_some_and(|check| check.weight != Weight::Informational)
            }
            Doubt::NotMet { .. } | Doubt::NotLookedAt | Doubt::WithoutEvidence | Doubt::NothingReal => false,
        };
        (!is_reported).then(|| ReviewItem::must_fix(Problem::Criterion(self.clone())))
    }
}

/// New files that one ignore rule kept out of a turn's commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// The file and line of the rule, such as `.gitignore:1`.
    pub rule: String,
    pub pattern: String,
    /// The first files.
    pub files: Vec<String>,
    /// The number of files.
    pub count: usize,
}
