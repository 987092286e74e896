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
pub(super) fn invented(report: &PlayerReport, known: &CommitFacts<'_>) -> Vec<Discrepancy> {
    let others = known.gates.more.iter().map(|result| &result.evidence);
    let all = others.chain([&known.gates.tests]);
    let findings: Vec<&Finding> = all.filter_map(Evidence::finding).collect();
    let claims = report.tests_written.iter().take(MOST_CLAIMS);
    let is_invented = |claim: &&String| !claim.trim().is_empty() && !exists(claim, known, &findings);
    let invented = claims.filter(is_invented).cloned();
    invented.map(Discrepancy::NoSuchTest).collect()
}

fn exists(claim: &str, known: &CommitFacts<'_>, findings: &[&Finding]) -> bool {
    let name = bare(claim);
    let last = SEPARATORS.iter().fold(name, |name, separator| name.rsplit(separator).next().unwrap_or(name).trim());
    // In `tests/a.py::test_b`, the file alone shows nothing about the test.
    let is_file = last == name && spellings(name).iter().any(|path| (known.has_file)(path));
    is_file || findings.iter().any(|finding| ran(finding, name, last)) || stands_written(last, known)
}

/// Removes the quotes around a name, and the parameters and brackets after it.
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
    let listed = finding.names.iter().flat_map(TestNames::all);
    finding.failing.iter().chain(listed).any(ends) || is_printed(finding, last)
}

/// If the runner lists no results by name, the name in its output is taken as the test.
fn is_printed(finding: &Finding, last: &str) -> bool {
    finding.names.is_none() && last.chars().count() >= SHORTEST && finding.output.contains(last)
}

/// `true` if the text of a changed file contains the name. A dotted name may match by its last part.
fn stands_written(last: &str, known: &CommitFacts<'_>) -> bool {
    let end = last.rsplit('.').next().unwrap_or(last);
    [last, end].into_iter().any(|words| words.chars().count() >= SHORTEST && (known.is_written)(words))
}
