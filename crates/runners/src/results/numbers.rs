//! Reads the numbers and titles in test runners' output.

/// Returns the number before `word` in `line`, as in `3 passed`.
pub(super) fn before(line: &str, word: &str) -> Option<u32> {
    let mut numbers = pairs(line).filter(|(_, found)| *found == word);
    numbers.find_map(|(number, _)| number.parse().ok())
}

/// Returns the number after `word` in `line`, as in `Failed: 3`.
pub(super) fn after(line: &str, word: &str) -> Option<u32> {
    let mut numbers = pairs(line).filter(|(found, _)| *found == word);
    numbers.find_map(|(_, number)| number.parse().ok())
}

fn pairs(line: &str) -> impl Iterator<Item = (&str, &str)> {
    let words = line.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    // No summary is longer. The limit keeps a line of a million words cheap.
    words.clone().zip(words.skip(1)).take(60)
}

/// Returns a title without its time, such as ` (0.5ms)`, which ends with `unit`.
pub(super) fn without_time<'a>(title: &'a str, unit: &str) -> &'a str {
    match title.rsplit_once(" (") {
        Some((title, time)) if time.ends_with(unit) => title,
        _ => title,
    }
}
