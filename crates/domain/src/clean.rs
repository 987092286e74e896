//! Removes what a reader cannot see from a text: terminal colours, control characters, marks that change the reading
//! direction.

use std::{iter::Peekable, str::Chars};

/// Returns the text without terminal colours and invisible characters, with `\n` as its only line end.
pub fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => skip_escape(&mut chars),
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

/// Returns the length of the terminal control sequence at the start of `text`, in bytes.
pub(super) fn escape_length(text: &str) -> usize {
    let mut chars = text.chars().peekable();
    chars.next();
    skip_escape(&mut chars);
    text.len() - chars.map(char::len_utf8).sum::<usize>()
}

/// Skips the rest of a terminal control sequence after its escape character: `[`, parameters, a letter.
fn skip_escape(chars: &mut Peekable<Chars<'_>>) {
    if chars.next_if_eq(&'[').is_some() {
        while chars.next_if(|c| ('\u{20}'..='\u{3f}').contains(c)).is_some() {}
        chars.next_if(|c| ('\u{40}'..='\u{7e}').contains(c));
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
