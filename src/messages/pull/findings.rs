//! Decides which parts of a review are open and which are folded: the failures and the things to repair are open, each
//! failure once; the whole record is folded.

use crate::messages::{
    causes::problems,
    form::{
        measure::{Measure, bullets, folded, list, sections, titled},
        untrusted,
        untrusted::Medium,
        words::count,
    },
    pull::{gates, items, questions, review},
};
use domain::{
    decision::{CriterionMet, Outcome, Verdict},
    evidence::{Evidence, Gate, repeated_test_failures},
    plan::Criterion,
    problem::{Contract, ReviewItem},
    task::{Task, Turn},
};

/// The most open entries; more would not fit on a screen.
const OPEN: usize = 6;
/// The most entries for a person at a terminal.
const SHORT: usize = 5;
/// The most characters of one open entry, and of the Coach's text.
const OPEN_TEXT: usize = 400;
const OPEN_WORDS: usize = 600;

/// Returns the failures and the things to repair first; for an approval, the remarks that are worth knowing. `rest` are
/// the items that belong to no line of the diff.
pub(crate) fn open(task: &Task, turn: &Turn, verdict: &Verdict, rest: &[&ReviewItem], measure: &Measure) -> String {
    let listed = without_repeats(task, turn, rest.iter().copied());
    let on_lines = verdict.items.len().saturating_sub(rest.len());
    let elsewhere = match (on_lines, listed.is_empty()) {
        (0, _) => String::new(),
        (1, true) => "One item stands on its line below.".to_owned(),
        (1, false) => "One more item stands on its line below.".to_owned(),
        (n, true) => format!("{n} items stand on their lines below."),
        (n, false) => format!("{n} more items stand on their lines below."),
    };
    let heading = match verdict.outcome {
        Outcome::Approve => "#### Remarks",
        Outcome::Feedback => "#### Fix first",
    };
    let body = sections(vec![brief(&listed, measure), criteria_line(task, turn, verdict, measure), elsewhere]);
    titled(heading, &body)
}

/// Returns the entries, shortened. If there are too many, these are the first of the highest severity. If entries are
/// left out, a fold contains all of them.
fn brief(listed: &[&ReviewItem], measure: &Measure) -> String {
    let mut shown = listed.to_vec();
    if listed.len() > OPEN {
        shown = heaviest(listed);
        shown.truncate(OPEN);
    }
    let short = Measure { text: measure.text.min(OPEN_TEXT), ..*measure };
    let is_long = |text: &str| text.chars().count() > OPEN_TEXT;
    let cut = |item: &&ReviewItem| is_long(&problems::problem(item)) || item.suggestion.as_deref().is_some_and(is_long);
    let open = items::by_severity(shown.iter().copied(), &short);
    if listed.len() > shown.len() || listed.iter().any(cut) {
        sections(vec![
            open,
            folded(
                &format!("All {} in full", count(listed.len(), "item")),
                &items::by_severity(listed.iter().copied(), measure),
            ),
        ])
    } else {
        open
    }
}

fn heaviest<'a>(items: &[&'a ReviewItem]) -> Vec<&'a ReviewItem> {
    let most = items.iter().map(|item| item.severity).min();
    let heaviest = items.iter().copied().filter(|item| Some(item.severity) == most);
    heaviest.collect()
}

/// Returns the items without those of failed checks whose failing test is already named in another item.
fn without_repeats<'a>(
    task: &Task,
    turn: &Turn,
    items: impl IntoIterator<Item = &'a ReviewItem>,
) -> Vec<&'a ReviewItem> {
    let gates = turn.gates.as_ref();
    let repeated = gates.map(|gates| repeated_test_failures(&task.plan.acceptance_criteria, gates));
    let repeated = repeated.into_iter().flatten();
    let shown: Vec<&ReviewItem> = repeated.flat_map(|(_, result)| &result.items).collect();
    items.into_iter().filter(|item| !shown.contains(item)).collect()
}

