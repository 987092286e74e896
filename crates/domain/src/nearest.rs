//! Guesses what someone meant who misspelled a command. A guess is only ever shown, never obeyed.

use crate::{command::Command, ids::TaskId};

/// The form of the command that was probably meant; help if nothing is near.
#[must_use]
pub fn verb(word: &str) -> &'static str {
    let word: String = word.to_lowercase().chars().take(20).collect();
    let forms = Command::usage().map(|(form, _)| (distance(&word, form.split(' ').nth(1).unwrap_or_default()), form));
    match forms.into_iter().min_by_key(|(distance, _)| *distance) {
        Some((0..=3, form)) => form,
        Some(_) | None => "/autobuild help",
    }
}

/// Number of letters to insert, delete or replace to make `a` of `b`.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (index, from) in a.chars().enumerate() {
        let mut next = vec![index + 1];
        for ((to, diagonal), above) in b.iter().zip(&row).zip(row.iter().skip(1)) {
            let left = next.last().copied().unwrap_or_default();
            next.push((diagonal + usize::from(from != *to)).min(above + 1).min(left + 1));
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

/// The task that was probably meant: `TASK-002` for `2`, `task2` or `TASK-2`.
#[must_use]
pub fn task(word: &str) -> String {
    let upper = word.to_ascii_uppercase();
    if let Ok(id) = upper.parse::<TaskId>() {
        return id.to_string();
    }
    let digits: String = word.chars().filter(char::is_ascii_digit).collect();
    match digits.parse::<u16>() {
        Ok(number @ 1..=999) => TaskId::Planned(number).to_string(),
        Ok(_) | Err(_) => TaskId::Planned(1).to_string(),
    }
}
