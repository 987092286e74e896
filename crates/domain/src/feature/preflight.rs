//! Pre-flight: what is so before a Player runs, on a commit of the default branch.

use crate::{
    blocked::{BlockReason, PreFlightCause, PreFlightFault},
    evidence::{Absence, Additions, Baseline, Counts, Evidence, Finding, Ground, TestNames},
    ids::{Sha, TaskId},
    plan::{Check, Plan, TaskType},
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
    /// Checks of criteria that may never hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<Doubt>,
    /// What is added to the test command.
    #[serde(default)]
    pub additions: Additions,
}

/// Why a check of a criterion may never hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Doubt {
    /// There is no such test, and the task may not bring one, or there is one that is spelled nearly so.
    UnknownTest {
        /// The task.
        task: TaskId,
        /// The test's name in the plan.
        test: String,
        /// Tests that are there, the nearest first.
        nearest: Vec<String>,
    },
    /// The command names a program that is not there.
    MissingProgram {
        /// The task.
        task: TaskId,
        /// The command.
        command: String,
        /// The program.
        program: String,
    },
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
    /// Some fail already: these are not counted against a task.
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
    pub fn of(baseline: &Baseline, notes: Vec<String>) -> Self {
        Self {
            commit: baseline.commit.clone(),
            setup: baseline.setup.as_ref().map(sentence),
            before: before(baseline),
            notes,
            doubts: Vec::new(),
            additions: baseline.additions,
        }
    }
}

/// Why no Player can start on this baseline; none where one can. Tests that fail are no obstacle where others pass.
pub fn obstacle(baseline: &Baseline) -> Option<BlockReason> {
    let not_run = |cause: fn(Evidence) -> PreFlightCause, evidence| failed(PreFlightFault::NotRun, cause, evidence);
    match (&baseline.setup, &baseline.tests) {
        (Some(setup @ Evidence::Failed(_)), _) => Some(not_run(PreFlightCause::SetUp, setup)),
        (Some(setup @ Evidence::Absent(reason)), _) if *reason != Absence::NoCommand => {
            Some(not_run(PreFlightCause::SetUp, setup))
        }
        (_, tests @ Evidence::Absent(Absence::CouldNotStart { .. } | Absence::TimedOut { .. })) => {
            Some(not_run(PreFlightCause::Tests, tests))
        }
        (_, tests @ Evidence::Failed(finding)) if was_not_run(finding) => Some(not_run(PreFlightCause::Tests, tests)),
        (_, Evidence::Passed(_) | Evidence::Failed(_) | Evidence::Absent(_)) => None,
    }
}

fn failed(fault: PreFlightFault, cause: impl Fn(Evidence) -> PreFlightCause, evidence: &Evidence) -> BlockReason {
    let (evidence, output) = apart(evidence);
    BlockReason::PreFlightFailed {
        fault,
        what: Box::new(cause(evidence)),
        output,
    }
}

/// What ran without what it printed and the names of its tests, and what it printed.
fn apart(evidence: &Evidence) -> (Evidence, String) {
    let mut evidence = evidence.clone();
    let output = match &mut evidence {
        Evidence::Passed(finding) | Evidence::Failed(finding) => {
            finding.names = None;
            std::mem::take(&mut finding.output)
        }
        Evidence::Absent(_) => String::new(),
    };
    (evidence, output)
}

/// Why no test could show that a task is done: tests run here, and none of them passes.
pub fn nothing_passes(baseline: &Baseline) -> Option<BlockReason> {
    let (Evidence::Passed(finding) | Evidence::Failed(finding)) = &baseline.tests else {
        return None;
    };
    match finding.counts {
        Counts::Known { passed: 0, failed, .. } if failed > 0 => {
            let cause = PreFlightCause::Tests;
            Some(self::failed(PreFlightFault::NothingPasses, cause, &baseline.tests))
        }
        Counts::Known { .. } | Counts::Unknown => None,
    }
}

/// Why no criterion of this plan that names a test could ever be met: tests run here, and nothing names them.
pub fn nameless(baseline: &Baseline, plan: &Plan) -> Option<BlockReason> {
    let (Evidence::Passed(finding) | Evidence::Failed(finding)) = &baseline.tests else {
        return None;
    };
    let is_empty = |names: &TestNames| names.passed.is_empty() && names.failed.is_empty() && names.skipped.is_empty();
    let names_some = finding.names.as_ref().is_some_and(|names| !is_empty(names));
    let (task, test) = named_tests(plan).next()?;
    if names_some || baseline.ground() == Ground::Empty {
        return None;
    }
    let cause = |tests| PreFlightCause::NoNames {
        task,
        test: test.to_owned(),
        tests,
    };
    Some(failed(PreFlightFault::NoNames, cause, &baseline.tests))
}

/// Every test that a criterion names, with its task.
fn named_tests(plan: &Plan) -> impl Iterator<Item = (TaskId, &str)> {
    plan.tasks.iter().flat_map(|task| {
        task.acceptance_criteria
            .iter()
            .filter_map(|criterion| match &criterion.check {
                Check::Test(test) => Some((task.id, test.as_str())),
                Check::Command(_) | Check::File(_) | Check::Human => None,
            })
    })
}

/// How much alike two names are before one is held for the other misspelt.
const ALIKE: f64 = 0.85;
/// The most names that are proposed.
const MOST_NEAREST: usize = 3;

/// Tests that criteria name and that nobody has: each that its task may not bring, or that is nearly one that is there.
pub fn unknown_tests(baseline: &Baseline, plan: &Plan, is_called: impl Fn(&str, &str) -> bool) -> Vec<Doubt> {
    let Ground::Named(names) = baseline.ground() else {
        return Vec::new();
    };
    let known = || names.passed.iter().chain(&names.failed).chain(&names.skipped);
    let is_brought = plan.tasks.iter().any(|task| task.kind != TaskType::Documentation);
    let unknown = named_tests(plan).filter(|(_, test)| !known().any(|name| is_called(name, test)));
    unknown
        .filter_map(|(task, test)| {
            let nearest = nearest(test, known().map(String::as_str));
            (!is_brought || !nearest.is_empty()).then(|| Doubt::UnknownTest {
                task,
                test: test.to_owned(),
                nearest,
            })
        })
        .collect()
}

/// The names that are most like a test's, as their last parts go.
fn nearest<'a>(test: &str, known: impl Iterator<Item = &'a str>) -> Vec<String> {
    let end = |name: &str| {
        name.rsplit([':', '.', '>', '›', '/'])
            .next()
            .unwrap_or(name)
            .trim()
            .to_lowercase()
    };
    let wanted = end(test);
    let mut all: Vec<(f64, &str)> = known
        .map(|name| (strsim::jaro_winkler(&wanted, &end(name)), name))
        .filter(|(alike, _)| *alike >= ALIKE)
        .collect();
    all.sort_by(|one, other| other.0.total_cmp(&one.0).then_with(|| one.1.cmp(other.1)));
    all.into_iter()
        .take(MOST_NEAREST)
        .map(|(_, name)| name.to_owned())
        .collect()
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
