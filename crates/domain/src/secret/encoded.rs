//! Credentials of a known form in base 64 and base 16: found by what becomes of their beginnings, wherever these stand in
//! the encoded text, then decoded and looked at like any other.

use crate::secret::{Span, forms, shapes};
use aho_corasick::AhoCorasick;
use base64::{
    Engine, alphabet,
    engine::{
        DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig,
        general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD},
    },
};
use std::{fmt::Write, ops::Range, sync::LazyLock};

/// Of shorter beginnings too little is left to search for.
const LEAST: usize = 4;
/// How a private key begins.
const KEY: &str = "-----BEGIN ";
/// The longest that is decoded of a token, and of a key, in characters.
const MAX_TOKEN: usize = 1_000;
const MAX_KEY: usize = 24 * 1024;
/// What begins with so many characters that are no text once they are decoded is not looked at further.
const GLANCE: usize = 28;

/// How a beginning was encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Code {
    /// In base 64, after so many bytes of a group of three.
    Base64 { after: usize },
    /// In base 16.
    Base16,
}

struct Beginnings {
    finder: AhoCorasick,
    /// What each pattern stands for.
    encoded: Vec<Encoded>,
}

/// A beginning that was encoded.
#[derive(Clone, Copy)]
struct Encoded {
    beginning: &'static str,
    code: Code,
    /// The most that is decoded from there.
    most: usize,
}

static BEGINNINGS: LazyLock<Option<Beginnings>> = LazyLock::new(beginnings);

const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

fn beginnings() -> Option<Beginnings> {
    let (mut patterns, mut encoded) = (Vec::new(), Vec::new());
    let tokens = forms::beginnings().map(|beginning| (beginning, MAX_TOKEN));
    for (beginning, most) in tokens.chain([(KEY, MAX_KEY)]) {
        if beginning.len() < LEAST {
            continue;
        }
        let mut add = |pattern: String, code| {
            patterns.push(pattern);
            encoded.push(Encoded { beginning, code, most });
        };
        for after in 0..3 {
            let mut bytes = vec![0; after];
            bytes.extend_from_slice(beginning.as_bytes());
            let known = before(after)..bytes.len() * 8 / 6;
            for text in [STANDARD_NO_PAD.encode(&bytes), URL_SAFE_NO_PAD.encode(&bytes)] {
                add(text.get(known.clone())?.to_owned(), Code::Base64 { after });
            }
        }
        for digits in [hex(beginning), hex(beginning).to_uppercase()] {
            add(digits, Code::Base16);
        }
    }
    let finder = AhoCorasick::new(patterns).ok()?;
    Some(Beginnings { finder, encoded })
}

/// Characters of a group of four that depend on what stands before.
fn before(after: usize) -> usize {
    (after * 8).div_ceil(6)
}

fn hex(text: &str) -> String {
    let mut digits = String::with_capacity(text.len() * 2);
    for byte in text.bytes() {
        // Writing to a String cannot fail.
        let _ = write!(digits, "{byte:02x}");
    }
    digits
}

/// Finds what is a credential once it is decoded.
pub(super) fn find(text: &[u8], spans: &mut Vec<Span>) {
    let Some(beginnings) = &*BEGINNINGS else { return };
    let mut done = 0;
    for found in beginnings.finder.find_overlapping_iter(text) {
        let Some(encoded) = beginnings.encoded.get(found.pattern().as_usize()) else {
            continue;
        };
        if found.start() < done {
            continue;
        }
        if let Some(span) = look(text, found.start(), *encoded) {
            done = span.at.end;
            spans.push(span);
        }
    }
}

/// What stands encoded from `start` on, if it begins with a credential.
fn look(text: &[u8], start: usize, encoded: Encoded) -> Option<Span> {
    let (text, code) = (text.get(start..)?, encoded.code);
    let glance = decoded(&characters(text, code, GLANCE).0, encoded)?;
    if !glance
        .iter()
        .all(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace())
    {
        return None;
    }
    let (characters, places) = characters(text, code, encoded.most);
    let decoded = decoded(&characters, encoded)?;
    let mut spans = Vec::new();
    forms::find(&decoded, &mut spans);
    shapes::find(&decoded, &mut spans);
    let mut span = spans.into_iter().find(|span| span.at.start == 0)?;
    let used = match code {
        Code::Base64 { after } => ((after + span.at.end) * 8).div_ceil(6) - before(after),
        Code::Base16 => span.at.end * 2,
    };
    let last = places.get(used.min(places.len()).checked_sub(1)?)?;
    span.at = Range {
        start,
        end: start + last + 1,
    };
    Some(span)
}

/// The encoded characters and where they stand; line ends between them are left out.
fn characters(text: &[u8], code: Code, most: usize) -> (Vec<u8>, Vec<usize>) {
    let (mut characters, mut places) = (Vec::new(), Vec::new());
    let mut at = 0;
    while let Some(byte) = text.get(at).filter(|_| characters.len() < most) {
        let fits = match code {
            Code::Base64 { .. } => byte.is_ascii_alphanumeric() || b"+/-_".contains(byte),
            Code::Base16 => byte.is_ascii_hexdigit(),
        };
        match (byte, text.get(at + 1)) {
            (b'\n' | b'\r', _) => at += 1,
            (b'\\', Some(b'n' | b'r')) => at += 2,
            _ if fits => {
                characters.push(*byte);
                places.push(at);
                at += 1;
            }
            _ => break,
        }
    }
    (characters, places)
}

/// What the characters stand for. Of the first byte a part may stand in a character before them: it is known.
fn decoded(characters: &[u8], encoded: Encoded) -> Option<Vec<u8>> {
    let (bytes, after) = match encoded.code {
        Code::Base64 { after } => {
            let mut whole = vec![b'A'; before(after)];
            whole.extend(characters.iter().map(|byte| match byte {
                b'-' => b'+',
                b'_' => b'/',
                byte => *byte,
            }));
            // One character alone is no byte.
            let length = whole.len() - usize::from(whole.len() % 4 == 1);
            (LENIENT.decode(whole.get(..length)?).ok()?, after)
        }
        Code::Base16 => {
            let pairs = characters.chunks_exact(2);
            let bytes = pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok());
            (bytes.collect::<Option<Vec<u8>>>()?, 0)
        }
    };
    let rest = bytes.get(after + encoded.beginning.len()..)?;
    Some([encoded.beginning.as_bytes(), rest].concat())
}
