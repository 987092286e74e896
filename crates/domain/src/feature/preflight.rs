//! Pre-flight: what is so before a Player runs, on a commit of the default branch.

use crate::{
    blocked::BlockReason,
    evidence::{Absence, Baseline, Counts, Evidence, Finding, Ground},
    ids::Sha,
    shorten,
};
use serde::{Deserialize, Serialize};

/// The most names of failing tests that a Feature keeps for people; the baseline itself has all.
const MOST_FAILING: usize = 20;
/// Characters of an output that a Feature keeps for people.
const MOST_OUTPUT: usize = 2_000;

/// What a shell or `env` answers for a program that is not there or cannot be run.
const NOT_RUN: [i32; 2] = [126, 127];

/// What pre-flight found on a commit of the default branch, as people are told it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreFlight {
    /// The commit.
    pub commit: Sha,
    /// How set-up ended, in a sentence; none where there is no set-up.
    pub setup: Option<String>,
    /// What the tests say.
    pub before: Before,
    /// What AutoBuild does not support in this repository, as sentences.
    pub notes: Vec<String>,
}

/// What the tests say before anyone changed anything.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Before {
    /// There is no test.
    NoTests {
        /// Why none ran, in a sentence.
        why: String,
    },
    /// They pass.
    Green {
        /// The command and its counts, in a sentence.
        tests: String,
    },
    /// Some fail already: these are not held against a task.
    Red {
        /// The command and its counts, in a sentence.
        tests: String,
        /// The first of those that fail, by name.
        failing: Vec<String>,
        /// How many more fail.
        more: usize,
        /// The end of what they printed, where nothing names those that fail.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        output: String,
    },
}

/// How a pre-flight ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PreFlown {
    /// Players can start.
    Ready(PreFlight),
    /// Something forbids the work or makes it impossible.
    Refused(BlockReason),
}

impl PreFlight {
    /// What a baseline means to people.
    #[must_use]
    pub fn of(baseline: &Baseline, notes: Vec<String>) -> Self {
        Self {
            commit: baseline.commit.clone(),
            setup: baseline.setup.as_ref().map(sentence),
            before: before(baseline),
            notes,
        }
    }
}

/// Why no Player can start on this baseline; none where one can. Red tests are no obstacle.
#[must_use]
pub fn obstacle(baseline: &Baseline) -> Option<BlockReason> {
    let (what, evidence) = match (&baseline.setup, &baseline.tests) {
        (Some(setup @ Evidence::Failed(_)), _) => ("set-up", setup),
        (Some(setup @ Evidence::Absent(reason)), _) if *reason != Absence::NoCommand => ("set-up", setup),
        (_, tests @ Evidence::Absent(Absence::CouldNotStart { .. } | Absence::TimedOut { .. })) => ("tests", tests),
        (_, tests @ Evidence::Failed(finding)) if was_not_run(finding) => ("tests", tests),
        (_, Evidence::Passed(_) | Evidence::Failed(_) | Evidence::Absent(_)) => return None,
    };
    let output = match evidence {
        Evidence::Passed(finding) | Evidence::Failed(finding) => finding.output.clone(),
        Evidence::Absent(_) => String::new(),
    };
    Some(BlockReason::PreFlightFailed {
        what: format!("{what}: {}", sentence(evidence)),
        output,
    })
}

fn was_not_run(finding: &Finding) -> bool {
    let code = finding.exit_code.is_some_and(|code| NOT_RUN.contains(&code));
    code && finding.counts == Counts::Unknown && finding.failing.is_empty()
}

fn sentence(evidence: &Evidence) -> String {
    match evidence {
        Evidence::Passed(finding) | Evidence::Failed(finding) => finding.sentence(),
        Evidence::Absent(reason) => reason.sentence(),
    }
}

fn sentence_of_tests(evidence: &Evidence) -> String {
    match evidence {
        Evidence::Passed(finding) | Evidence::Failed(finding) => finding.sentence_of_tests(),
        Evidence::Absent(reason) => reason.sentence(),
    }
}

fn before(baseline: &Baseline) -> Before {
    let tests = sentence_of_tests(&baseline.tests);
    match (baseline.ground(), &baseline.tests) {
        (Ground::Empty, _) => Before::NoTests { why: tests },
        (Ground::Green, _) => Before::Green { tests },
        (Ground::Named(names), _) if names.failed.is_empty() => Before::Green { tests },
        (Ground::Named(names), _) => red(tests, &names.failed, names.failed.len(), ""),
        (Ground::Red, Evidence::Passed(finding) | Evidence::Failed(finding)) => {
            red(tests, &finding.failing, finding.failed(), &finding.output)
        }
        (Ground::Red, Evidence::Absent(_)) => red(tests, &[], 0, ""),
    }
}

fn red(tests: String, failing: &[String], all: usize, output: &str) -> Before {
    let output = match failing {
        [] => shorten::middle(output, MOST_OUTPUT),
        _ => String::new(),
    };
    Before::Red {
        tests,
        failing: failing.iter().take(MOST_FAILING).cloned().collect(),
        more: all.saturating_sub(failing.len().min(MOST_FAILING)),
        output,
    }
}
