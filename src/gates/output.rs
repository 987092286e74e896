//! Prepares a command's output for people and agents: plain text without secrets, and not too long.

use std::{collections::BTreeSet, path::Path};
use text::{secret::Secrets, shorten};

/// The most characters of output that evidence holds.
const MAX_SHOWN: usize = 8_000;

/// Returns the text as a terminal shows it in the end: without colours, cursor movements and overwritten progress
/// lines. `around` is the checkout's path, which is removed, since it varies and means nothing.
pub(crate) fn plain(text: &str, around: &Path) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    let mut line_start = 0;
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => skip_escape(&mut chars),
            '\n' => {
                plain.push('\n');
                line_start = plain.len();
            }
            '\r' if chars.peek() == Some(&'\n') => {}
            '\r' if chars.peek().is_some() => plain.truncate(line_start),
            '\t' => plain.push('\t'),
            c if c.is_control() => {}
            c => plain.push(c),
        }
    }
    plain.replace(&format!("{}/", around.display()), "")
}

/// Skips the rest of an escape sequence: `[…letter` for colours, `]…` up to its terminator for titles, otherwise one
/// character.
fn skip_escape(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match chars.next() {
        Some('[') => while chars.next_if(|c| !('@'..='~').contains(c) && *c != '\n').is_some() {},
        Some(']') => {
            while chars.next_if(|c| *c != '\u{7}' && *c != '\u{1b}' && *c != '\n').is_some() {}
            if chars.next_if_eq(&'\u{1b}').is_some() {
                chars.next_if_eq(&'\\');
            }
            return;
        }
        _ => return,
    }
    // The letter ends the sequence.
    chars.next_if(|c| *c != '\n');
}

/// Joins both streams, errors first, since results are at the end of the output. Each is shortened in the middle, so
/// that neither displaces the other.
pub(crate) fn join_streams(stdout: &str, stderr: &str, secrets: &Secrets) -> String {
    let (stdout, stderr) = (secrets.mask(stdout.trim()), secrets.mask(stderr.trim()));
    let (out, err) = (stdout.chars().count(), stderr.chars().count());
    if out == 0 || err == 0 {
        return shorten::middle(&format!("{stderr}{stdout}"), MAX_SHOWN);
    }
    let room = MAX_SHOWN - 1;
    let half = room / 2;
    let err_room = err.min(room - out.min(half));
    let err_text = shorten::middle(&stderr, err_room);
    let out_text = shorten::middle(&stdout, room - err_room);
    format!("{err_text}\n{out_text}")
}

/// Returns the lines of a file that an output names as `path:12`.
pub(crate) fn named_lines(output: &str, path: &str) -> BTreeSet<usize> {
    let mark = format!("{path}:");
    let digits = |rest: &str| rest.chars().take_while(char::is_ascii_digit).collect::<String>();
    let behind = output.split(&mark).skip(1);
    behind.filter_map(|rest| digits(rest).parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::{join_streams, plain};
    use secrecy::SecretString;
    use std::path::Path;
    use text::secret::Secrets;

    #[test]
    fn colours_progress_and_the_path_of_the_checkout_are_gone() {
        let table = [
            ("\u{1b}[1;31mred\u{1b}[0m plain", "red plain"),
            ("10%\r50%\r100%\ndone\r\n", "100%\ndone\n"),
            ("\u{1b}]0;title\u{7}text \u{1b}]8;;x\u{1b}\\link", "text link"),
            ("a\u{0}b\u{8}c\td\n", "abc\td\n"),
            ("\u{1b}", ""),
            ("\u{1b}[", ""),
            ("\u{1b}[31", ""),
            ("\u{1b}[31\nnext", "\nnext"),
            ("ümlaut ✓", "ümlaut ✓"),
            ("/checkout/a.py:1 and /checkouts/b", "a.py:1 and /checkouts/b"),
        ];
        for (text, expected) in table {
            assert_eq!(plain(text, Path::new("/checkout")), expected, "{text:?}");
        }
    }

    #[test]
    fn both_streams_are_seen_whatever_their_size() {
        let none = Secrets::default();
        assert_eq!(join_streams("out\n", "err\n", &none), "err\nout");
        assert_eq!(join_streams("", "err", &none), "err");
        let (long_out, long_err) = (format!("first {} last", "o".repeat(20_000)), "e".repeat(20_000));
        let both = join_streams(&long_out, &long_err, &none);
        assert!(both.chars().count() <= 8_000 && both.ends_with("o last") && both.starts_with("eee"));
        let one = join_streams(&long_out, "small", &none);
        assert!(one.chars().count() > 7_900 && one.starts_with("small\nfirst "));
    }

    #[test]
    fn secrets_are_masked() {
        let own = Secrets::new(&[SecretString::from("own-value")]);
        let token = format!("ghp_{}", "a1".repeat(18));
        assert_eq!(join_streams(&format!("got {token}"), "own-value", &own), "[masked]\ngot [masked]");
    }
}
