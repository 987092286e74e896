//! Reads the Markdown that people write on GitHub: separates text from code, and replaces images by words. It renders
//! nothing.

#![expect(clippy::wildcard_enum_match_arm, reason = "Markdown has many more events than are read")]

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};
use std::ops::Range;

/// Returns the rest of `text` from the first line that starts with `word`, outside code, quotes and HTML comments.
///
/// The word must not be part of a longer one, and only blanks may be before it on its line.
pub fn from_line_starting_with<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let candidates = line_starts(text).filter_map(|start| {
        let line = text.get(start..)?;
        let rest = line.trim_start_matches([' ', '\t']);
        let after = rest.strip_prefix(word)?.chars().next();
        after.is_none_or(char::is_whitespace).then_some((start + line.len() - rest.len(), rest))
    });
    let mut candidates = candidates.peekable();
    candidates.peek()?;
    let mut silent = silent_ranges(text).into_iter().peekable();
    let found = candidates.find(|(offset, _)| {
        while silent.next_if(|range| range.end <= *offset).is_some() {}
        !silent.peek().is_some_and(|range| range.contains(offset))
    });
    found.map(|(_, rest)| rest)
}

/// Returns the content of each fenced code block outside quotes, together with the first word of its info string.
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

/// Replaces each image outside code by words such as `[image, not read: alt, address]`, because a reader of the plain
/// text does not see it.
pub fn with_named_images(text: &str) -> String {
    let mut named = String::with_capacity(text.len());
    let mut done = 0usize;
    for (event, range) in Parser::new(text).into_offset_iter() {
        if range.start < done {
            continue;
        }
        let source = text.get(range.clone()).unwrap_or_default();
        let name = match event {
            Event::Start(Tag::Image { dest_url, .. }) => named_image(alt_of(source), &dest_url),
            Event::InlineHtml(_) | Event::Html(_) => without_image_tags(source),
            _ => continue,
        };
        named.push_str(text.get(done..range.start).unwrap_or_default());
        named.push_str(&name);
        done = range.end;
    }
    named.push_str(text.get(done..).unwrap_or_default());
    named
}

fn named_image(alt: &str, address: &str) -> String {
    match alt.trim() {
        "" => format!("[image, not read: {address}]"),
        alt => format!("[image, not read: {alt}, {address}]"),
    }
}

/// Returns the alt text between the brackets of an image.
fn alt_of(source: &str) -> &str {
    let inside = source.strip_prefix("![").unwrap_or_default();
    let end = ["](", "][", "]"].iter().find_map(|end| inside.rfind(end));
    end.and_then(|end| inside.get(..end)).unwrap_or_default()
}

/// Replaces the `img` tags of `html` by words.
fn without_image_tags(html: &str) -> String {
    let lower = html.to_ascii_lowercase();
    let mut named = String::new();
    let mut done = 0usize;
    while let Some(found) = lower.get(done..).and_then(|rest| rest.find("<img")) {
        let start = done + found;
        let Some(length) = lower.get(start..).and_then(|tag| tag.find('>')) else {
            break;
        };
        let tag = html.get(start..start + length).unwrap_or_default();
        named.push_str(html.get(done..start).unwrap_or_default());
        named.push_str(&named_image(attribute(tag, "alt"), attribute(tag, "src")));
        done = start + length + 1;
    }
    named.push_str(html.get(done..).unwrap_or_default());
    named
}

/// Returns the value of a tag's attribute, or an empty text.
fn attribute<'a>(tag: &'a str, name: &str) -> &'a str {
    let lower = tag.to_ascii_lowercase();
    let at = lower.find(&format!(" {name}="));
    let value = at.and_then(|at| tag.get(at + name.len() + 2..)).unwrap_or_default();
    match value.chars().next() {
        Some(quote @ ('"' | '\'')) => value.split(quote).nth(1).unwrap_or_default(),
        _ => value.split([' ', '/']).next().unwrap_or_default(),
    }
}

fn line_starts(text: &str) -> impl Iterator<Item = usize> {
    std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1))
}

/// Returns the ranges in which lines do not count as text, in order: code blocks, code spans and HTML comments. Quotes
/// need no range: a quoted line starts with `>`, never with the word.
fn silent_ranges(text: &str) -> Vec<Range<usize>> {
    Parser::new(text)
        .into_offset_iter()
        .filter_map(|(event, range)| match event {
            Event::Start(Tag::CodeBlock(_)) | Event::Code(_) => Some(range),
            Event::Start(Tag::HtmlBlock) | Event::InlineHtml(_) => {
                let html = text.get(range.clone()).unwrap_or_default();
                html.trim_start().starts_with("<!--").then_some(range)
            }
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
        assert_eq!(fenced_blocks(text), [block("yaml", "x: 1\ny: 2\n"), block("yml", "w: |\n  ```\n")]);
    }

    #[test]
    fn images_are_named_and_code_stays_as_it_is() {
        let table = [
            (
                "see ![the *flow*](https://x.test/a.png \"t\") here",
                "see [image, not read: the *flow*, https://x.test/a.png] here",
            ),
            ("![](a.png)![b](c.png)", "[image, not read: a.png][image, not read: b, c.png]"),
            (
                "![shot][ref]\n\n[ref]: https://x.test/s.png",
                "[image, not read: shot, https://x.test/s.png]\n\n[ref]: https://x.test/s.png",
            ),
            ("a <img width=\"10\" alt=\"The plan\" src='p.png' /> b", "a [image, not read: The plan, p.png] b"),
            ("<p>\n<IMG src=x.png>\n</p>\n", "<p>\n[image, not read: x.png]\n</p>\n"),
            ("`![a](b)` and\n\n```\n![a](b)\n<img src=x>\n```", "`![a](b)` and\n\n```\n![a](b)\n<img src=x>\n```"),
            ("[![badge](b.svg)](https://x.test)", "[[image, not read: badge, b.svg]](https://x.test)"),
            ("no image: !x [y](z)", "no image: !x [y](z)"),
        ];
        for (text, expected) in table {
            assert_eq!(with_named_images(text), expected);
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_the_reader_fail(text in "[ \t\r\n`~>#*a/<!\\-é]{0,80}") {
            let _ = from_line_starting_with(&text, "/a");
            let _ = fenced_blocks(&text);
            let _ = with_named_images(&text.replace('a', "<img src="));
        }
    }
}
