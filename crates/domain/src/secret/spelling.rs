//! The spellings of a known secret: as it is, line by line, escaped for JSON, HTML or an address, and in hexadecimal
//! and base64, also in the middle of a longer encoded text.

use base64::{
    Engine,
    engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD},
};
use std::fmt::Write;

/// The least length of a value or part; shorter ones are found by chance.
pub(super) const LEAST: usize = 8;
/// The least length of a value of lower-case letters only; a shorter one may be a word.
const LEAST_WORD: usize = 16;
/// The least length of a line that is searched on its own, in a secret of several lines.
const LEAST_LINE: usize = 24;

/// Returns every spelling of a secret, and of its parts that are secret on their own.
pub(super) fn of(secret: &str) -> Vec<String> {
    let secret = secret.trim();
    let mut parts: Vec<String> = vec![secret.to_owned()];
    if secret.contains('\n') {
        let lines = secret.lines().map(str::trim);
        parts.extend(
            lines
                .filter(|line| line.len() >= LEAST_LINE && !line.starts_with("-----"))
                .map(str::to_owned),
        );
    }
    parts.extend(password(secret));
    parts
        .iter()
        .filter(|part| is_telling(part))
        .flat_map(|part| spelled(part))
        .collect()
}

fn is_telling(part: &str) -> bool {
    part.len() >= LEAST_WORD || (part.len() >= LEAST && !part.bytes().all(|byte| byte.is_ascii_lowercase()))
}

/// Returns the password of an address, as written and decoded.
fn password(address: &str) -> Vec<String> {
    let Ok(url) = url::Url::parse(address) else {
        return Vec::new();
    };
    let Some(written) = url.password() else {
        return Vec::new();
    };
    let decoded = percent_decoded(written);
    vec![written.to_owned(), decoded]
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        let (before, escape) = rest.split_at(at);
        bytes.extend_from_slice(before.as_bytes());
        match escape.get(1..3).map(|digits| u8::from_str_radix(digits, 16)) {
            Some(Ok(byte)) => {
                bytes.push(byte);
                rest = escape.get(3..).unwrap_or_default();
            }
            Some(Err(_)) | None => {
                bytes.push(b'%');
                rest = escape.get(1..).unwrap_or_default();
            }
        }
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8_lossy(&bytes).into_owned()
}

fn spelled(part: &str) -> Vec<String> {
    let json = in_json(part);
    let mut all = vec![
        part.to_owned(),
        json.replace('/', "\\/"),
        in_json(&json),
        json,
        part.replace('\n', "\r\n"),
        html(part),
        percent(part, true),
        percent(part, false),
        hex(part),
        hex(part).to_uppercase(),
    ];
    all.extend(inside_base64(part));
    all.retain(|text| text.len() >= LEAST);
    all.sort_unstable();
    all.dedup();
    all
}

/// Returns the text as it is inside a JSON string.
fn in_json(part: &str) -> String {
    let quoted = serde_json::to_string(part).unwrap_or_default();
    let inside = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    inside.unwrap_or_default().to_owned()
}

fn html(part: &str) -> String {
    part.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

fn percent(part: &str, upper: bool) -> String {
    let mut text = String::with_capacity(part.len());
    for byte in part.bytes() {
        // Writing to a String cannot fail.
        let _ = match (byte.is_ascii_alphanumeric() || b"-._~".contains(&byte), upper) {
            (true, _) => write!(text, "{}", char::from(byte)),
            (false, true) => write!(text, "%{byte:02X}"),
            (false, false) => write!(text, "%{byte:02x}"),
        };
    }
    text
}

fn hex(part: &str) -> String {
    let mut text = String::with_capacity(part.len() * 2);
    for byte in part.bytes() {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Returns the base64 forms of the part inside a longer encoded text: one for each of the three alignments, without the
/// characters that depend on the neighbours.
fn inside_base64(part: &str) -> Vec<String> {
    let mut found = Vec::new();
    for offset in 0..3usize {
        let mut bytes = vec![0; offset];
        bytes.extend_from_slice(part.as_bytes());
        let first = (offset * 8).div_ceil(6);
        let last = bytes.len() * 8 / 6;
        for encoded in [STANDARD_NO_PAD.encode(&bytes), URL_SAFE_NO_PAD.encode(&bytes)] {
            found.extend(encoded.get(first..last).map(str::to_owned));
        }
    }
    found
}
