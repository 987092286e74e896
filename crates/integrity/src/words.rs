//! Lists of words in one text.

/// `true` if a list, with blanks between its words, contains a word.
pub(crate) fn is_one_of(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|known| known == word)
}
