//! Splits a piece of evidence into its words, and finds the names in quotes or backticks.

/// Limits of reading one piece of evidence.
const MOST_CHARACTERS: usize = 8_000;
const MOST_WORDS: usize = 1_000;

/// A word, or the whole text between quotes or backticks.
pub(crate) struct Word<'a> {
    /// The text as it is written.
    pub text: &'a str,
    /// `true` if it is the whole text between backticks or quotes.
    pub marked: bool,
}

/// A file that a word may name, with the line if it gives one.
pub(crate) struct FileReference {
    pub path: String,
    /// The last line that is named.
    pub line: Option<u32>,
}

/// Returns the words of `evidence`, followed by the texts between backticks or quotes.
pub(crate) fn words(evidence: &str) -> Vec<Word<'_>> {
    let end = evidence.char_indices().nth(MOST_CHARACTERS);
    let end = end.map_or(evidence.len(), |(at, _)| at);
    let evidence = evidence.get(..end).unwrap_or_default();
    let separates = |c: char| c.is_whitespace() || "`\"'()[]{}<>,;|“”‘’".contains(c);
    let apart = evidence.split(separates).filter(|word| !word.is_empty());
    let apart = apart.map(|text| Word { text, marked: false });
    let between = ['`', '"', '\''].into_iter().flat_map(|mark| {
        let inside = evidence.split(mark).skip(1).step_by(2);
        inside.map(|text| Word { text: text.trim(), marked: true })
    });
    apart.take(MOST_WORDS).chain(between.take(MOST_WORDS)).collect()
}

impl<'a> Word<'a> {
    /// Returns the text without final punctuation and without the brackets of a call.
    pub(crate) fn bare(&self) -> &'a str {
        self.text.trim_end_matches(['.', ':', '!', '?']).trim_end_matches("()")
    }

    /// Returns the files that it may name: the whole word, and the word without its line number. Case matters, as in
    /// the tree.
    pub(crate) fn file_references(&self) -> Vec<FileReference> {
        let word = self.text.trim_end_matches(['.', ':', '!', '?']);
        let word = word.strip_prefix("./").unwrap_or(word);
        let mut file_references = vec![FileReference { path: word.to_owned(), line: None }];
        let (path, line) = match word.split_once("#L") {
            Some((path, lines)) => (path, lines),
            None => word.split_once(':').unwrap_or((word, "")),
        };
        if path != word {
            // The last line of `12`, `12:3`, `12-20` and `L12-L20`; none for `a.py::test`.
            let line = match line.split(['-', '–']).next_back().unwrap_or_default() {
                last if line.starts_with(':') => last.parse().ok(),
                last => {
                    let number = last.trim_start_matches('L').chars();
                    let digits: String = number.take_while(char::is_ascii_digit).collect();
                    digits.parse().ok()
                }
            };
            file_references.push(FileReference { path: path.to_owned(), line });
        }
        file_references
    }
}

/// `true` if `text` contains `name` as a whole, not as part of a longer word.
pub(crate) fn mentions(text: &str, name: &str) -> bool {
    let name = name.trim();
    let part_of_word = |c: char| c.is_alphanumeric() || c == '_';
    !name.is_empty()
        && text.match_indices(name).any(|(at, _)| {
            let before = text.get(..at).and_then(|before| before.chars().next_back());
            let after = text.get(at + name.len()..).and_then(|after| after.chars().next());
            !before.is_some_and(part_of_word) && !after.is_some_and(part_of_word)
        })
}

/// `true` if `name` is the whole text between backticks or quotes.
pub(crate) fn is_marked(text: &str, name: &str) -> bool {
    words(text).iter().any(|word| word.marked && word.text == name)
}
