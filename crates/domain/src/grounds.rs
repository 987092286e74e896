//! Checks if a Coach's evidence for a criterion names something real and specific: a file of the commit, a test that
//! passed on it, or a command that AutoBuild ran. It cannot judge the quality of the evidence, only that it is not
//! invented. A criterion whose own check passed needs none.

use crate::{
    citation::{FileReference, Word, is_marked, mentions, words},
    contract::TurnFacts,
    decision::{CoachDecision, CriterionFinding, CriterionMet},
    evidence::{Absence, Evidence, Fact, Finding, Gate, NamedTest},
    plan::{Check, Criterion},
    problem::{Doubt, OpenCriterion},
};
use std::collections::BTreeSet;

/// The most wrong numbers that are reported; a decision may have any number of them.
const MOST_WRONG: usize = 10;

/// Returns the first criterion numbers of the decision that do not exist.
pub fn wrong_numbers(decision: &CoachDecision, criteria: &[Criterion]) -> Vec<usize> {
    let wrong = |number: &usize| *number == 0 || *number > criteria.len();
    let all = decision.criteria.iter().map(|finding| finding.criterion);
    let numbers: BTreeSet<usize> = all.filter(wrong).collect();
    numbers.into_iter().take(MOST_WRONG).collect()
}

/// Returns the paths that a decision's evidence may name together with a line. Judging it needs the line counts of
/// these files.
pub fn cited_with_lines(decision: &CoachDecision) -> BTreeSet<String> {
    let cited = decision.criteria.iter().flat_map(|finding| words(&finding.evidence));
    cited
        .flat_map(|word| word.file_references())
        .filter_map(|reference| reference.line.map(|_| reference.path))
        .collect()
}

/// Returns the criteria without proof that they hold. Criteria for a person are never among them.
pub fn open_criteria(decision: &CoachDecision, facts: &TurnFacts<'_>) -> Vec<OpenCriterion> {
    let required = (1..).zip(facts.criteria).filter(|(_, criterion)| criterion.check != Check::Human);
    let open = required.filter_map(|(number, criterion)| {
        Some(OpenCriterion { number, text: criterion.text.clone(), doubt: doubt(decision, facts, number)? })
    });
    open.collect()
}

/// A criterion whose own check passed needs no other evidence: the check shows it, even if the Coach names other
/// evidence.
fn doubt(decision: &CoachDecision, facts: &TurnFacts<'_>, number: usize) -> Option<Doubt> {
    let about = decision.criteria.iter().filter(|finding| finding.criterion == number);
    let about: Vec<&CriterionFinding> = about.collect();
    if let Some(not_met) = about.iter().find(|finding| finding.met == CriterionMet::NotMet) {
        let words = not_met.evidence.trim().to_owned();
        return Some(Doubt::NotMet { words });
    }
    let check = facts.gates.result(Gate::Check(number)).map(|check| &check.evidence);
    match check {
        Some(Evidence::Failed(finding)) => return Some(Doubt::CheckFailed(finding.without_output())),
        Some(Evidence::Absent(Absence::NotReached)) => return Some(Doubt::NotReached),
        _ if about.is_empty() => return Some(Doubt::NotLookedAt),
        Some(Evidence::Passed(_)) => return None,
        Some(Evidence::Absent(_)) | None => {}
    }
    if about.iter().all(|finding| finding.evidence.trim().is_empty()) {
        return Some(Doubt::WithoutEvidence);
    }
    let is_proven = about.iter().any(|finding| is_real(&finding.evidence, facts));
    (!is_proven).then_some(Doubt::NothingReal)
}

/// `true` if `evidence` names a file of the commit, a test that passed on it, or a command that ran.
fn is_real(evidence: &str, facts: &TurnFacts<'_>) -> bool {
    let found = words(evidence);
    found.iter().any(|word| is_file(word, facts))
        || names_command(evidence, facts)
        || names_test(evidence, &found, facts)
}

/// `true` if the word names a file of the commit. A plain word, such as `run`, is also an English word, and a change can
/// add a file of that name. So it counts only if the file is older than the change.
fn is_file(word: &Word<'_>, facts: &TurnFacts<'_>) -> bool {
    let is_path = word.marked || word.bare().contains(['.', '/']);
    word.file_references().into_iter().any(|FileReference { path, line }| {
        let is_meant = is_path || line.is_some() || (facts.is_on_base)(&path);
        is_meant && (facts.lines_of)(&path).is_some_and(|lines| line.is_none_or(|line| lines.may_have(line)))
    })
}

/// Returns the findings of everything that ran on this commit.
fn ran<'a>(facts: &TurnFacts<'a>) -> impl Iterator<Item = &'a Finding> {
    let first = facts.gates.setup.iter().chain([&facts.gates.tests]);
    let all = first.chain(facts.gates.more.iter().map(|result| &result.evidence));
    all.filter_map(Evidence::finding)
}

/// `true` if a command that ran is named. A command of one plain word, such as `make` or `true`, is also an English
/// word, so it must be marked as code.
fn names_command(evidence: &str, facts: &TurnFacts<'_>) -> bool {
    ran(facts).any(|finding| {
        let command = finding.command.trim();
        let is_phrase = command.contains([' ', '/']);
        mentions(evidence, command) && (is_phrase || is_marked(evidence, command))
    })
}

/// `true` if a test that passed is named; a skipped test did not pass. If the runner gives no results by name, its
/// output must contain the name and not list it as failing.
fn names_test(evidence: &str, found: &[Word<'_>], facts: &TurnFacts<'_>) -> bool {
    let is_passed = |fact: &Fact| {
        let Fact::NamedTest { test, result } = fact else {
            return false;
        };
        *result == NamedTest::Passed && names_this_test(evidence, found, test)
    };
    ran(facts).any(|finding| match &finding.names {
        _ if finding.facts.iter().any(is_passed) => true,
        Some(names) => names.passed.iter().any(|test| names_this_test(evidence, found, test)),
        None => found.iter().any(|word| {
            let name = word.bare();
            let failing = finding.failing.iter().any(|test| test == name);
            looks_like_a_test(name) && !failing && mentions(&finding.output, name)
        }),
    })
}

fn names_this_test(evidence: &str, found: &[Word<'_>], test: &str) -> bool {
    let test = test.trim();
    // Runners for JavaScript name tests by sentences.
    if test.contains(' ') && mentions(evidence, test) {
        return true;
    }
    found.iter().any(|word| {
        let name = word.bare();
        let is_name = word.marked || looks_like_a_test(name);
        let ends = test.strip_suffix(name).is_some_and(|before| {
            before.is_empty() || before.ends_with(['.', '/', '#']) || before.ends_with("::") || before.ends_with("> ")
        });
        is_name && !name.is_empty() && ends
    })
}

/// `true` if it is more than a plain word.
fn looks_like_a_test(name: &str) -> bool {
    name.len() >= 4 && (name.contains("::") || name.contains(['_', '#', '.']))
}

#[cfg(test)]
mod tests;
