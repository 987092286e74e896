//! Pre-flight: the state of a commit of the default branch before a Player works on it.

use crate::{
    blocked::{BlockReason, PreFlightCause, PreFlightFault},
    evidence::{Absence, Additions, Baseline, Counts, Evidence, Finding, Ground, TestNames},
    ids::{Sha, TaskId},
    plan::{Check, Plan, TaskType},
};
use serde::{Deserialize, Serialize};
use text::shorten;

/// The most names of failing tests that a Feature keeps to show; the baseline itself has all of them.
const MOST_FAILING: usize = 20;
/// The most output that a Feature keeps to show, in characters.
const MOST_OUTPUT: usize = 2_000;

/// The exit codes of a shell or `env` for a program that cannot be executed or does not exist.
const NOT_RUN: [i32; 2] = [126, 127];

/// The result of pre-flight on a commit of the default branch, reduced to the parts that people read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreFlight {
    pub commit: Sha,
    /// The result of set-up; `None` if there is no set-up.
    pub setup: Option<Evidence>,
    pub before: TestsBefore,
    /// The parts of this repository that AutoBuild does not support, as sentences.
    pub notes: Vec<String>,
    /// Criteria whose check may never pass.
    pub doubts: Vec<Doubt>,
    pub additions: Additions,
}

/// A reason why a criterion's check may never pass.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Doubt {
    /// No test has this name. Either the plan brings no tests, or a test with nearly the same name exists.
    UnknownTest {
        task: TaskId,
        /// The test's name in the plan.
        test: String,
        /// Existing tests with similar names, the most similar first.
        nearest: Vec<String>,
    },
    /// The command names a program that does not exist.
    MissingProgram { task: TaskId, command: String, program: String },
}

/// The results of the tests before any change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TestsBefore {
    /// There are no tests.
    NoTests {
        /// The result of the test command.
        tests: Evidence,
    },
    /// The tests pass.
    Green {
        /// The result of the test command.
        tests: Evidence,
    },
    /// Some tests fail already; they do not count against a task.
    Red {
        /// The result of the test command.
        tests: Evidence,
        /// The names of the first failing tests.
        failing: Vec<String>,
        /// The number of other failing tests.
        more: usize,
        /// The tests' output, shortened in the middle; empty if the failing tests have names.
        output: String,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "an event always holds it in a box")]
pub enum PreFlightOutcome {
    /// Players can start.
    Ready(PreFlight),
    /// Something forbids the work or makes it impossible.
    Refused(BlockReason),
}

impl PreFlight {
    /// Reduces a baseline to the parts that people read.
    pub fn of(baseline: &Baseline, notes: Vec<String>) -> Self {
        Self {
            commit: baseline.commit.clone(),
            setup: baseline.setup.as_ref().map(|setup| split_output(setup).0),
            before: tests_before(baseline),
            notes,
            doubts: Vec::new(),
            additions: baseline.additions,
        }
    }
}

/// Returns why no Player can start on this baseline: set-up failed, or the test command could not run or timed out.
/// Failing tests are no obstacle here.
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
    let (evidence, output) = split_output(evidence);
    BlockReason::PreFlightFailed { fault, what: Box::new(cause(evidence)), output }
}

/// Splits evidence into the evidence without its output and test names, and the output.
fn split_output(evidence: &Evidence) -> (Evidence, String) {
    let mut evidence = evidence.clone();
    let output = match &mut evidence {
        Evidence::Passed(finding) | Evidence::Failed(finding) => {
            finding.names = None;
            std::mem::take(&mut finding.output)
        }
        Evidence::Absent(Absence::HostRefused { output, .. }) => std::mem::take(output),
        Evidence::Absent(_) => String::new(),
    };
    (evidence, output)
}

/// Returns why no test could show that a task is done: tests ran, and none of them passed.
pub fn nothing_passes(baseline: &Baseline) -> Option<BlockReason> {
    let counts = baseline.tests.finding()?.counts;
    let none_passed = matches!(counts, Counts::Known { passed: 0, failed: 1.., .. });
    none_passed.then(|| failed(PreFlightFault::NothingPasses, PreFlightCause::Tests, &baseline.tests))
}

/// Returns why no criterion of this plan that names a test could ever be met: tests ran, but have no names.
pub fn nameless(baseline: &Baseline, plan: &Plan) -> Option<BlockReason> {
    let names = baseline.tests.finding()?.names.as_ref();
    let names_some = names.is_some_and(|names| names.all().next().is_some());
    let (task, test) = named_tests(plan).next()?;
    if names_some || baseline.ground() == Ground::Empty {
        return None;
    }
    let cause = |tests| PreFlightCause::NoNames { task, test: test.to_owned(), tests };
    Some(failed(PreFlightFault::NoNames, cause, &baseline.tests))
}

