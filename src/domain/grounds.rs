//! Which criteria are shown to hold, and whether a Coach's evidence names something real: a file of the commit, a test, or
//! a command that AutoBuild knows. It does not tell whether the evidence is good, only that it is not made up.

use crate::domain::contract::TurnFacts;
use crate::domain::decision::CoachDecision;
use crate::domain::decision::CriterionMet;
use crate::domain::evidence::Evidence;
use crate::domain::evidence::Finding;
use crate::domain::plan::Check;
use crate::domain::plan::Criterion;

/// Words looked at in one piece of evidence; beyond that nobody reads either.
const MOST_WORDS: usize = 500;

/// The numbers that no criterion has, each as a sentence.
pub fn wrong_numbers(decision: &CoachDecision, criteria: &[Criterion]) -> Vec<String> {
    let wrong = |number: &usize| *number == 0 || *number > criteria.len();
    let numbers = decision.criteria.iter().map(|finding| finding.criterion).filter(wrong);
    numbers
        .map(|number| format!("criterion {number} does not exist"))
        .collect()
}

/// The criteria that are not shown to hold, each as a sentence. Those for a person are never among them.
pub fn open_criteria(decision: &CoachDecision, facts: &TurnFacts<'_>) -> Vec<String> {
    let demanded = (1..)
        .zip(facts.criteria)
        .filter(|(_, criterion)| criterion.check != Check::Human);
    demanded
        .filter_map(|(number, criterion)| {
            let why = open_reason(decision, facts, number, criterion)?;
            Some(format!("criterion {number} ({}) {why}", criterion.text))
        })
        .collect()
}

fn open_reason(
    decision: &CoachDecision,
    facts: &TurnFacts<'_>,
    number: usize,
    criterion: &Criterion,
) -> Option<&'static str> {
    let findings: Vec<_> = decision
        .criteria
        .iter()
        .filter(|finding| finding.criterion == number)
        .collect();
    if findings.is_empty() {
        return Some("was not looked at");
    }
    if findings.iter().any(|finding| finding.met == CriterionMet::NotMet) {
        return Some("is not met");
    }
    if findings.iter().all(|finding| finding.evidence.trim().is_empty()) {
        return Some("is said to be met without evidence");
    }
    let grounded = findings
        .iter()
        .any(|finding| names_something_real(&finding.evidence, criterion, facts));
    (!grounded).then_some("is said to be met, and its evidence names no file, test or command that exists")
}

/// Whether `evidence` names a file of the tree, a test that ran or that the criterion is bound to, or a known command.
fn names_something_real(evidence: &str, criterion: &Criterion, facts: &TurnFacts<'_>) -> bool {
    let findings: Vec<&Finding> = [facts.gates.setup.as_ref(), Some(&facts.gates.tests)]
        .into_iter()
        .flatten()
        .filter_map(finding)
        .collect();
    names_bound_check(evidence, &criterion.check)
        || findings.iter().any(|finding| mentions(evidence, &finding.command))
        || words(evidence).any(|word| is_file(word, facts.in_tree) || is_test(word, &findings))
}

fn finding(evidence: &Evidence) -> Option<&Finding> {
    match evidence {
        Evidence::Passed(finding) | Evidence::Failed(finding) => Some(finding),
        Evidence::Absent(_) => None,
    }
}

fn names_bound_check(evidence: &str, check: &Check) -> bool {
    match check {
        Check::Test(name) | Check::Command(name) => mentions(evidence, name),
        Check::File(_) | Check::Human => false,
    }
}

/// Whether `name` stands in `text` as a whole, not as a part of a longer word.
fn mentions(text: &str, name: &str) -> bool {
    let name = name.trim();
    let part_of_word = |c: char| c.is_alphanumeric() || c == '_';
    !name.is_empty()
        && text.match_indices(name).any(|(at, _)| {
            let before = text.get(..at).and_then(|before| before.chars().next_back());
            let after = text.get(at + name.len()..).and_then(|after| after.chars().next());
            !before.is_some_and(part_of_word) && !after.is_some_and(part_of_word)
        })
}

fn words(evidence: &str) -> impl Iterator<Item = &str> {
    let separates = |c: char| c.is_whitespace() || "`\"'()[]{}<>,;|“”‘’".contains(c);
    evidence
        .split(separates)
        .filter(|word| !word.is_empty())
        .take(MOST_WORDS)
}

fn is_file(word: &str, in_tree: &dyn Fn(&str) -> bool) -> bool {
    let word = word.trim_end_matches(['.', ':', '!', '?']);
    let word = word.strip_prefix("./").unwrap_or(word);
    let path = word.split(['#', ':']).next().unwrap_or_default().trim_end_matches('/');
    [word, path]
        .into_iter()
        .any(|path| !matches!(path, "" | "." | "/") && in_tree(path))
}

/// A word that looks like a test's name and that the runner printed.
fn is_test(word: &str, findings: &[&Finding]) -> bool {
    let name = word.trim_end_matches(['.', ':', '!', '?']);
    let looks_like_a_name = name.len() >= 4 && (name.contains("::") || name.contains('_') || name.contains('#'));
    looks_like_a_name
        && findings
            .iter()
            .any(|finding| finding.failing.iter().any(|test| test == name) || mentions(&finding.output, name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::contract::CheckoutState;
    use crate::domain::evidence::Counts;
    use crate::domain::evidence::GateReport;
    use crate::domain::plan::TaskType;

    #[test]
    fn evidence_must_name_a_file_a_test_or_a_command() {
        let tests = Evidence::Passed(Finding {
            command: "cargo test".to_owned(),
            exit_code: Some(0),
            counts: Counts::Unknown,
            failing: Vec::new(),
            output: "test tests::parses_empty ... ok".to_owned(),
            names: None,
        });
        let gates = GateReport {
            setup: None,
            tests,
            excused: Vec::new(),
            more: Vec::new(),
        };
        let in_tree = |path: &str| ["src/lib.rs", "src", "Makefile"].contains(&path);
        let facts = TurnFacts {
            kind: TaskType::Feature,
            criteria: &[],
            gates: &gates,
            in_tree: &in_tree,
            checkout: &CheckoutState::Unchanged,
            open_reviews: &[],
        };
        let test = Criterion {
            text: "t".to_owned(),
            check: Check::Test("auth::wired".to_owned()),
        };
        let table = [
            ("see src/lib.rs", true),
            ("(`./src/lib.rs:12`).", true),
            ("src/lib.rs#L12 does it", true),
            ("Makefile.", true),
            ("auth::wired passes", true),
            ("auth::wired_twice passes", false),
            ("`tests::parses_empty` passes", true),
            ("tests::parses_full passes", false),
            ("cargo test is green", true),
            ("cargo testing", false),
            ("it works, I promise", false),
            ("ok", false),
            ("src/other.rs", false),
            (". / ./", false),
            ("", false),
        ];
        for (evidence, expected) in table {
            assert_eq!(names_something_real(evidence, &test, &facts), expected, "{evidence:?}");
        }
    }
}
