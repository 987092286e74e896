//! A text as its reader sees it: without invisible characters, with the escapes of Markdown, HTML, JSON and addresses
//! decoded. A credential that is only complete in this form must be found too.

use crate::clean;
use std::ops::Range;

/// HTML entities and their characters; the last ones are invisible.
const ENTITIES: [(&str, &str); 9] = [
    ("&amp;", "&"),
    ("&lt;", "<"),
    ("&gt;", ">"),
    ("&quot;", "\""),
    ("&#39;", "'"),
    ("&#x27;", "'"),
    ("&#96;", "`"),
    ("&#8203;", ""),
    ("&ZeroWidthSpace;", ""),
];

/// The visible text, and for each of its bytes the range it comes from.
pub(super) struct View {
    pub(super) text: Vec<u8>,
    from: Vec<Range<usize>>,
}

impl View {
    /// Returns the view of a text; `None` if it is the same as the text.
    pub(super) fn of(text: &str) -> Option<Self> {
        let plain = |c: char| match c {
            '\\' | '&' | '%' => false,
            ' '..='~' | '\n' | '\t' | '\r' => true,
            c => !clean::is_invisible(c),
        };
        if text.chars().all(plain) {
            return None;
        }
        let mut view = Self { text: Vec::with_capacity(text.len()), from: Vec::with_capacity(text.len()) };
        let mut at = 0;
        while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
            let (length, seen) = first(rest);
            view.push(at..at + length, seen);
            at += length;
        }
        Some(view)
    }

    fn push(&mut self, from: Range<usize>, seen: VisibleForm<'_>) {
        let mut buffer = [0; 4];
        let seen = match seen {
            VisibleForm::Text(text) => text,
            VisibleForm::Char(c) => &*c.encode_utf8(&mut buffer),
        };
        self.text.extend_from_slice(seen.as_bytes());
        self.from.extend(seen.bytes().map(|_| from.clone()));
    }

    /// Returns the range of the original text that a part of the view comes from.
    pub(super) fn source(&self, part: &Range<usize>) -> Option<Range<usize>> {
        let first = self.from.get(part.start)?;
        let last = self.from.get(part.end.checked_sub(1)?)?;
        Some(first.start..last.end)
    }
}

/// The visible form of the start of a text.
enum VisibleForm<'a> {
    Text(&'a str),
    Char(char),
}

/// Returns the length of the first unit of `rest` (a character, an escape or an entity), and its visible form.
fn first(rest: &str) -> (usize, VisibleForm<'_>) {
    let Some(c) = rest.chars().next() else {
        return (0, VisibleForm::Text(""));
    };
    let plain = (c.len_utf8(), VisibleForm::Char(c));
    match c {
        '\u{1b}' => (clean::escape_length(rest), VisibleForm::Text("")),
        '\n' | '\t' | '\r' => plain,
        '\\' => escape(rest).unwrap_or(plain),
        '%' => code(rest, "%", 2).unwrap_or(plain),
        '&' => {
            let entity = ENTITIES.iter().find(|(entity, _)| rest.starts_with(entity));
            entity.map_or(plain, |(entity, seen)| (entity.len(), VisibleForm::Text(seen)))
        }
        c if clean::is_invisible(c) => (c.len_utf8(), VisibleForm::Text("")),
        _ => plain,
    }
}

/// Decodes `\u0041`, `\x41`, or a punctuation character after a backslash.
fn escape(rest: &str) -> Option<(usize, VisibleForm<'_>)> {
    if let Some(read) = code(rest, "\\u", 4).or_else(|| code(rest, "\\x", 2)) {
        return Some(read);
    }
    let sign = rest.chars().nth(1).filter(char::is_ascii_punctuation)?;
    Some((2, VisibleForm::Char(sign)))
}

/// Decodes a character that is written as `mark` and its number in so many hexadecimal digits.
fn code<'a>(rest: &'a str, mark: &str, digits: usize) -> Option<(usize, VisibleForm<'a>)> {
    let end = mark.len() + digits;
    let number = rest.strip_prefix(mark)?.get(..digits)?;
    let number = u32::from_str_radix(number, 16).ok()?;
    let c = char::from_u32(number).filter(char::is_ascii_graphic)?;
    Some((end, VisibleForm::Char(c)))
}

/// Decodes UTF-16 with a byte order mark; `None` for other content.
pub(super) fn read(content: &[u8]) -> Option<String> {
    let unit: fn([u8; 2]) -> u16 = match content.get(..2)? {
        [0xff, 0xfe] => u16::from_le_bytes,
        [0xfe, 0xff] => u16::from_be_bytes,
        _ => return None,
    };
    let pairs = content.get(2..)?.as_chunks::<2>().0;
    let units: Vec<u16> = pairs.iter().map(|pair| unit(*pair)).collect();
    Some(String::from_utf16_lossy(&units))
}

#[cfg(test)]
mod tests {
    use super::View;

    fn decode(text: &str) -> Option<String> {
        View::of(text).map(|view| String::from_utf8(view.text).unwrap())
    }

    #[test]
    fn what_is_seen_is_without_escapes_and_without_what_is_invisible() {
        let table = [
            ("plain, größer\n\t", None),
            ("a\\_b\\*c\\\\d", Some("a_b*c\\d")),
            ("a\u{200b}b\u{1b}[31mc\u{ad}", Some("abc")),
            ("a&#8203;b &lt;c&gt; &amp;d; &nothing;", Some("ab <c> &d; &nothing;")),
            ("\\u0067h\\x70 \\n \\u00e9", Some("ghp \\n \\u00e9")),
            ("%67h%70%5F 100% %zz %0a", Some("ghp_ 100% %zz %0a")),
            ("\\", Some("\\")),
        ];
        for (text, expected) in table {
            assert_eq!(decode(text).as_deref(), expected, "{text:?}");
        }
    }

    #[test]
    fn every_part_leads_back_to_its_place() {
        let text = "ä\\_b\u{200b}c&amp;";
        let view = View::of(text).unwrap();
        assert_eq!(view.text, "ä_bc&".as_bytes());
        let places: Vec<&str> = [2..3, 3..5, 5..6].iter().map(|part| &text[view.source(part).unwrap()]).collect();
        assert_eq!(places, ["\\_", "b\u{200b}c", "&amp;"]);
        assert_eq!((view.source(&(0..0)), view.source(&(5..9))), (None, None));
    }
}
