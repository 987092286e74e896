//! The results of Gates as facts. `messages` of the application words them.

use crate::{
    evidence::absence::Absence, ids::Sha, integrity::Rule, isolation::Limit, test_outcome::TestOutcome,
    unrun::UnrunTests,
};
use serde::{Deserialize, Serialize};

/// A fact that a Gate found, or about how it ran.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fact {
    /// The run's result for the test that a criterion names.
    NamedTest {
        /// The name in the criterion.
        test: String,
        result: NamedTest,
    },
    /// The file that a criterion names is there.
    FileThere(String),
    /// The file that a criterion names is missing.
    FileMissing(String),
    /// Checks by others passed.
    ChecksPassed(Vec<String>),
    /// Checks by others failed.
    ChecksFailed(Vec<String>),
    /// The check passes without the change too.
    RegressionCheck,
    /// The base's tests hold on the new code.
    BaseHolds {
        /// The number of tests; `None` if the runner names none.
        tests: Option<usize>,
        /// The reason why the base's tests, as they were, gave no result.
        unseen: Option<Absence>,
    },
    /// Tests of the base do not hold as they did.
    BaseBroken { counted: Vec<(TestOutcome, usize)>, tests: Vec<String> },
    /// Tests fail without the change and pass with it.
    Witnessed {
        /// The number of tests, and the first by name; `None` if the runner names none.
        tests: Option<(usize, String)>,
    },
    /// The check of this criterion, from 1, fails without the change and passes with it.
    CriterionWitnessed(usize),
    /// Nothing fails without the change.
    NoWitness {
        /// The new and changed tests that were tried.
        tried: Vec<String>,
        /// The new tests that did not run.
        unrun: Option<UnrunTests>,
        /// The kinds of files that the change touches.
        touched: TouchedKinds,
    },
    /// The coverage file measures no changed line.
    NoLineMeasured,
    /// The coverage of the changed lines.
    Covered {
        /// The number of covered lines.
        covered: u32,
        /// The number of measured lines.
        all: u32,
        /// The percentage that is asked for, rounded.
        asked: String,
    },
    /// The findings of the rules that read the change; none of them may be required.
    #[serde(rename = "rules_broken")]
    RuleFindings {
        /// The rules that send work back.
        required: Vec<Rule>,
        /// The number of their findings.
        held: usize,
        /// The number of findings that are only shown.
        shown: usize,
    },
    /// The experiments that ran, and those for which no time was left.
    Experimented {
        ran: Vec<Experiment>,
        left_out: Vec<Experiment>,
        /// The time for all of them, in seconds.
        seconds: u64,
    },
    /// The result is that of an earlier run of the same files.
    FromEarlierRun,
    /// Set-up ran on this commit, and the files that it reads have not changed since.
    SetUpOn(Sha),
    /// Set-up rewrote these files, and they were restored.
    Restored(Vec<String>),
    /// The command was stopped because it exceeded this limit.
    OverLimit(Limit),
    /// The command was stopped because it only waited for a host that is not reached.
    WaitedForHost,
}

/// A run's result for one test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NamedTest {
    Passed,
    Failed,
    Skipped,
    /// No test of this name ran.
    NotRun {
        /// The tests that did, with names that contain it.
        similar: Vec<String>,
    },
    /// The change brings it, and it did not run.
    WrittenNotRun {
        path: String,
        /// Its line, from 1.
        line: u32,
    },
    /// The runner names no tests, and no file of tests contains its name.
    Nowhere,
}

/// The kinds of files that a change touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TouchedKinds {
    CodeOrTests,
    /// It touches only other files.
    Neither,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Experiment {
    /// All functions of the change are emptied at once.
    EmptiedFunctions,
    /// Functions of the change are emptied by halves.
    EachEmptiedFunction,
    /// Functions of the change return another value.
    OtherReturnValues,
    /// Both forms of changed tests run on broken code.
    ChangedTests,
    /// All assertions of the change's tests fail.
    FailingAssertions,
    /// One assertion of each test fails at a time.
    EachAssertion,
}
