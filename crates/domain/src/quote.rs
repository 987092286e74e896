//! Checks if a text contains a quote word for word. Blanks, quotation marks, Markdown, capital letters and the
//! punctuation around a word make no difference.

/// The fewest words of a quote that is not a whole sentence.
const FEWEST_WORDS: usize = 3;

/// Characters that set text off and say nothing.
const MARKS: [char; 15] = ['"', '\'', '`', '“', '”', '„', '‘', '’', '«', '»', '*', '_', '~', '\\', '|'];

/// Punctuation around a word.
const AROUND: [char; 16] = ['.', ',', ';', ':', '!', '?', '…', '(', ')', '[', ']', '。', '，', '！', '？', '、'];

/// Punctuation that ends a sentence.
const ENDS: [char; 7] = ['.', '!', '?', ':', '。', '！', '？'];

#[derive(Debug)]
struct QuotedWord {
    text: String,
    begins: Position,
    ends: Position,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Position {
    Inside,
    AtSentence,
}

/// `true` if one of the texts contains `quote`, which must be at least three words or a whole sentence.
pub fn stands_in<'a>(quote: &str, texts: impl IntoIterator<Item = &'a str>) -> bool {
    let quoted = words(quote);
    !quoted.is_empty() && texts.into_iter().any(|text| is_in(&quoted, &words(text)))
}

fn is_in(quoted: &[QuotedWord], text: &[QuotedWord]) -> bool {
    text.windows(quoted.len()).any(|window| {
        let is_same = window.iter().map(|word| &word.text).eq(quoted.iter().map(|word| &word.text));
        let begins = window.first().is_some_and(|word| word.begins == Position::AtSentence);
        let ends = window.last().is_some_and(|word| word.ends == Position::AtSentence);
        is_same && (quoted.len() >= FEWEST_WORDS || begins && ends)
    })
}

fn words(text: &str) -> Vec<QuotedWord> {
    let mut words: Vec<QuotedWord> = Vec::new();
    for line in without_targets(text).lines() {
        let mut begins = Position::AtSentence;
        for token in without_marker(line).split_whitespace().flat_map(pieces) {
            let plain: String = token.chars().filter(|c| !MARKS.contains(c)).collect();
            let bare = plain.trim_matches(AROUND);
            let ends = if plain.ends_with(ENDS) { Position::AtSentence } else { Position::Inside };
            if !bare.is_empty() {
                let text = bare.to_lowercase();
                words.push(QuotedWord { text, begins, ends });
                begins = ends;
            } else if let (Position::AtSentence, Some(last)) = (ends, words.last_mut()) {
                (last.ends, begins) = (ends, ends);
            }
        }
        if let Some(last) = words.last_mut() {
            last.ends = Position::AtSentence;
        }
    }
    words
}

/// Returns a token as its words: scripts without blanks between words have one for each character.
fn pieces(token: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = token;
    while let Some(at) = rest.find(is_unspaced) {
        let after = rest.get(at..).unwrap_or_default();
        let length = after.chars().next().map_or(0, char::len_utf8);
        // Punctuation stays with the character before it.
        let closing: usize = after
            .get(length..)
            .unwrap_or_default()
            .chars()
            .take_while(|c| AROUND.contains(c))
            .map(char::len_utf8)
            .sum();
        pieces.extend(rest.get(..at).filter(|before| !before.is_empty()));
        pieces.extend(after.get(..length + closing));
        rest = after.get(length + closing..).unwrap_or_default();
    }
    pieces.extend((!rest.is_empty()).then_some(rest));
    pieces
}

/// `true` for Thai, Lao, Khmer and Myanmar, for Japanese and Chinese.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{20000}'..='\u{3ffff}')
}

/// Removes the marks at a line's beginning that make it a heading, a quotation or an item of a list.
fn without_marker(line: &str) -> &str {
    let mut rest = line.trim_start();
    loop {
        let number = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        let item = number.strip_prefix(['.', ')']).filter(|_| number.len() < rest.len());
        let hashes = rest.trim_start_matches('#');
        let heading = Some(hashes).filter(|after| after.len() < rest.len());
        let mark = rest.strip_prefix(['-', '+', '*']).or(item).or(heading);
        let mark = mark.filter(|after| after.starts_with(char::is_whitespace));
        let boxed = ["[ ]", "[x]", "[X]", ">"].iter().find_map(|mark| rest.strip_prefix(mark));
        match mark.or(boxed) {
            Some(after) => rest = after.trim_start(),
            None => return rest,
        }
    }
}

/// Removes the targets of links: of `[text](target)`, the text stays.
fn without_targets(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("](") {
        out.push_str(before);
        out.push(']');
        let end = after.find([')', '\n']).unwrap_or(after.len());
        let skipped = usize::from(after.get(end..).is_some_and(|end| end.starts_with(')')));
        rest = after.get(end + skipped..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::stands_in;
    use proptest::prelude::*;

    const ISSUE: &str = "# Totals\n\nThe total must *no longer* count [cancelled orders](https://x.y/a_(b)), \
                         see \"Billing\".\n\n- [ ] `total()` of an empty cart is 0.\n- Use x >= 3\n\
                         1. Drop `--old`.\n> Rounding is half-even.\n\n默认值改为三。其他不变。";

    #[test]
    fn a_quote_stands_there_word_for_word() {
        for quote in [
            "must no longer count cancelled orders",
            "“The total must no longer\ncount cancelled orders”",
            "THE TOTAL MUST",
            "- [ ] `total()` of an empty cart is 0",
            "total() of an empty cart is 0.",
            "\"total of an empty\"",
            "Use x >= 3",
            "Totals",
            "Drop --old",
            "Drop `--old`.",
            "rounding is half-even",
            "默认值改为三",
        ] {
            assert!(stands_in(quote, ["other", ISSUE]), "{quote}");
        }
    }

    #[test]
    fn other_words_part_of_a_word_and_single_words_do_not() {
        for quote in [
            "",
            " ",
            "\"\"",
            "…",
            "- [ ]",
            "total",
            "the total",
            "cancelled orders",
            "the total must count",
            "must no longer … cancelled orders",
            "must no longer coun",
            "Use x > 3",
            "Use x <= 3",
            "of an empty cart is 00",
            "认值",
        ] {
            assert!(!stands_in(quote, [ISSUE]), "{quote}");
        }
        assert!(!stands_in("a b c", ["a b", "c"]), "one text, not several");
    }

    proptest! {
        #[test]
        fn no_text_makes_it_fail_and_a_text_of_some_words_stands_in_itself(text in "[a-c*_`\"'#>\\[\\]().\\-1 \n漢…]{0,60}", more in "\\PC{0,20}") {
            let _ = stands_in(&more, [text.as_str()]);
            let quoted = super::words(&text);
            prop_assert_eq!(stands_in(&text, [text.as_str()]), !quoted.is_empty());
        }
    }
}
