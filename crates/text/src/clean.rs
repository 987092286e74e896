//! Removes the parts of a text that a reader cannot see: terminal colours, control characters, marks that change the
//! reading direction.

use std::iter::Peekable;

/// Returns the text without terminal colours and invisible characters, with `\n` as its only line end.
pub fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => skip_escape(&mut chars, |c| *c),
            '\r' => {
                chars.next_if_eq(&'\n');
                out.push('\n');
            }
            '\u{2028}' | '\u{2029}' | '\u{85}' | '\u{b}' | '\u{c}' => out.push('\n'),
            '\n' | '\t' => out.push(c),
            c if is_invisible(c) => {}
            c => out.push(c),
        }
    }
    out
}

/// Returns the text without terminal control sequences. Everything else stays.
pub fn without_colours(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, _)) = rest.split_once('\u{1b}') {
        let sequence = rest.get(before.len()..).unwrap_or_default();
        out.push_str(before);
        rest = sequence.get(escape_length(sequence)..).unwrap_or_default();
    }
    out + rest
}

/// Returns the length of the terminal control sequence at the start of `text`, in bytes. It looks at no character behind
/// the sequence, so a text full of them is read in linear time.
pub(super) fn escape_length(text: &str) -> usize {
    let mut chars = text.char_indices().peekable();
    chars.next();
    skip_escape(&mut chars, |(_, c)| *c);
    chars.next().map_or(text.len(), |(at, _)| at)
}

/// Skips the rest of a terminal control sequence after its escape character: `[`, parameters, a letter; or the choice of
/// a character set, such as `(B`.
fn skip_escape<I: Iterator>(chars: &mut Peekable<I>, of: fn(&I::Item) -> char) {
    if chars.next_if(|item| of(item) == '[').is_some() {
        while chars.next_if(|item| ('\u{20}'..='\u{3f}').contains(&of(item))).is_some() {}
        chars.next_if(|item| ('\u{40}'..='\u{7e}').contains(&of(item)));
    } else if chars.next_if(|item| ('('..='+').contains(&of(item))).is_some() {
        chars.next_if(|item| ('0'..='~').contains(&of(item)));
    }
}

/// `true` for control characters, and for characters that GitHub shows as nothing or that change the order of others.
pub fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}'
                | '\u{61c}'
                | '\u{115f}'
                | '\u{1160}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{202a}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{3164}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

/// Returns each character of a text, with `true` if it hides, moves or overwrites others.
pub fn each_hiding(text: &str) -> impl Iterator<Item = (char, bool)> {
    let (mut before, mut rest) = ('\n', text.chars().peekable());
    std::iter::from_fn(move || {
        let c = rest.next()?;
        let after = rest.peek().copied().unwrap_or('\n');
        let is_hiding = hides(c) && !belongs(before, c, after);
        before = c;
        Some((c, is_hiding))
    })
}

/// `true` for control characters, and for characters that Unicode draws as nothing or that reorder the text.
pub fn hides(c: char) -> bool {
    let other_than_layout = c.is_control() && !matches!(c, '\n' | '\t');
    other_than_layout
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// `true` if such a character is part of normal writing: the end of a line, a joiner inside a word or an emoji, or the
/// selector for how a character is drawn.
fn belongs(before: char, c: char, after: char) -> bool {
    match c {
        '\r' => after == '\n',
        '\u{200c}' | '\u{200d}' => !before.is_ascii() && !after.is_ascii() && !hides(after),
        // Two letters are emoji: ℹ and Ⓜ.
        '\u{fe0e}' | '\u{fe0f}' => {
            !before.is_whitespace() && !hides(before) && (!before.is_alphabetic() || matches!(before, 'ℹ' | 'Ⓜ'))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{clean, escape_length, skip_escape, without_colours};
    use std::cell::Cell;

    #[test]
    fn a_sequence_is_read_to_its_end_and_no_further() {
        for megabytes in [1, 2, 4, 8] {
            let text = "\u{1b}[32mok\u{1b}[0m".repeat(megabytes << 17);
            let read = Cell::new(0);
            let mut chars = text.chars().skip(1).inspect(|_| read.set(read.get() + 1)).peekable();
            skip_escape(&mut chars, |c| *c);
            assert_eq!((escape_length(&text), read.get()), (5, 4), "of {megabytes} MiB");
        }
    }

    #[test]
    fn a_sequence_may_end_with_the_text() {
        let table = [
            ("\u{1b}", 1),
            ("\u{1b}[", 2),
            ("\u{1b}[3", 3),
            ("\u{1b}[3m", 4),
            ("\u{1b}ü", 1),
            ("\u{1b}(B{", 3),
            ("\u{1b}(", 2),
        ];
        for (text, length) in table {
            assert_eq!(escape_length(text), length, "{text:?}");
        }
        assert_eq!(clean("a\u{1b}[1;31mb\u{1b}[0mc\u{1b}["), "abc");
        assert_eq!(without_colours("a\r\u{1b}[1;31mb\u{1b}[0mc\u{1b}["), "a\rbc");
    }
}