/// Returns the criteria that are not met and that no item mentions.
fn criteria_line(task: &Task, turn: &Turn, verdict: &Verdict, measure: &Measure) -> String {
    let all = &task.plan.acceptance_criteria;
    let open = (1..).zip(all).filter(|(number, _)| is_open(*number, task, turn, verdict));
    let open: Vec<(usize, &Criterion)> = open.collect();
    let named = bullets(&open, OPEN, |(number, criterion)| {
        format!("{number}: {}", untrusted::inline(&criterion.text, measure.room(OPEN_TEXT)))
    });
    match open.len() {
        0 => String::new(),
        1 => format!("This criterion is not met:\n\n{named}"),
        _ => format!("These criteria are not met:\n\n{named}"),
    }
}

fn is_open(number: usize, task: &Task, turn: &Turn, verdict: &Verdict) -> bool {
    let gates = turn.gates.as_ref();
    let criteria = &task.plan.acceptance_criteria;
    let repeated = gates.is_some_and(|gates| repeated_test_failures(criteria, gates).any(|(known, _)| known == number));
    let failed = gates.and_then(|gates| gates.result(Gate::Check(number)));
    let told_by_check = failed.is_some_and(|result| matches!(result.evidence, Evidence::Failed(_)));
    // An approval that was lowered has an item for each criterion that the Coach calls not met.
    let honest = verdict.breaches.is_empty() && verdict.outcome == Outcome::Feedback;
    let not_met = verdict.decision.as_ref().is_some_and(|decision| {
        let found = decision.criteria.iter();
        found.filter(|found| found.criterion == number).any(|found| found.met == CriterionMet::NotMet)
    });
    repeated || honest && not_met && !told_by_check
}

/// Quotes the Coach's own words; long ones continue in a fold.
pub(crate) fn coach_words(verdict: &Verdict, measure: &Measure) -> String {
    let Some(decision) = &verdict.decision else {
        return String::new();
    };
    let (summary, feedback) = (decision.summary.trim(), decision.feedback.trim());
    let feedback = if feedback == summary { "" } else { feedback };
    let whole = match (summary.is_empty(), feedback.is_empty()) {
        (true, _) => feedback.to_owned(),
        (false, true) => summary.to_owned(),
        (false, false) => format!("{summary}\n\n{feedback}"),
    };
    let folds = measure.medium == Medium::Markdown;
    if folds && whole.chars().count() > OPEN_WORDS && measure.text > OPEN_WORDS {
        sections(vec![
            untrusted::quote(&whole, measure.room(OPEN_WORDS)),
            folded("The Coach's words in full", &untrusted::quote(&whole, measure.room(usize::MAX))),
        ])
    } else {
        untrusted::quote(&whole, measure.room(usize::MAX))
    }
}

/// States that an approval does not count, and which contracts are broken; contracts without items are described in
/// words.
pub(crate) fn lowered(verdict: &Verdict, measure: &Measure) -> String {
    let mut names: Vec<&str> = Vec::new();
    let mut breaches: Vec<String> = Vec::new();
    for broken in &verdict.breaches {
        let name = lacking(broken.contract());
        if !has_items(broken.contract()) {
            breaches.push(problems::breach(broken));
        } else if !names.contains(&name) {
            names.push(name);
        }
    }
    let what = match &verdict.decision {
        Some(_) => "The Coach's approval does not stand",
        None => "AutoBuild did not take the work",
    };
    let named = if names.is_empty() { String::new() } else { format!("{what}: {}.", names.join(", and ")) };
    let breaches = list(&breaches, measure.rows.min(OPEN), measure.room(OPEN_TEXT));
    sections(vec![named, titled(&format!("{what}:"), &breaches)])
}

