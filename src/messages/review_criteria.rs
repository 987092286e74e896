//! The criteria of a task in a review: what each is bound to, what its check found, and what the Coach says of it.

use crate::messages::{
    measure::{Measure, folded},
    untrusted, words,
};
use domain::{
    decision::{CriterionFinding, CriterionMet, Verdict},
    evidence::{Evidence, Gate, GateReport},
    plan::{Check, Criterion},
    task::{Task, Turn},
};

/// A fold with a table: number, criterion, what it is bound to, what its check found, whether the Coach says it is met, and by what.
pub(super) fn criteria(task: &Task, turn: &Turn, measure: &Measure) -> String {
    let decision = turn.verdict.as_ref().and_then(|verdict| verdict.decision.as_ref());
    let checked = |report: &GateReport| report.more.iter().any(|result| matches!(result.gate, Gate::Check(_)));
    if decision.is_none() && !turn.gates.as_ref().is_some_and(checked) {
        return String::new();
    }
    let all = &task.plan.acceptance_criteria;
    let mut rows = vec![
        "| | criterion | check | its result | met | evidence |".to_owned(),
        "|---|---|---|---|---|---|".to_owned(),
    ];
    for (number, criterion) in (1usize..).zip(all).take(measure.rows) {
        let said = turn.verdict.as_ref().and_then(|verdict| said(verdict, number));
        rows.push(row(number, criterion, turn.gates.as_ref(), said, measure));
    }
    let left = all.len().saturating_sub(measure.rows);
    if left > 0 {
        rows.push(format!("| | and {left} more | | | | |"));
    }
    folded(&summary(all, turn), &rows.join("\n"))
}

fn said(verdict: &Verdict, number: usize) -> Option<&CriterionFinding> {
    let found = &verdict.decision.as_ref()?.criteria;
    found.iter().find(|found| found.criterion == number)
}

fn row(
    number: usize,
    criterion: &Criterion,
    gates: Option<&GateReport>,
    said: Option<&CriterionFinding>,
    measure: &Measure,
) -> String {
    let (met, evidence) = match (said, &criterion.check) {
        (_, Check::Human) => ("for a person", "–".to_owned()),
        (Some(said), _) => (met(said.met), untrusted::cell(&said.evidence, measure.text.min(600))),
        (None, _) => ("not looked at", "–".to_owned()),
    };
    format!(
        "| {number} | {} | {} | {} | {met} | {evidence} |",
        untrusted::cell(&criterion.text, measure.text.min(600)),
        words::check(&criterion.check, 200),
        result(number, gates)
    )
}

fn result(number: usize, gates: Option<&GateReport>) -> String {
    let Some(result) = gates.and_then(|gates| gates.result(Gate::Check(number))) else {
        return "–".to_owned();
    };
    match &result.evidence {
        Evidence::Passed(_) | Evidence::Failed(_) => result.evidence.word().to_owned(),
        Evidence::Absent(reason) => format!("absent: {}", untrusted::cell(&reason.sentence(), 200)),
    }
}

fn met(met: CriterionMet) -> &'static str {
    match met {
        CriterionMet::Met => "met",
        CriterionMet::NotMet => "not met",
    }
}

/// How many criteria stand how; what is none is not said.
fn summary(all: &[Criterion], turn: &Turn) -> String {
    let standing: Vec<&str> = (1..)
        .zip(all)
        .map(|(number, criterion)| standing(number, criterion, turn))
        .collect();
    let counted: Vec<String> = ["met", "not met", "not looked at", "for a person"]
        .iter()
        .map(|word| (standing.iter().filter(|standing| *standing == word).count(), word))
        .filter(|(number, _)| *number > 0)
        .map(|(number, word)| format!("{number} {word}"))
        .collect();
    let noun = if all.len() == 1 { "criterion" } else { "criteria" };
    format!("{} {noun}: {}", all.len(), counted.join(", "))
}

/// A failed check outweighs what the Coach says.
fn standing(number: usize, criterion: &Criterion, turn: &Turn) -> &'static str {
    let checked = turn.gates.as_ref().and_then(|gates| gates.result(Gate::Check(number)));
    let failed = checked.is_some_and(|result| matches!(result.evidence, Evidence::Failed(_)));
    let said = turn.verdict.as_ref().and_then(|verdict| said(verdict, number));
    match (&criterion.check, failed, said) {
        (Check::Human, _, _) => "for a person",
        (_, true, _) => met(CriterionMet::NotMet),
        (_, false, Some(said)) => met(said.met),
        (_, false, None) => "not looked at",
    }
}
