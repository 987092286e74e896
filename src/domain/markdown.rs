//! Reads what people write on GitHub: which lines are speech and which are code. It renders nothing.

use pulldown_cmark::CodeBlockKind;
use pulldown_cmark::Event;
use pulldown_cmark::Parser;
use pulldown_cmark::Tag;
use pulldown_cmark::TagEnd;
use std::ops::Range;

/// The part of `text` from the first line on that starts with `word`, outside code, quotes and HTML comments.
///
/// The word must stand alone, and only blanks may stand before it on its line.
#[must_use]
pub fn from_line_starting_with<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let candidates = line_starts(text).filter_map(|start| {
        let line = text.get(start..)?;
        let rest = line.trim_start_matches([' ', '\t']);
        let after = rest.strip_prefix(word)?;
        after
            .chars()
            .next()
            .is_none_or(char::is_whitespace)
            .then_some((start + line.len() - rest.len(), rest))
    });
    let mut silent = None;
    for (offset, rest) in candidates {
        let ranges: &Vec<Range<usize>> = silent.get_or_insert_with(|| silent_ranges(text));
        if !ranges.iter().any(|range| range.contains(&offset)) {
            return Some(rest);
        }
    }
    None
}

/// The texts of all fenced blocks of `text` outside quotes, each with the first word of its info string.
#[must_use]
pub fn fenced_blocks(text: &str) -> Vec<(String, String)> {
    let mut blocks = Vec::new();
    let mut open: Option<(String, String)> = None;
    let mut quotes = 0usize;
    for event in Parser::new(text) {
        match event {
            Event::Start(Tag::BlockQuote(_)) => quotes += 1,
            Event::End(TagEnd::BlockQuote(_)) => quotes = quotes.saturating_sub(1),
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) if quotes == 0 => {
                let language = info.split_whitespace().next().unwrap_or_default().to_owned();
                open = Some((language, String::new()));
            }
            Event::Text(part) => {
                if let Some((_, body)) = &mut open {
                    body.push_str(&part);
                }
            }
            Event::End(TagEnd::CodeBlock) => blocks.extend(open.take()),
            _ => {}
        }
    }
    blocks
}

fn line_starts(text: &str) -> impl Iterator<Item = usize> {
    std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1))
}

/// Where nothing counts as said: code blocks, code spans and HTML comments. Quoted lines start with `>`, so a line that
/// starts with a word is never one of them.
fn silent_ranges(text: &str) -> Vec<Range<usize>> {
    Parser::new(text)
        .into_offset_iter()
        .filter_map(|(event, range)| match event {
            Event::Start(Tag::CodeBlock(_)) | Event::Code(_) => Some(range),
            Event::Start(Tag::HtmlBlock) | Event::InlineHtml(_) => text
                .get(range.clone())
                .is_some_and(|html| html.trim_start().starts_with("<!--"))
                .then_some(range),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_fenced_blocks_outside_quotes_are_found() {
        let text = "a\r\n```yaml\r\nx: 1\r\ny: 2\r\n```\r\n> ```yaml\r\n> q: 1\r\n> ```\r\n\r\n    z: 3\r\n\r\n- item\r\n  ~~~~ yml hint\r\n  w: |\r\n    ```\r\n  ~~~~\r\n";
        let block = |info: &str, body: &str| (info.to_owned(), body.to_owned());
        assert_eq!(
            fenced_blocks(text),
            [block("yaml", "x: 1\ny: 2\n"), block("yml", "w: |\n  ```\n")]
        );
    }

    proptest! {
        #[test]
        fn no_text_makes_the_reader_fail(text in "[ \t\r\n`~>#*a/<!\\-é]{0,80}") {
            let _ = from_line_starting_with(&text, "/a");
            let _ = fenced_blocks(&text);
        }
    }
}
