//! Finds the valid word nearest to a misspelt one. A guess is only shown, never acted on.

/// Returns the word of `valid` that `given` most probably means; `None` if none is near enough.
pub fn nearest<'a>(given: &str, valid: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // The time for a distance grows with the product of the lengths, so a long word is cut to 64 characters.
    let given: String = given.chars().take(64).collect::<String>().to_lowercase();
    valid
        .into_iter()
        .map(|word| (strsim::osa_distance(&given, &word.to_lowercase()), word))
        .filter(|(distance, word)| *distance <= word.chars().count().div_ceil(3))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, word)| word)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_slip_finds_its_word_and_nonsense_finds_none() {
        let words = ["max_turns", "max_tasks", "label"];
        assert_eq!(nearest("max_turn", words), Some("max_turns"));
        assert_eq!(nearest("Lable", words), Some("label"));
        assert_eq!(nearest("colour", words), None);
        assert_eq!(nearest(&"m".repeat(100_000), words), None);
    }
}