/// Returns, for a person at a terminal, why a turn sent the work back: the items of the highest severity, with each
/// failure once, or the Coach's text if there are none.
pub(crate) fn sent_back(task: &Task, turn: &Turn, measure: &Measure) -> String {
    let verdict = turn.verdict.as_ref();
    let Some(verdict) = verdict.filter(|verdict| verdict.outcome == Outcome::Feedback) else {
        return String::new();
    };
    let items = heaviest(&without_repeats(task, turn, &verdict.items));
    let short = Measure { text: measure.text.min(OPEN_TEXT), rows: measure.rows.min(SHORT), ..*measure };
    let words = if items.is_empty() { coach_words(verdict, &short) } else { items::by_severity(items, &short) };
    sections(vec![lowered(verdict, &short), words])
}

/// Returns, for a person at a terminal, the Coach's words on a turn and every item, each failure once.
pub fn verdict_in_terminal(task: &Task, turn: &Turn, verdict: &Verdict) -> String {
    let measure = &Measure::TERMINAL;
    sections(vec![
        coach_words(verdict, measure),
        lowered(verdict, measure),
        items::by_severity(without_repeats(task, turn, &verdict.items), measure),
        criteria_line(task, turn, verdict, measure),
    ])
}

/// Names, within a sentence, the thing that is missing if a contract is broken.
fn lacking(contract: Contract) -> &'static str {
    match contract {
        Contract::ReportValid => "the Player's report is not valid",
        Contract::PathsAllowed => "the change touches protected files",
        Contract::NeverDeclaresDone => "the Player declares itself done",
        Contract::DecisionValid => "the Coach's decision is not valid",
        Contract::GatesPassed => "a Gate did not pass",
        Contract::CriteriaEvidenced => "a criterion has no proof",
        Contract::QuestionsAnswered => "a question is open",
        Contract::NoMustFix => "something must be fixed first",
        Contract::CheckoutUnchanged => "the Coach changed its checkout",
        Contract::DesignValid => "the design is not valid",
    }
}

/// `true` if a verdict's items explain how this contract was broken.
fn has_items(contract: Contract) -> bool {
    match contract {
        Contract::GatesPassed
        | Contract::CriteriaEvidenced
        | Contract::QuestionsAnswered
        | Contract::NoMustFix
        | Contract::PathsAllowed => true,
        Contract::ReportValid
        | Contract::NeverDeclaresDone
        | Contract::DecisionValid
        | Contract::CheckoutUnchanged
        | Contract::DesignValid => false,
    }
}

/// Returns the record in folds: broken contracts, criteria, Gates, claims.
pub(crate) fn record(task: &Task, turn: &Turn, measure: &Measure) -> String {
    let verdict = turn.verdict.as_ref();
    let shown = verdict.map(|verdict| verdict.items.as_slice());
    let gates = turn.gates.as_ref().map_or_else(String::new, |report| {
        gates::folded_table(task.plan.kind, report, shown.unwrap_or_default(), measure)
    });
    let broken = verdict.map_or_else(String::new, |verdict| broken(verdict, measure));
    sections(vec![
        broken,
        questions::folded_table(task, turn, measure),
        review::criteria(task, turn, measure),
        gates,
        discrepancies(turn, measure),
    ])
}

fn broken(verdict: &Verdict, measure: &Measure) -> String {
    let sentences = bullets(&verdict.breaches, measure.rows.min(60), |broken| {
        untrusted::inline(&problems::breach(broken), measure.text)
    });
    let title = match verdict.decision {
        Some(_) => "Why the Coach's approval does not stand",
        None => "Why the work was not taken",
    };
    folded(title, &sentences)
}

/// Lists the Player's claims beside the facts.
fn discrepancies(turn: &Turn, measure: &Measure) -> String {
    let listed = bullets(&turn.discrepancies, measure.rows.min(60), |found| {
        format!(
            "The Player claims: {} In fact: {}",
            untrusted::sentence(&problems::claim(found), measure.text),
            untrusted::sentence(&problems::contradiction(found), measure.text)
        )
    });
    let title = match turn.discrepancies.len() {
        1 => "1 claim of the Player that is false".to_owned(),
        n => format!("{n} claims of the Player that are false"),
    };
    folded(&title, &listed)
}
