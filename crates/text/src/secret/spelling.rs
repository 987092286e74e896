//! The spellings of a known secret: as it is, line by line, escaped for JSON, HTML or an address, and in hexadecimal
//! and base64, also in the middle of a longer encoded text.

use crate::hex;
use base64::{
    Engine,
    engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD},
};

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
        let lines = lines.filter(|line| line.len() >= LEAST_LINE && !line.starts_with("-----"));
        parts.extend(lines.map(str::to_owned));
    }
    parts.extend(password(secret));
    let telling = parts.iter().filter(|part| is_specific(part));
    telling.flat_map(|part| spelled(part)).collect()
}

fn is_specific(part: &str) -> bool {
    part.len() >= LEAST_WORD || (part.len() >= LEAST && !part.bytes().all(|byte| byte.is_ascii_lowercase()))
}

fn password(address: &str) -> Vec<String> {
    let url = url::Url::parse(address).ok();
    let password = url.as_ref().and_then(url::Url::password);
    password.map_or_else(Vec::new, |written| vec![written.to_owned(), percent_decoded(written)])
}

/// Decodes percent-encoding such as `%20`. Anything else stays as it is.
pub fn percent_decoded(text: &str) -> String {
    // In a form, these characters have a meaning that they do not have in a password.
    let text = text.replace('+', "%2B").replace('&', "%26").replace('=', "%3D");
    let first = url::form_urlencoded::parse(text.as_bytes()).next();
    first.map_or_else(String::new, |(name, _)| name.into_owned())
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
        hex::encode(part.as_bytes()),
        hex::encode(part.as_bytes()).to_uppercase(),
    ];
    all.extend(inside_base64(part).into_iter().map(|(_, text)| text));
    all.retain(|text| text.len() >= LEAST);
    all.sort_unstable();
    all.dedup();
    all
}

fn in_json(part: &str) -> String {
    let quoted = serde_json::to_string(part).unwrap_or_default();
    let inside = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    inside.unwrap_or_default().to_owned()
}

fn html(part: &str) -> String {
    part.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn percent(part: &str, upper: bool) -> String {
    let spelled = |byte: u8| match (byte.is_ascii_alphanumeric() || b"-._~".contains(&byte), upper) {
        (true, _) => char::from(byte).to_string(),
        (false, true) => format!("%{byte:02X}"),
        (false, false) => format!("%{byte:02x}"),
    };
    part.bytes().map(spelled).collect()
}

/// Returns the base64 forms of the part inside a longer encoded text, without the characters that depend on the
/// neighbours. There is one for each of the three alignments: after so many bytes of a group of three.
pub(super) fn inside_base64(part: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for after in 0..3usize {
        let mut bytes = vec![0; after];
        bytes.extend_from_slice(part.as_bytes());
        let known = before(after)..bytes.len() * 8 / 6;
        for encoded in [STANDARD_NO_PAD.encode(&bytes), URL_SAFE_NO_PAD.encode(&bytes)] {
            found.extend(encoded.get(known.clone()).map(|text| (after, text.to_owned())));
        }
    }
    found
}

/// Returns how many characters of a group of four depend on the bytes before.
pub(super) fn before(after: usize) -> usize {
    (after * 8).div_ceil(6)
}