/// The tests of a repository for which no command was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UncalledTests {
    pub files: Vec<String>,
    /// Commands that run the tests of one folder each, if there are several such folders.
    pub commands: Vec<String>,
    /// Commands of the repository's own workflows and make files that seem to run tests.
    pub mentioned: Vec<String>,
    /// The names of the tool chains that were looked for.
    pub looked_for: String,
}

/// Returns the task that needs tests in a repository whose tests no command runs. Such a task could never be approved.
pub fn untestable(baseline: &Baseline, plan: &Plan, tests: UncalledTests) -> Option<BlockReason> {
    let needs_tests = |kind| match kind {
        TaskType::Feature | TaskType::Testing => true,
        TaskType::Scaffolding | TaskType::Refactoring | TaskType::Documentation => false,
    };
    let task = plan.tasks.iter().find(|task| needs_tests(task.kind))?.id;
    let has_none = baseline.tests == Evidence::Absent(Absence::NoCommand);
    has_none.then(|| BlockReason::PreFlightFailed {
        fault: PreFlightFault::NoCommand,
        what: Box::new(PreFlightCause::NoCommand { task, tests }),
        output: String::new(),
    })
}

fn named_tests(plan: &Plan) -> impl Iterator<Item = (TaskId, &str)> {
    plan.tasks.iter().flat_map(|task| {
        let checks = task.acceptance_criteria.iter().map(|criterion| &criterion.check);
        checks.filter_map(|check| match check {
            Check::Test(test) => Some((task.id, test.as_str())),
            Check::Command(_) | Check::File(_) | Check::Human => None,
        })
    })
}

/// The least Jaro-Winkler similarity at which one name counts as a misspelling of another.
const ALIKE: f64 = 0.85;
/// The most similar names that are proposed.
const MOST_NEAREST: usize = 3;

/// Returns a doubt for each missing test that a criterion names, if an existing test has nearly the same name or the
/// plan adds no tests because all its tasks are documentation.
pub fn unknown_tests(baseline: &Baseline, plan: &Plan, is_called: impl Fn(&str, &str) -> bool) -> Vec<Doubt> {
    let Ground::Named(names) = baseline.ground() else {
        return Vec::new();
    };
    let is_brought = plan.tasks.iter().any(|task| task.kind != TaskType::Documentation);
    let unknown = named_tests(plan).filter(|(_, test)| !names.all().any(|name| is_called(name, test)));
    unknown
        .filter_map(|(task, test)| {
            let nearest = nearest(test, names);
            (!is_brought || !nearest.is_empty()).then(|| Doubt::UnknownTest { task, test: test.to_owned(), nearest })
        })
        .collect()
}

/// Returns the names whose last part, such as `adds` in `math::adds`, is most similar to the test's, the best first.
fn nearest(test: &str, known: &TestNames) -> Vec<String> {
    let end = |name: &str| {
        let last = name.rsplit([':', '.', '>', '›', '/']).next();
        last.unwrap_or(name).trim().to_lowercase()
    };
    let wanted = end(test);
    let similar = known.all().map(|name| (strsim::jaro_winkler(&wanted, &end(name)), name));
    let mut similar: Vec<(f64, &String)> = similar.filter(|(alike, _)| *alike >= ALIKE).collect();
    similar.sort_by(|one, other| other.0.total_cmp(&one.0).then_with(|| one.1.cmp(other.1)));
    let nearest = similar.into_iter().take(MOST_NEAREST);
    nearest.map(|(_, name)| name.clone()).collect()
}

fn was_not_run(finding: &Finding) -> bool {
    let code = finding.exit_code.is_some_and(|code| NOT_RUN.contains(&code));
    code && finding.counts == Counts::Unknown && finding.failing.is_empty()
}

fn tests_before(baseline: &Baseline) -> TestsBefore {
    let (tests, _) = split_output(&baseline.tests);
    match (baseline.ground(), &baseline.tests) {
        (Ground::Empty, _) => TestsBefore::NoTests { tests },
        (Ground::Green, _) => TestsBefore::Green { tests },
        (Ground::Named(names), _) if names.failed.is_empty() => TestsBefore::Green { tests },
        (Ground::Named(names), _) => red(tests, &names.failed, names.failed.len(), ""),
        (Ground::Red, Evidence::Passed(finding) | Evidence::Failed(finding)) => {
            red(tests, &finding.failing, finding.failed(), &finding.output)
        }
        (Ground::Red, Evidence::Absent(_)) => red(tests, &[], 0, ""),
    }
}

fn red(tests: Evidence, failing: &[String], all: usize, output: &str) -> TestsBefore {
    let output = match failing {
        [] => shorten::middle(output, MOST_OUTPUT),
        _ => String::new(),
    };
    TestsBefore::Red {
        tests,
        failing: failing.iter().take(MOST_FAILING).cloned().collect(),
        more: all.saturating_sub(failing.len().min(MOST_FAILING)),
        output,
    }
}
