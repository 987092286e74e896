//! Tests that a report says were written, against the tests and files that the commit has.

use crate::{
    claims::{Known, MOST_CLAIMS, contradiction, spelling::spellings},
    evidence::{Evidence, Finding},
    report::{Discrepancy, PlayerReport},
};

/// What separates the parts of a test's name in one runner or another.
const SEPARATORS: [&str; 4] = ["::", " > ", " › ", "#"];

/// The shortest name that is looked for in the text of changed files: shorter ones stand in any text.
const SHORTEST: usize = 3;

/// The tests of which neither the runner, nor a file of the commit, nor a changed line knows.
pub(super) fn invented(report: &PlayerReport, known: &Known<'_>) -> Vec<Discrepancy> {
    let findings: Vec<&Finding> = std::iter::once(&known.gates.tests)
        .chain(known.gates.more.iter().map(|result| &result.evidence))
        .filter_map(finding)
        .collect();
    report
        .tests_written
        .iter()
        .take(MOST_CLAIMS)
        .filter(|claim| !claim.trim().is_empty() && !exists(claim, known, &findings))
        .map(|claim| {
            let fact = "this commit has no such test and no such file";
            contradiction("tests_written", claim, fact)
        })
        .collect()
}

fn finding(evidence: &Evidence) -> Option<&Finding> {
    match evidence {
        Evidence::Passed(finding) | Evidence::Failed(finding) => Some(finding),
        Evidence::Absent(_) => None,
    }
}

fn exists(claim: &str, known: &Known<'_>, findings: &[&Finding]) -> bool {
    let name = bare(claim);
    let last = SEPARATORS.iter().fold(name, |name, separator| {
        name.rsplit(separator).next().unwrap_or(name).trim()
    });
    // Of `tests/a.py::test_b` the file alone shows nothing about the test.
    let is_file = last == name && spellings(name).iter().any(|path| (known.has_file)(path));
    is_file || findings.iter().any(|finding| ran(finding, name, last)) || stands_written(last, known)
}

/// A name without quotes, and without the parameters and brackets that callers and runners put behind it.
fn bare(claim: &str) -> &str {
    let name = claim.trim().trim_matches(['`', '"', '\'']);
    let name = name.strip_suffix("()").unwrap_or(name);
    match name.split_once('[') {
        Some((before, _)) if !before.trim().is_empty() => before.trim_end(),
        Some(_) | None => name,
    }
}

fn ran(finding: &Finding, name: &str, last: &str) -> bool {
    let ends = |known: &String| {
        let known = bare(known);
        [name, last].into_iter().any(|claimed| {
            let before = known.strip_suffix(claimed);
            before.is_some_and(|before| !before.ends_with(|c: char| c.is_alphanumeric() || c == '_'))
        })
    };
    let listed = finding.names.iter().flat_map(|names| {
        let lists = [&names.passed, &names.failed, &names.skipped];
        lists.into_iter().flatten()
    });
    finding.failing.iter().chain(listed).any(ends) || is_printed(finding, last)
}

/// Where no result has a name, a runner that prints the words is believed to mean the test.
fn is_printed(finding: &Finding, last: &str) -> bool {
    finding.names.is_none() && last.chars().count() >= SHORTEST && finding.output.contains(last)
}

/// Without results by name a test is known by its words in what the task changed. A dotted name is looked for by its end.
fn stands_written(last: &str, known: &Known<'_>) -> bool {
    let end = last.rsplit('.').next().unwrap_or(last);
    [last, end]
        .into_iter()
        .any(|words| words.chars().count() >= SHORTEST && (known.is_written)(words))
}
