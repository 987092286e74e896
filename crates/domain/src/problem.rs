//! The problems that items of a verdict are about, as facts. A prompt or a review words them.

use crate::{
    contract::Breach,
    evidence::{Finding, Unmet},
    grounds::OpenCriterion,
    integrity::{Detail, Rule},
    question::Unsettled,
    report::LeftOut,
    test_outcome::TestOutcome,
    unrun::UnrunTests,
};
use serde::{Deserialize, Serialize};

/// The problem that an item is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Problem {
    /// A remark of the Coach or of a person, in their words.
    Remark {
        /// A category, for example correctness, requirement, test, design or security.
        category: String,
        /// The words.
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
    Rule {
        /// The rule.
        rule: Rule,
        /// The details.
        what: Detail,
    },
    /// A test of the base does not hold as it did.
    Outcome {
        /// The row of the table of the four runs.
        outcome: TestOutcome,
        /// The test.
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
        /// The criterion's text.
        text: String,
        /// The result of the check.
        finding: Finding,
    },
    /// No answer settles a question.
    Question(Unsettled),
    /// A check of the repository's CI failed.
    Ci {
        /// The check's name.
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
        /// The filter's name.
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
        /// The kind of secret.
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
    /// A file is too large.
    FileTooLarge {
        /// The path.
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
        /// The encoding.
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
        if let Self::Remark { text, .. } = self {
            Some(text)
        } else {
            None
        }
    }
}

impl Forbidden {
    /// `true` if the path alone is the reason, whatever the file holds.
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
