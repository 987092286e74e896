//! Compares the tests that a report claims to have written with the tests and files of the commit.

use crate::{
    claims::{CommitFacts, MOST_CLAIMS, spelling::spellings},
    evidence::{Evidence, Finding, TestNames},
    report::{Discrepancy, PlayerReport},
};

/// The separators between the parts of a test's name, in various runners.
const SEPARATORS: [&str; 4] = ["::", " > ", " › ", "#"];

/// The shortest name that is searched in the text of changed files; shorter ones occur by chance.
const SHORTEST: usize = 3;

/// Returns the claimed tests that appear neither in the runner's results, nor as a file of the commit, nor in the text
/// of a changed file.
pub(super) fn invented(report: &PlayerReport, commit: &CommitFacts<'_>) -> Vec<Discrepancy> {
    let others = commit.gates.more.iter().map(|result| &result.evidence);
    let all = others.chain([&commit.gates.tests]);
    let findings: Vec<&Finding> = all.filter_map(Evidence::finding).collect();
    let claims = report.tests_written.iter().take(MOST_CLAIMS);
    let is_invented = |claim: &&String| !claim.trim().is_empty() && !exists(claim, commit, &findings);
    let invented = claims.filter(is_invented).cloned();
    invented.map(Discrepancy::NoSuchTest).collect()
}

fn exists(claim: &str, commit: &CommitFacts<'_>, findings: &[&Finding]) -> bool {
    let name = strip_quotes_and_parameters(claim);
    let last = SEPARATORS.iter().fold(name, |name, separator| name.rsplit(separator).next().unwrap_or(name).trim());
    // In `tests/a.py::test_b`, the file alone shows nothing about the test.
    let is_file = last == name && spellings(name).iter().any(|path| (commit.has_file)(path));
    is_file || findings.iter().any(|finding| has_result(finding, name, last)) || is_in_changed_file(last, commit)
}

/// Removes the quotes around a name, and the parameters and brackets after it.
fn strip_quotes_and_parameters(claim: &str) -> &str {
    let name = claim.trim().trim_matches(['`', '"', '\'']);
    let name = name.strip_suffix("()").unwrap_or(name);
    match name.split_once('[') {
        Some((before, _)) if !before.trim().is_empty() => before.trim_end(),
        Some(_) | None => name,
    }
}

fn has_result(finding: &Finding, name: &str, last: &str) -> bool {
    let ends = |known: &String| {
        let known = strip_quotes_and_parameters(known);
        [name, last].into_iter().any(|claimed| {
            let before = known.strip_suffix(claimed);
            before.is_some_and(|before| !before.ends_with(|c: char| c.is_alphanumeric() || c == '_'))
        })
    };
    let listed = finding.names.iter().flat_map(TestNames::all);
    finding.failing.iter().chain(listed).any(ends) || is_printed(finding, last)
}

/// If the runner lists no results by name, the name in its output is taken as the test.
fn is_printed(finding: &Finding, last: &str) -> bool {
    finding.names.is_none() && last.chars().count() >= SHORTEST && finding.output.contains(last)
}

/// `true` if the text of a changed file contains the name. A dotted name may match by its last part.
fn is_in_changed_file(last: &str, commit: &CommitFacts<'_>) -> bool {
    let end = last.rsplit('.').next().unwrap_or(last);
    [last, end].into_iter().any(|words| words.chars().count() >= SHORTEST && (commit.is_written)(words))
}
