//! Reads the numbers in test runners' summaries.

/// Returns the number before `word` in `line`, as in `3 passed`.
pub(super) fn before(line: &str, word: &str) -> Option<u32> {
    let words: Vec<&str> = words(line).collect();
    words.windows(2).find_map(|pair| match pair {
        [number, found] if *found == word => number.parse().ok(),
        _ => None,
    })
}

/// Returns the number after `word` in `line`, as in `Failed: 3`.
pub(super) fn after(line: &str, word: &str) -> Option<u32> {
    let words: Vec<&str> = words(line).collect();
    words.windows(2).find_map(|pair| match pair {
        [found, number] if *found == word => number.parse().ok(),
        _ => None,
    })
}

pub(super) fn words(line: &str) -> impl Iterator<Item = &str> {
    // No summary is longer. The limit keeps a line of a million words cheap.
    line.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .take(60)
}
