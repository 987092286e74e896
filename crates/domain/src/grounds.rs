//! Checks whether a Coach's evidence for a criterion names something real and specific: a file of the commit, a test
//! that passed on it, or a command that AutoBuild ran. It cannot judge whether the evidence is good, only that it is
//! not invented. A criterion whose own check passed needs none.

use crate::{
    citation::{FileReference, Word, is_marked, mentions, words},
    contract::TurnFacts,
    decision::{CoachDecision, CriterionFinding, CriterionMet, Issue},
    evidence::{Absence, Evidence, Finding, Gate, GateResult, Weight},
    plan::{Check, Criterion},
};
use std::collections::BTreeSet;
use text::shorten;

/// The most wrong numbers that are reported; a decision may have any number of them.
const MOST_WRONG: usize = 10;

/// The most characters of a criterion or of the Coach's text in one sentence.
const MOST_WORDS: usize = 600;

/// A criterion that is not shown to hold.
pub struct Open {
    /// The reason, as a sentence about the decision.
    pub why: String,
    /// The item for the Player; `None` if the Gates report the same already.
    pub item: Option<Issue>,
}

/// Returns a sentence for each criterion number in the decision that does not exist.
pub fn wrong_numbers(decision: &CoachDecision, criteria: &[Criterion]) -> Vec<String> {
    let wrong = |number: &usize| *number == 0 || *number > criteria.len();
    let all = decision.criteria.iter().map(|finding| finding.criterion);
    let numbers: BTreeSet<usize> = all.filter(wrong).collect();
    let sentence = |number: &usize| format!("criterion {number} does not exist");
    numbers.iter().take(MOST_WRONG).map(sentence).collect()
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

/// Returns the criteria that are not shown to hold. Criteria for a person are never among them.
pub fn open_criteria(decision: &CoachDecision, facts: &TurnFacts<'_>) -> Vec<Open> {
    let open = demanded(facts).filter_map(|(number, criterion)| open(decision, facts, number, criterion));
    open.collect()
}

/// Returns the criteria that the decision calls met and that nothing on this commit shows to hold, each with its number
/// and the reason. Only the review is at fault, so its author is asked for what is missing.
pub fn unproven(decision: &CoachDecision, facts: &TurnFacts<'_>) -> Vec<(usize, String)> {
    let reasons = demanded(facts).filter_map(|(number, criterion)| match doubt(decision, facts, number)? {
        Doubt::Unproven(why) => Some((number, format!("{} {why}", name(number, criterion)))),
        Doubt::NotMet { .. } | Doubt::CheckFailed { .. } | Doubt::NotReached => None,
    });
    reasons.collect()
}

fn demanded<'a>(facts: &TurnFacts<'a>) -> impl Iterator<Item = (usize, &'a Criterion)> {
    (1..)
        .zip(facts.criteria)
        .filter(|(_, criterion)| criterion.check != Check::Human)
}

/// Why a criterion is not shown to hold.
enum Doubt<'a> {
    /// The Coach denies it, with these words.
    NotMet { words: &'a str },
    /// Its own check failed on this commit.
    CheckFailed {
        check: &'a GateResult,
        finding: &'a Finding,
    },
    /// Its own check did not run, because something before it failed, which is reported by itself.
    NotReached,
    /// The Coach calls it met without anything that shows it.
    Unproven(&'static str),
}

fn open(decision: &CoachDecision, facts: &TurnFacts<'_>, number: usize, criterion: &Criterion) -> Option<Open> {
    let name = name(number, criterion);
    Some(match doubt(decision, facts, number)? {
        Doubt::NotMet { words } => {
            let said = match words.trim() {
                "" => String::new(),
                words => format!(": {}", shorten::middle(words, MOST_WORDS)),
            };
            Open {
                why: format!("{name} is not met"),
                item: Some(Issue::must_fix("requirement", &format!("{name} is not met{said}"))),
            }
        }
        Doubt::CheckFailed { check, finding } => {
            let why = format!("{name} is said to be met, and its check failed: {}", finding.sentence());
            let is_shown = check.weight == Weight::Informational;
            let item = is_shown.then(|| Issue::must_fix("requirement", &why));
            Open { why, item }
        }
        Doubt::NotReached => Open {
            why: format!("{name} has a check that did not run"),
            item: None,
        },
        Doubt::Unproven(why) => {
            // The Coach was asked once more. The Player is asked for a proof that the next review cannot miss.
            let plain = format!(
                "{name} was not shown to hold: the Coach named nothing on this commit that proves it. Prove it with a \
                 test, or make the proof that is there easy to find, and name it in the report."
            );
            Open {
                why: format!("{name} {why}"),
                item: Some(Issue::must_fix("requirement", &plain)),
            }
        }
    })
}

fn name(number: usize, criterion: &Criterion) -> String {
    format!("criterion {number} ({})", shorten::middle(&criterion.text, MOST_WORDS))
}

/// A criterion whose own check passed needs no other evidence: the check shows it, whatever the Coach's words name.
fn doubt<'a>(decision: &'a CoachDecision, facts: &TurnFacts<'a>, number: usize) -> Option<Doubt<'a>> {
    let about = decision.criteria.iter().filter(|finding| finding.criterion == number);
    let about: Vec<&CriterionFinding> = about.collect();
    if let Some(not_met) = about.iter().find(|finding| finding.met == CriterionMet::NotMet) {
        return Some(Doubt::NotMet {
            words: &not_met.evidence,
        });
    }
    let check = facts.gates.result(Gate::Check(number));
    if let Some((check, finding)) = check.and_then(|check| Some((check, check.evidence.failure()?))) {
        return Some(Doubt::CheckFailed { check, finding });
    }
    match check.map(|check| &check.evidence) {
        Some(Evidence::Absent(Absence::NotReached)) => return Some(Doubt::NotReached),
        _ if about.is_empty() => return Some(Doubt::Unproven("was not looked at")),
        Some(Evidence::Passed(_)) => return None,
        Some(Evidence::Absent(_) | Evidence::Failed(_)) | None => {}
    }
    if about.iter().all(|finding| finding.evidence.trim().is_empty()) {
        return Some(Doubt::Unproven("is said to be met without evidence"));
    }
    let invented = "is said to be met, and its evidence names no file, test or command that exists on this commit";
    let is_proven = about.iter().any(|finding| is_real(&finding.evidence, facts));
    (!is_proven).then_some(Doubt::Unproven(invented))
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
        is_meant && (facts.lines_of)(&path).is_some_and(|lines| line.is_none_or(|line| (1..=lines).contains(&line)))
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
    ran(facts).any(|finding| match &finding.names {
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
