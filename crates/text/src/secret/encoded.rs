//! Credentials of a known form in base64 and hexadecimal. The text is searched for the encoded forms of their
//! beginnings, at every possible alignment; each match is decoded and checked like plain text.

use crate::{
    hex,
    secret::{
        Span, forms, shapes,
        spelling::{before, inside_base64},
    },
};
use aho_corasick::AhoCorasick;
use base64::{
    Engine, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use std::sync::LazyLock;

/// The shortest beginning that is searched for: the encoded form of a shorter one would be too short.
const LEAST: usize = 4;
/// The beginning of a private key.
const KEY: &str = "-----BEGIN ";
/// The most characters that are decoded of a token, and of a key.
const MAX_TOKEN: usize = 1_000;
const MAX_KEY: usize = 24 * 1024;
/// The number of characters that are decoded first. If they are not text, the match is dropped.
const GLANCE: usize = 28;
/// The number of characters that are decoded then: enough for the shortest credential of each form.
const FIRST: usize = 400;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Code {
    /// Base64, after so many bytes of a group of three.
    Base64 { after: usize },
    /// Hexadecimal.
    Base16,
}

struct Beginnings {
    finder: AhoCorasick,
    /// The beginning that each pattern encodes.
    encoded: Vec<EncodedSecret>,
}

#[derive(Clone, Copy)]
struct EncodedSecret {
    beginning: &'static str,
    code: Code,
    /// The most characters that are decoded from there.
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
            encoded.push(EncodedSecret { beginning, code, most });
        };
        for (after, text) in inside_base64(beginning) {
            add(text, Code::Base64 { after });
        }
        let digits = hex::encode(beginning.as_bytes());
        for digits in [digits.to_uppercase(), digits] {
            add(digits, Code::Base16);
        }
    }
    let finder = AhoCorasick::new(patterns).ok()?;
    Some(Beginnings { finder, encoded })
}

/// Finds the credentials that only appear in the decoded text.
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

/// Decodes the text from `start` on, and returns the credential that it begins with.
fn look(text: &[u8], start: usize, encoded: EncodedSecret) -> Option<Span> {
    let (text, code) = (text.get(start..)?, encoded.code);
    let glance = decoded(&characters(text, code, GLANCE).0, encoded)?;
    let is_text = |byte: &u8| byte.is_ascii_graphic() || byte.is_ascii_whitespace();
    if !glance.iter().all(is_text) {
        return None;
    }
    // Most credentials are short, and text that only looks like one must not cost as much time as the longest key.
    let mut most = FIRST;
    loop {
        let (characters, places) = characters(text, code, most);
        let decoded = decoded(&characters, encoded)?;
        let span = starting(&decoded)?;
        let is_key = encoded.beginning == KEY && decoded.iter().all(|byte| shapes::is_in_key(*byte));
        let goes_on = is_key || span.at.end == decoded.len();
        if goes_on && most < encoded.most && characters.len() == most {
            most = most.saturating_mul(2).min(encoded.most);
            continue;
        }
        let used = match code {
            Code::Base64 { after } => ((after + span.at.end) * 8).div_ceil(6) - before(after),
            Code::Base16 => span.at.end * 2,
        };
        let last = places.get(used.min(places.len()).checked_sub(1)?)?;
        let at = start..start + last + 1;
        return Some(Span { at, ..span });
    }
}

/// Returns the credential that a decoded text begins with.
fn starting(decoded: &[u8]) -> Option<Span> {
    let mut spans = Vec::new();
    forms::find(decoded, &mut spans);
    shapes::find(decoded, &mut spans);
    spans.into_iter().find(|span| span.at.start == 0)
}

/// Returns the encoded characters and their positions, without the line ends between them.
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

/// Decodes the characters. Part of the first byte may be in a character before them, so the known beginning is put in
/// its place.
fn decoded(characters: &[u8], encoded: EncodedSecret) -> Option<Vec<u8>> {
    let (bytes, after) = match encoded.code {
        Code::Base64 { after } => {
            let mut whole = vec![b'A'; before(after)];
            whole.extend(characters.iter().map(|byte| match byte {
                b'-' => b'+',
                b'_' => b'/',
                byte => *byte,
            }));
            // A single character left over does not make a byte.
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
