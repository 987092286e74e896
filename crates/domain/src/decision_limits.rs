//! Keeps a Coach's decision at a size that a row and a review can hold. What is cut is never what speaks against the
//! work: a criterion that is not met and a `must_fix` stay before all others.

use crate::{
    decision::{CoachDecision, CriterionMet, Issue, Severity},
    shorten,
};

const MOST_ISSUES: usize = 100;
const MOST_FINDINGS: usize = 500;
const MOST_FAILURES: usize = 50;
const MOST_SUMMARY: usize = 20_000;
const MOST_TEXT: usize = 4_000;
const MOST_NAME: usize = 500;

/// The decision without repetitions and within its limits.
pub(super) fn bounded(mut decision: CoachDecision) -> CoachDecision {
    shorten_to(&mut decision.summary, MOST_SUMMARY);
    shorten_to(&mut decision.feedback, MOST_SUMMARY);
    for finding in &mut decision.criteria {
        shorten_to(&mut finding.evidence, MOST_TEXT);
    }
    if decision.criteria.len() > MOST_FINDINGS {
        decision
            .criteria
            .sort_by_key(|finding| (finding.met == CriterionMet::Met, finding.criterion));
        decision.criteria.dedup();
        decision.criteria.truncate(MOST_FINDINGS);
    }
    if let Some(tests) = &mut decision.tests {
        shorten_to(&mut tests.command, MOST_NAME);
        tests.failures.truncate(MOST_FAILURES);
        for name in &mut tests.failures {
            shorten_to(name, MOST_NAME);
        }
    }
    decision.issues = issues(decision.issues);
    decision
}

fn issues(all: Vec<Issue>) -> Vec<Issue> {
    let total = all.len();
    let mut all: Vec<&Issue> = all.iter().collect();
    if total > MOST_ISSUES {
        all.sort_by_key(|issue| issue.severity);
    }
    let mut kept: Vec<Issue> = Vec::new();
    for issue in all {
        if kept.len() >= MOST_ISSUES {
            break;
        }
        let issue = short(issue);
        if !kept.contains(&issue) {
            kept.push(issue);
        }
    }
    if total > MOST_ISSUES && kept.len() >= MOST_ISSUES {
        kept.push(Issue {
            severity: Severity::NiceToHave,
            ..Issue::must_fix(
                "review",
                &format!("The Coach named {total} issues; the first {MOST_ISSUES} are kept."),
            )
        });
    }
    kept
}

fn short(issue: &Issue) -> Issue {
    let mut issue = issue.clone();
    shorten_to(&mut issue.category, MOST_NAME);
    shorten_to(&mut issue.description, MOST_TEXT);
    for text in [&mut issue.file, &mut issue.suggestion].into_iter().flatten() {
        shorten_to(text, MOST_TEXT);
    }
    issue
}

fn shorten_to(text: &mut String, most: usize) {
    if text.len() > most {
        *text = shorten::middle(text, most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision::{CriterionFinding, DecisionKind};

    fn decision() -> CoachDecision {
        CoachDecision {
            decision: DecisionKind::Approve,
            summary: "x".repeat(1_000_000),
            criteria: Vec::new(),
            tests: None,
            issues: Vec::new(),
            feedback: String::new(),
            commands: Vec::new(),
            ignored: Vec::new(),
        }
    }

    #[test]
    fn ten_thousand_issues_become_a_hundred_and_the_one_that_must_be_fixed_stays() {
        let mut hostile = decision();
        let nice = |number: usize| Issue {
            severity: Severity::NiceToHave,
            ..Issue::must_fix("design", &format!("taste {number}"))
        };
        hostile.issues = (0..10_000).map(nice).collect();
        hostile
            .issues
            .push(Issue::must_fix("correctness", &"wrong ".repeat(10_000)));
        let kept = bounded(hostile);
        assert_eq!(kept.issues.len(), 101);
        assert_eq!(kept.issues[0].severity, Severity::MustFix);
        assert!(kept.issues[0].description.chars().count() <= MOST_TEXT);
        assert!(kept.issues[100].description.contains("10001 issues"));
        assert!(kept.summary.chars().count() <= MOST_SUMMARY);
    }

    #[test]
    fn repetitions_are_kept_once_and_a_criterion_that_is_not_met_is_never_cut() {
        let mut hostile = decision();
        hostile.issues = vec![Issue::must_fix("test", "the same"); 50];
        let finding = |met, criterion| CriterionFinding {
            criterion,
            met,
            evidence: "src/a.rs".to_owned(),
        };
        hostile.criteria = (0..10_000).map(|number| finding(CriterionMet::Met, number)).collect();
        hostile.criteria.push(finding(CriterionMet::NotMet, 1));
        let kept = bounded(hostile);
        assert_eq!(kept.issues.len(), 1);
        assert_eq!(kept.criteria.len(), MOST_FINDINGS);
        assert_eq!(kept.criteria[0].met, CriterionMet::NotMet);
    }
}
