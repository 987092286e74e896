//! Reads JSON that others wrote. A strict parser refuses a whole text for one lone surrogate, one colour or one byte
//! order mark. Here such a text is repaired and read once more, in one pass. No other mistake is accepted.

use crate::clean::{escape_length, is_invisible};
use serde::de::DeserializeOwned;
use std::fmt::Write;

/// The characters of an escape such as `\ud83d`.
const UNIT: usize = 6;

/// Parses a document. A lone surrogate becomes U+FFFD, and so do bytes that are not UTF-8. Control characters are
/// dropped between tokens and kept inside strings.
///
/// # Errors
///
/// The parser's error, if the repaired text is not the JSON of a `T` either.
pub fn read<T: DeserializeOwned>(document: &[u8]) -> serde_json::Result<T> {
    match serde_json::from_slice(document) {
        Err(error) if !error.is_data() => serde_json::from_str(&mended(&String::from_utf8_lossy(document))),
        read => read,
    }
}

fn mended(document: &str) -> String {
    let mut mending = Mending::of(document);
    while mending.step() {}
    mending.mended
}

/// Returns the repaired text of the object that `text` begins with, and the object's length in `text`; `None` if its
/// closing bracket is missing.
pub fn object_at_start(text: &str) -> Option<(String, usize)> {
    let mut mending = Mending::of(text);
    while mending.step() {
        if mending.depth == 0 {
            return Some((mending.mended, mending.at));
        }
    }
    None
}

/// Copies JSON token by token, and leaves out or replaces everything that a strict parser refuses.
struct Mending<'a> {
    text: &'a str,
    at: usize,
    mended: String,
    is_in_string: bool,
    /// The number of objects that are open.
    depth: usize,
}

impl<'a> Mending<'a> {
    fn of(text: &'a str) -> Self {
        Self { text, at: 0, mended: String::with_capacity(text.len()), is_in_string: false, depth: 0 }
    }

    /// Copies the next piece. Returns `false` at the end.
    fn step(&mut self) -> bool {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let Some(next) = rest.chars().next() else { return false };
        self.at += match (next, self.is_in_string) {
            ('\u{1b}', _) => escape_length(rest),
            (_, false) => self.between(next),
            ('\\', true) => self.escape(rest),
            (_, true) => self.in_string(next),
        };
        true
    }

    fn between(&mut self, next: char) -> usize {
        match next {
            '"' => self.is_in_string = true,
            '{' => self.depth += 1,
            '}' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        if matches!(next, '\n' | '\r' | '\t') || !is_invisible(next) {
            self.mended.push(next);
        }
        next.len_utf8()
    }

    fn in_string(&mut self, next: char) -> usize {
        if next == '"' {
            self.is_in_string = false;
        }
        if next < ' ' {
            // Writing to a String cannot fail.
            let _ = write!(self.mended, "\\u{:04x}", u32::from(next));
        } else {
            self.mended.push(next);
        }
        next.len_utf8()
    }

    fn escape(&mut self, rest: &str) -> usize {
        let kept = match (unit(rest), rest.get(UNIT..).and_then(unit)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 2 * UNIT,
            (Some(0xd800..=0xdfff), _) => {
                self.mended.push_str("\\ufffd");
                return UNIT;
            }
            (Some(_), _) => UNIT,
            (None, _) if rest.starts_with("\\\"") || rest.starts_with("\\\\") => 2,
            (None, _) => 1,
        };
        self.mended.push_str(rest.get(..kept).unwrap_or_default());
        kept
    }
}

/// Returns the number of the `\u` escape at the start of a text.
fn unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hex.then(|| u16::from_str_radix(digits, 16).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::{Mending, object_at_start, read};
    use proptest::prelude::*;
    use serde_json::{Value, json};

    #[test]
    fn what_only_a_strict_parser_refuses_is_read() {
        let table = [
            (r#"{"a": "x\ud800y"}"#, json!({"a": "x\u{fffd}y"})),
            (r#"["\udc00", "\uDBFF\uDBFF\uDFFF", "\ud83d\ude00"]"#, json!(["\u{fffd}", "\u{fffd}\u{10ffff}", "😀"])),
            (r#"["\ud800\n", "\ud800"]"#, json!(["\u{fffd}\n", "\u{fffd}"])),
            (r#"["\\ud800", "\ud800"]"#, json!(["\\ud800", "\u{fffd}"])),
            (r#"{"\ud800": 1}"#, json!({"\u{fffd}": 1})),
            ("\u{feff}{\"a\": 1}", json!({"a": 1})),
            ("{\"a\": \"one\ntwo\tthree\0\"}\0", json!({"a": "one\ntwo\tthree\0"})),
            (
                "\u{1b}[1;39m{\u{1b}[0m\u{1b}[34;1m\"a\"\u{1b}[0m: \u{1b}[32m\"b\"\u{1b}(B\u{1b}[m}\u{1b}[0m\u{7}",
                json!({"a": "b"}),
            ),
        ];
        for (text, expected) in table {
            assert_eq!(read::<Value>(text.as_bytes()).unwrap(), expected, "{text:?}");
        }
        assert_eq!(read::<Value>(b"[\"\xff\"]").unwrap(), json!(["\u{fffd}"]));
        assert_eq!(read::<String>(b"\"a\\ud800\"").unwrap(), "a\u{fffd}");
    }

    #[test]
    fn everything_else_stays_an_error() {
        for text in ["", "{", "{a: 1}", "[1,]", r#""\u12""#, r#""\x""#, "{} {}", "nul", r#"["\ud800", }"#] {
            assert!(read::<Value>(text.as_bytes()).is_err(), "{text}");
        }
    }

    #[test]
    fn an_object_ends_with_its_own_bracket() {
        let table =
            [("{} {}", Some(2)), (r#"{"}": {"a": "\"}"}} and"#, Some(19)), (r#"{"a": {}"#, None), (r#"{"a"#, None)];
        for (text, length) in table {
            assert_eq!(object_at_start(text).map(|(_, length)| length), length, "{text}");
        }
    }

    /// No two steps read the same bytes, so the number of steps measures the work.
    #[test]
    fn the_work_grows_with_the_text() {
        let pieces = ["{\"a\":", "[", "\"", "\\ud800", "\u{1b}[32m", "\u{feff}", "}", "\\", "{"];
        for piece in pieces {
            let steps = |megabytes: usize| {
                let text = piece.repeat((megabytes << 20) / piece.len());
                let mut mending = Mending::of(&text);
                let mut steps = 0;
                while mending.step() {
                    steps += 1;
                }
                assert!(mending.mended.len() <= 2 * text.len());
                steps
            };
            assert!(steps(2) <= 2 * (steps(1) + piece.len()), "{piece:?}");
        }
    }

    proptest! {
        #[test]
        fn valid_json_is_mended_to_itself(text in r#"["\\{}a-z\ud7ff😀\t]{0,40}"#) {
            let valid = json!({ "key": text }).to_string();
            prop_assert_eq!(object_at_start(&valid), Some((valid.clone(), valid.len())));
        }
    }
}
