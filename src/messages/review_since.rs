//! What a review says of the turn before: which items are named again, which are not, what else changed.

use crate::messages::{
    gates, items,
    measure::{Measure, bullets, first, sections, titled},
    untrusted,
    words::count,
};
use domain::{
    decision::Issue,
    ids::TurnNumber,
    recurring,
    task::{Task, Turn},
};
use std::collections::BTreeMap;

/// Items of one turn that are compared.
const COMPARED: usize = 500;

/// What changed since the last turn of this attempt; nothing for its first turn.
pub(super) fn since_last(task: &Task, turn: &Turn, files: &[String], measure: &Measure) -> String {
    let earlier = |before: &&Turn| before.number < turn.number && before.attempt == turn.attempt;
    let Some(before) = task.turns.iter().rfind(earlier) else {
        return String::new();
    };
    sections(vec![
        compared(before, turn, measure),
        gates_changed(before, turn, measure),
        files_changed(files, measure),
    ])
}

fn compared(before: &Turn, turn: &Turn, measure: &Measure) -> String {
    let (Some(before), Some(now)) = (&before.verdict, &turn.verdict) else {
        return String::new();
    };
    let (recurred, silent) = parted(&before.items, &now.items);
    let (_, new) = parted(&now.items, &before.items);
    let list = |title: &str, items: &[&Issue]| {
        let lines = bullets(items, measure.rows.min(60), |item| {
            let place = items::place(item).map_or_else(String::new, |place| format!("{place}: "));
            format!("{place}{}", untrusted::inline(&item.description, measure.text.min(600)))
        });
        titled(title, &lines)
    };
    let new = match new.len() {
        0 => String::new(),
        number => format!("New: {}, listed above.", count(number, "item")),
    };
    // Where no Coach looked, what is not said again may well be there.
    let silent = match now.decision {
        Some(_) => list("No longer named:", &silent),
        None => String::new(),
    };
    sections(vec![silent, list("Named again:", &recurred), new])
}

/// Items that are among `others` too, and those that are not.
fn parted<'a>(items: &'a [Issue], others: &[Issue]) -> (Vec<&'a Issue>, Vec<&'a Issue>) {
    let others = others.get(..COMPARED.min(others.len())).unwrap_or_default();
    let again = |item: &Issue| {
        let pair = [(TurnNumber(1), std::slice::from_ref(item)), (TurnNumber(2), others)];
        !recurring::recurring(&pair).is_empty()
    };
    items.iter().take(COMPARED).partition(|item| again(item))
}

/// Gates that ended otherwise than in the turn before.
fn gates_changed(before: &Turn, turn: &Turn, measure: &Measure) -> String {
    let (Some(before), Some(now)) = (&before.gates, &turn.gates) else {
        return String::new();
    };
    let then: BTreeMap<String, &str> = gates::every(before)
        .map(|(name, evidence)| (name, evidence.word()))
        .collect();
    let changed: Vec<String> = gates::every(now)
        .filter_map(|(name, evidence)| {
            let was = then.get(&name).filter(|was| **was != evidence.word())?;
            Some(format!("{name}: {} after {was}", evidence.word()))
        })
        .collect();
    titled(
        "Gates that ended otherwise:",
        &bullets(&changed, measure.rows.min(40), Clone::clone),
    )
}

fn files_changed(files: &[String], measure: &Measure) -> String {
    let names = first(
        files,
        measure.rows.min(40),
        |file| untrusted::code(file, 200),
        |left| format!("and {left} more"),
    );
    match names.is_empty() {
        true => String::new(),
        false => format!("Files changed in this turn: {}", names.join(", ")),
    }
}
