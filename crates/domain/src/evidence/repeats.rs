//! One failing test is one failure: the check of a criterion that is bound to it says the same once more.

use crate::{
    evidence::{Evidence, Gate, GateReport, GateResult},
    plan::{Check, Criterion},
};

/// The checks of criteria that failed because of a test that the tests name as failing already, each with its
/// criterion's number, from 1.
pub fn repeats<'a>(
    criteria: &'a [Criterion],
    gates: &'a GateReport,
) -> impl Iterator<Item = (usize, &'a GateResult)> + 'a {
    let named = match &gates.tests {
        Evidence::Failed(finding) => gates.held_names(finding),
        Evidence::Passed(_) | Evidence::Absent(_) => Vec::new(),
    };
    gates.more.iter().filter_map(move |result| {
        let Gate::Check(number) = result.gate else {
            return None;
        };
        let criterion = criteria.get(number.checked_sub(1)?)?;
        let repeated = match (&result.evidence, &criterion.check) {
            (Evidence::Failed(_), Check::Test(test)) => named.contains(test),
            (Evidence::Failed(_), Check::Command(_) | Check::File(_) | Check::Human) => false,
            (Evidence::Passed(_) | Evidence::Absent(_), _) => false,
        };
        repeated.then_some((number, result))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::{Counts, Finding, Weight};

    fn failed(names: &[&str]) -> Evidence {
        Evidence::Failed(Finding {
            command: "t".to_owned(),
            exit_code: Some(1),
            counts: Counts::Unknown,
            failing: names.iter().map(|name| (*name).to_owned()).collect(),
            output: String::new(),
            names: None,
        })
    }

    fn check(number: usize, evidence: Evidence) -> GateResult {
        GateResult {
            gate: Gate::Check(number),
            weight: Weight::Demanded,
            evidence,
            items: Vec::new(),
        }
    }

    #[test]
    fn a_check_that_fails_by_a_named_test_says_nothing_new() {
        let bound = |check: Check| Criterion {
            text: "it holds".to_owned(),
            check,
        };
        let criteria = [
            bound(Check::Test("top".to_owned())),
            bound(Check::Test("other".to_owned())),
            bound(Check::Command("top".to_owned())),
        ];
        let report = GateReport {
            setup: None,
            tests: failed(&["top"]),
            excused: Vec::new(),
            more: (1..=4).map(|number| check(number, failed(&[]))).collect(),
            isolation: None,
        };
        let found: Vec<usize> = repeats(&criteria, &report).map(|(number, _)| number).collect();
        assert_eq!(
            found,
            [1],
            "the second failed by itself, the third is a command, the fourth has no criterion"
        );
    }
}
