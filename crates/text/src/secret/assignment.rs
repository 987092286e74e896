//! Values that are given to names like `api_key`, `password` or `client_secret` and are too random to be words. The
//! rule is careful: it leaves out values that only look random, such as hashes, ids, generated files, examples and
//! code.

use crate::secret::{SecretKind, Span, entropy, has_word, is_stand_in, shapes::is_variable};
use aho_corasick::{AhoCorasick, AhoCorasickBuilder};
use std::sync::LazyLock;

const NAMES: &str = "password passwd passphrase pwd secret token api_key apikey api-key access_key accesskey access-key \
                     private_key privatekey auth_key authkey credential client_key encryption_key signing_key accountkey";

static FINDER: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let mut builder = AhoCorasickBuilder::new();
    builder.ascii_case_insensitive(true).build(NAMES.split(' ')).ok()
});

/// Words that show that a value is public, if they follow the keyword in a name, as in `token_url`.
const HARMLESS: &str = "hash digest sha checksum integrity public _id -id uuid url type name";

/// Limits: the distance of a value from its name, the rest of the name, and the length of the value, in bytes.
const MAX_LINE: usize = 600;
const MAX_NAME: usize = 60;
const LEAST: usize = 16;
const MOST: usize = 200;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AssignmentPlace {
    /// A file that people write, or a text of unknown kind.
    Anywhere,
    /// A file of environment variables, whose values need no quotes.
    Environment,
    /// A file that programs write: lock files, snapshots, source maps, pictures, archives.
    Generated,
}

impl AssignmentPlace {
    /// Returns the kind by the file's name and its first bytes.
    pub(super) fn of(path: &str, content: &[u8]) -> Self {
        const LOCKS: &str = "package-lock.json npm-shrinkwrap.json pnpm-lock.yaml go.sum bun.lockb";
        const ENDINGS: [&str; 7] = [".lock", ".snap", ".map", ".svg", ".min.js", ".min.css", ".lockfile"];
        let name = path.rsplit('/').next().unwrap_or_default();
        let binary = content.iter().take(8_000).any(|byte| *byte == 0);
        let named = LOCKS.split(' ').any(|lock| lock == name) || ENDINGS.iter().any(|ending| name.ends_with(ending));
        match binary || named {
            true => Self::Generated,
            false if is_environment(name) => Self::Environment,
            false => Self::Anywhere,
        }
    }
}

/// `true` for `.env` and similar files, except for templates.
fn is_environment(name: &str) -> bool {
    let shown = ["example", "sample", "template", "dist", "defaults"];
    name.starts_with(".env") && !shown.iter().any(|word| name.contains(word))
}

/// Finds the values that look like credentials.
pub(super) fn find(text: &[u8], place: AssignmentPlace, spans: &mut Vec<Span>) {
    let (Some(finder), AssignmentPlace::Anywhere | AssignmentPlace::Environment) = (&*FINDER, place) else {
        return;
    };
    let mut done = 0;
    for found in finder.find_iter(text) {
        if found.start() < done {
            continue;
        }
        let rest = text.get(found.end()..).unwrap_or_default();
        let rest = rest.get(..MAX_LINE).unwrap_or(rest);
        let name = rest.iter().take(MAX_NAME + 1).take_while(|byte| in_name(**byte)).count();
        if name > MAX_NAME || is_harmless(rest.get(..name).unwrap_or_default()) {
            continue;
        }
        let Some((start, length)) = value(rest, name, place) else {
            continue;
        };
        let at = found.end() + start..found.end() + start + length;
        done = at.end;
        spans.push(Span::sure(SecretKind::Assigned, at));
    }
}

fn in_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

fn is_harmless(rest_of_name: &[u8]) -> bool {
    HARMLESS.split(' ').any(|word| has_word(rest_of_name, word))
}

