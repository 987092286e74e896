//! The valid word nearest to a misspelt one. A guess is only ever shown, never obeyed.

/// The one of `valid` that `given` most probably meant; `None` when nothing comes near.
pub fn nearest<'a>(given: &str, valid: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // A distance is quadratic in the lengths: nobody misspells a short word at great length.
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
