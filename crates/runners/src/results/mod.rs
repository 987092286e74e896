//! Reads numbers and names of tests from a runner's output or from a results file. The runner is recognised by its
//! output. So `make test` or a script may call several runners, whose results add up.

mod ctest;
mod deno;
mod dotnet;
mod failures;
mod go;
mod javascript;
mod junit;
mod jvm;
mod mix;
mod node;
mod numbers;
mod php;
mod python;
mod ruby;
pub(crate) mod runner;
mod rust;
mod tally;
mod tap;
mod unittest;

use crate::results::{runner::Runner, tally::Tally};
use domain::evidence::Counts;

pub use failures::{error_lines, system_error, unfit};
pub use junit::{read as junit, read_all as junit_files};
pub use jvm::report_folders;
pub(crate) use rust::is_documented;
pub use tally::RunResults;

/// Every runner, in the order in which output is read.
pub(crate) static RUNNERS: &[&Runner] = &[
    &rust::CARGO_TEST,
    &rust::NEXTEST,
    &python::PYTEST,
    &unittest::UNITTEST,
    &unittest::DJANGO,
    &javascript::JEST,
    &javascript::VITEST,
    &javascript::MOCHA,
    &node::NODE,
    &tap::AVA,
    &go::GO_TEST,
    &tap::PROVE,
    &jvm::MAVEN,
    &jvm::GRADLE,
    &ruby::RAKE,
    &ruby::RAILS,
    &ruby::TEST_UNIT,
    &ruby::RSPEC,
    &php::PHPUNIT,
    &php::PEST,
    &dotnet::DOTNET,
    &deno::DENO,
    &mix::MIX,
    &ctest::CTEST,
    &ctest::MESON,
    &ctest::AUTOMAKE,
];

/// Reads both output streams of a finished command, free of colours.
pub fn read(stdout: &str, stderr: &str) -> RunResults {
    let text = format!("{stdout}\n{stderr}");
    let by = |runner: &Runner| {
        let mut tally = (runner.read?)(&text)?;
        if let Some(layout) = &runner.failures {
            failures::find(&text, layout, |test, line| tally.record_failure(&(layout.name)(test), line));
        }
        Some(tally)
    };
    let mut tallies: Vec<Tally> = RUNNERS.iter().filter_map(|runner| by(runner)).collect();
    // Other runners print lines of the Test Anything Protocol among their own, so it is only tried last.
    if tallies.is_empty() {
        tallies.extend(by(&tap::PLAIN));
    }
    match Tally::sum_of(tallies) {
        Some(sum) => sum.into_results(),
        None => RunResults { counts: Counts::Unknown, failing: Vec::new(), names: None, texts: Vec::new() },
    }
}

/// Returns the test in which a run was stopped, if the runner shows it.
pub fn unfinished_test(stdout: &str, stderr: &str) -> Option<String> {
    let all = RUNNERS.iter().filter_map(|runner| runner.begun);
    all.flat_map(|begun| [begun(stdout), begun(stderr)]).flatten().next()
}

/// Returns the files that the output of a runner names as the output of its failing tests.
pub fn logs(output: &str) -> impl Iterator<Item = &str> {
    let logs = RUNNERS.iter().filter_map(|runner| runner.log);
    logs.flat_map(|log| output.lines().filter_map(log))
}

/// `true` if the output is that of a runner that reads the environment variables that AutoBuild sets.
pub(crate) fn reads_variables(output: &str) -> bool {
    let is_its = |runner: &&Runner| runner.read.is_some_and(|read| read(output).is_some());
    [&python::PYTEST, &rust::NEXTEST, &ruby::RSPEC].iter().any(is_its)
}

#[cfg(test)]
mod tests;