/// Returns the start and the length of the value in the first line of `line`, if it is a credential. The name ends at
/// `from`.
fn value(line: &[u8], from: usize, place: AssignmentPlace) -> Option<(usize, usize)> {
    let mut at = from;
    let mut given = false;
    let mut quote = None;
    // At most: quote, bracket, space, two signs, space, quote, as in `["token"] => "…"`. A type may be in between.
    for _ in 0..10 {
        match *line.get(at)? {
            b'=' | b':' | b',' | b'(' => {
                given = true;
                quote = None;
            }
            found @ (b'"' | b'\'' | b'`') => quote = Some(found),
            b'\\' | b'>' | b']' | b')' | b' ' | b'\t' => {}
            _ => break,
        }
        at += 1;
    }
    if !given {
        return None;
    }
    if quote.is_none()
        && let Some(typed) = after_type(line, at)
    {
        (at, quote) = typed;
    }
    let rest = line.get(at..)?;
    let length = rest.iter().take(MOST + 1).take_while(|byte| in_value(**byte)).count();
    let value = rest.get(..length)?;
    let next = rest.get(length).copied();
    let ends = match quote {
        Some(quote) => next == Some(quote) || next == Some(b'\\'),
        None => next.is_none_or(|byte| byte.is_ascii_whitespace() || b",;&\"'`#}".contains(&byte)),
    };
    (ends && is_random(value, quote.is_some() || place == AssignmentPlace::Environment)).then_some((at, length))
}

/// Returns the start of the value in `: &str = "…"`, and its quote.
fn after_type(line: &[u8], at: usize) -> Option<(usize, Option<u8>)> {
    let rest = line.get(at..)?;
    let sign = rest.iter().take(40).position(|byte| *byte == b'=')?;
    let kind = rest.get(..sign)?;
    let is_type = |byte: &u8| byte.is_ascii_alphanumeric() || b"&'<>[]_: ".contains(byte);
    if !kind.iter().all(is_type) || !kind.ends_with(b" ") {
        return None;
    }
    let value = rest.get(sign + 1..)?;
    let blank = value.iter().take_while(|byte| **byte == b' ').count();
    let quote = value.get(blank).filter(|byte| b"\"'`".contains(byte))?;
    Some((at + sign + 1 + blank + 1, Some(*quote)))
}

fn in_value(byte: u8) -> bool {
    byte.is_ascii_graphic() && !b"\"'`\\,;<>(){}[]|".contains(&byte)
}

fn is_random(value: &[u8], quoted: bool) -> bool {
    let any = |is: fn(&u8) -> bool| value.iter().any(is);
    let alphanumeric = any(u8::is_ascii_digit) && any(u8::is_ascii_alphabetic);
    let (least, bits) = if quoted { (LEAST, 3.3) } else { (LEAST + 4, 3.6) };
    let mixed = quoted || is_hex(value) || (any(u8::is_ascii_uppercase) && any(u8::is_ascii_lowercase));
    (least..=MOST).contains(&value.len())
        && alphanumeric
        && mixed
        && entropy(value) >= bits
        && !is_variable(value)
        && !is_stand_in(value)
        && !is_address(value)
        && !is_uuid(value)
        && !is_in_order(value)
        && !is_words(value)
}

fn is_hex(value: &[u8]) -> bool {
    value.iter().all(u8::is_ascii_hexdigit)
}

fn is_address(value: &[u8]) -> bool {
    value.starts_with(b"/") || value.starts_with(b"./") || value.windows(3).any(|window| window == b"://")
}

fn is_uuid(value: &[u8]) -> bool {
    let parts: Vec<&[u8]> = value.split(|byte| *byte == b'-').collect();
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    lengths == [8, 4, 4, 4, 12] && parts.iter().all(|part| is_hex(part))
}

/// `true` if six characters follow each other in the alphabet, which is unlikely in a random value.
fn is_in_order(value: &[u8]) -> bool {
    let follows = |pair: &[u8]| matches!(pair, [one, two] if one.checked_add(1) == Some(*two));
    value.windows(6).any(|window| window.windows(2).all(follows))
}

/// `true` if every part between other characters is a word, perhaps with a number at its end, as in `my-test-token-2`
/// and `config.database2.password`.
fn is_words(value: &[u8]) -> bool {
    let mut parts = value.split(|byte| !byte.is_ascii_alphanumeric());
    parts.all(|part| {
        let letters = part.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let digits = part.get(letters..).unwrap_or_default();
        digits.iter().all(u8::is_ascii_digit) && digits.len() <= 4
    })
}
