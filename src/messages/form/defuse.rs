//! Finds text on which GitHub would act, so that it can be made ineffective: mentions, references, closing words,
//! addresses, emoji names, commands.
//!
//! It works on one line of plain text and does not parse Markdown, which `untrusted` escapes.

use std::{iter::Peekable, str::CharIndices};

const CLOSING_WORDS: [&str; 9] =
    ["close", "closes", "closed", "fix", "fixes", "fixed", "resolve", "resolves", "resolved"];

/// The most bytes that are searched to recognise a target; no owner's and repository's names together are longer.
const LONGEST_TARGET: usize = 200;

/// Returns the places for breaks in `line`: ascending byte offsets at which an invisible character makes the text
/// ineffective.
pub(crate) fn breaks(line: &str) -> Vec<usize> {
    let mut found = Vec::new();
    let mut chars = line.char_indices().peekable();
    let mut before = None;
    while let Some((at, c)) = chars.next() {
        if breaks_after(line, at, c, before, &mut chars) {
            found.push(at + c.len_utf8());
        }
        before = Some(c);
    }
    found
}

fn breaks_after(line: &str, at: usize, c: char, before: Option<char>, rest: &mut Peekable<CharIndices<'_>>) -> bool {
    let next = rest.peek().map(|(_, c)| *c);
    let after = line.get(at + c.len_utf8()..).unwrap_or_default();
    let starts_word = !before.is_some_and(char::is_alphanumeric);
    match c {
        '@' => next.is_some_and(|c| !c.is_whitespace()),
        '#' => next.is_some_and(|c| c.is_ascii_digit()),
        ':' => after.starts_with("//") || names_emoji(after),
        '/' => starts_with_word(after, "autobuild"),
        '-' => next.is_some_and(|c| c.is_ascii_digit()) && ends_with_gh(line.get(..at).unwrap_or_default()),
        'w' | 'W' if starts_with_word(after, "ww.") => true,
        _ if starts_word && c.is_ascii_alphabetic() => is_closing_word(line.get(at..).unwrap_or_default()),
        _ => false,
    }
}

fn starts_with_word(text: &str, word: &str) -> bool {
    text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
}

fn ends_with_gh(text: &str) -> bool {
    text.get(text.len().saturating_sub(2)..).is_some_and(|end| end.eq_ignore_ascii_case("gh"))
}

/// `true` if the text after a colon names an emoji, such as `smile:`, which GitHub would draw.
fn names_emoji(after: &str) -> bool {
    let Some((name, _)) = after.split_once(':') else {
        return false;
    };
    name.chars().any(|c| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "_+-".contains(c))
}

/// `true` if the text starts with a closing word before something it could close: `fixes #12`, `closes: owner/name#12`,
/// `resolved https://…`.
fn is_closing_word(text: &str) -> bool {
    let end = text.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (word, after) = text.split_at(end);
    if !CLOSING_WORDS.iter().any(|known| known.eq_ignore_ascii_case(word)) {
        return false;
    }
    let target = after.trim_start_matches([' ', ':', '\t']);
    let target = target.get(..target.floor_char_boundary(LONGEST_TARGET)).unwrap_or(target);
    let target = target.split_whitespace().next().unwrap_or_default();
    target.contains('#') || target.contains("://") || starts_with_word(target, "gh-")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken(line: &str) -> String {
        let mut out = line.to_owned();
        for at in breaks(line).into_iter().rev() {
            out.insert(at, '·');
        }
        out
    }

    #[test]
    fn everything_that_github_acts_on_is_broken_and_nothing_else() {
        let table = [
            ("ask @ada and @org/team", "ask @·ada and @·org/team"),
            ("a @ b, mail ada@example.org", "a @ b, mail ada@·example.org"),
            ("see #12, o/n#3 and #L4", "see #·12, o/n#·3 and #L4"),
            ("GH-7, gh-8, HIGH-9, G-1", "GH-·7, gh-·8, HIGH-·9, G-1"),
            ("fixes #12", "f·ixes #·12"),
            ("Closes: o/n#1", "C·loses: o/n#·1"),
            ("resolved https://x.y/1", "r·esolved https:·//x.y/1"),
            ("FIX GH-1", "F·IX GH-·1"),
            ("it closes the file and fixes 3 bugs", "it closes the file and fixes 3 bugs"),
            ("prefix #1", "prefix #·1"),
            ("www.example.org", "w·ww.example.org"),
            (":white_check_mark: a::b c:1:2", ":·white_check_mark: a::b c:1:2"),
            ("/autobuild cancel", "/·autobuild cancel"),
            ("/AutoBuild cancel", "/·AutoBuild cancel"),
            ("plain text, 1 + 1 = 2", "plain text, 1 + 1 = 2"),
            ("@", "@"),
            ("", ""),
            ("é@é #１", "é@·é #１"),
        ];
        for (line, expected) in table {
            assert_eq!(broken(line), expected, "{line:?}");
        }
    }
}
