//! Credentials that have a shape instead of a fixed beginning: keys in PEM form, signed tokens, passwords in addresses,
//! headers.

use crate::secret::{MASK, SecretKind, Span, begins, entropy, is_stand_in};
use aho_corasick::AhoCorasick;
use base64::{Engine, engine::general_purpose::STANDARD};
use std::sync::LazyLock;

const PEM: &str = "-----BEGIN ";
const PUTTY: &str = "PuTTY-User-Key-File-";
const MARKS: [&str; 7] = [PEM, PUTTY, "eyJ", "://", "Bearer ", "bearer ", "Basic "];

static FINDER: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| AhoCorasick::new(MARKS).ok());

/// The most bytes of a key that are read, and of an address.
const MAX_KEY: usize = 16 * 1024;
const MAX_ADDRESS: usize = 300;

/// The beginning of the payload of the example token that documentation shows everywhere.
const EXAMPLE_PAYLOAD: &[u8] = b"eyJzdWIiOiIxMjM0NTY3ODkwIi";

/// Finds the credentials that have one of the shapes.
pub(super) fn find(text: &[u8], spans: &mut Vec<Span>) {
    let Some(finder) = &*FINDER else { return };
    let mut done = 0;
    for found in finder.find_iter(text) {
        if found.start() < done {
            continue;
        }
        let rest = text.get(found.end()..).unwrap_or_default();
        // Its range counts from the end of the mark.
        let span = match MARKS.get(found.pattern().as_usize()) {
            Some(&PEM) => private_key(rest),
            Some(&PUTTY) => putty(rest),
            Some(&"eyJ") if begins(text, found.start()) => signed_token(rest),
            Some(&"://") => login(rest),
            Some(&("Bearer " | "bearer ")) => bearer(rest),
            Some(&"Basic ") => basic(rest),
            _ => None,
        };
        let Some(Span { kind, is_sure, at }) = span else { continue };
        let start = match kind {
            SecretKind::PrivateKey | SecretKind::Token(_) => found.start(),
            SecretKind::Own | SecretKind::Login | SecretKind::Header | SecretKind::Assigned => found.end() + at.start,
        };
        done = found.end() + at.end;
        spans.push(Span { kind, is_sure, at: start..done });
    }
}

fn position(text: &[u8], needle: &[u8]) -> Option<usize> {
    text.windows(needle.len()).position(|window| window == needle)
}

/// Returns the text before the next mark. No key contains another one, so no byte is examined for two keys.
fn before_next<'a>(rest: &'a [u8], mark: &str) -> &'a [u8] {
    let next = position(rest, mark.as_bytes());
    next.and_then(|next| rest.get(..next)).unwrap_or(rest)
}

/// Finds a key up to its last line or, if it was cut off, up to the last line that looks like part of one. A first line
/// alone is not a key: programs that read keys contain it too.
fn private_key(rest: &[u8]) -> Option<Span> {
    let rest = before_next(rest.get(..MAX_KEY).unwrap_or(rest), PEM);
    let title = position(rest.get(..60).unwrap_or(rest), b"-----")?;
    let named = rest.get(..title)?;
    if !(named.ends_with(b"PRIVATE KEY") || named.ends_with(b"PRIVATE KEY BLOCK")) {
        return None;
    }
    let start = title + 5;
    let body = rest.get(start..)?;
    let last = position(body, b"-----END ").filter(|at| body.iter().take(*at).all(|byte| is_in_key(*byte)));
    let (inside, whole) = match last {
        Some(at) => {
            let close = position(body.get(at + 9..)?, b"-----").map_or(body.len(), |close| at + 9 + close + 5);
            (at, close)
        }
        None => {
            let length = key_lines(body);
            (length, length)
        }
    };
    let inside = body.get(..inside)?;
    let digits = inside.iter().filter(|byte| byte.is_ascii_alphanumeric()).count();
    let least = if last.is_some() { 12 } else { 40 };
    let example = digits < 400 && is_stand_in(inside);
    Some(Span { kind: SecretKind::PrivateKey, is_sure: digits >= least && !example, at: 0..start + whole })
}

/// `true` if a byte may occur before the last line of a key.
pub(super) fn is_in_key(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/=:,- \t\r\n\\\"'|>".contains(&byte)
}

/// Returns the length of the lines that may belong to a key. The first one is the rest of the title's line.
fn key_lines(body: &[u8]) -> usize {
    let in_key = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=:,- \r\\\"'".contains(byte);
    let mut length = 0;
    for line in body.split_inclusive(|byte| *byte == b'\n') {
        let bare = line.strip_suffix(b"\n").unwrap_or(line);
        if !bare.iter().all(in_key) {
            break;
        }
        length += line.len();
    }
    // The line break before the next text does not belong to the key.
    match body.get(..length) {
        Some(key) if length < body.len() && key.ends_with(b"\n") => length - 1,
        _ => length,
    }
}

fn putty(rest: &[u8]) -> Option<Span> {
    let rest = before_next(rest.get(..MAX_KEY).unwrap_or(rest), PUTTY);
    let at = position(rest, b"Private-Lines:")?;
    let end = position(rest, b"Private-MAC:").unwrap_or(rest.len());
    Some(Span::sure(SecretKind::PrivateKey, 0..end.max(at)))
}

/// Finds three base64 parts with dots between them. The mark is the start of the first one, a JSON object.
fn signed_token(rest: &[u8]) -> Option<Span> {
    let in_token = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let length = |rest: &[u8]| rest.iter().take_while(|byte| in_token(byte)).count();
    let part = |from: usize| rest.get(from..).map(length);
    let header = part(0).filter(|length| *length >= 10)?;
    let payload_at = header + 1;
    let payload = part(payload_at).filter(|length| *length >= 10 && rest.get(header) == Some(&b'.'))?;
    let signature_at = payload_at + payload + 1;
    let dot = rest.get(payload_at + payload) == Some(&b'.');
    let signature = part(signature_at).filter(|length| *length >= 20 && dot)?;
    let body = rest.get(payload_at..payload_at + payload)?;
    let is_sure = !body.starts_with(EXAMPLE_PAYLOAD);
    Some(Span { kind: SecretKind::Token("a signed token"), is_sure, at: 0..signature_at + signature })
}

/// Finds the password in `scheme://name:password@host`.
fn login(rest: &[u8]) -> Option<Span> {
    let rest = rest.get(..MAX_ADDRESS).unwrap_or(rest);
    let ends = |byte: &u8| byte.is_ascii_whitespace() || byte.is_ascii_control() || b"/\"'`<>\\)".contains(byte);
    let authority = rest.split(ends).next()?;
    let at = authority.iter().rposition(|byte| *byte == b'@')?;
    let colon = authority.get(..at)?.iter().position(|byte| *byte == b':')?;
    let (password, host) = (authority.get(colon + 1..at)?, authority.get(at + 1..)?);
    if password.is_empty() || password == MASK.as_bytes() {
        return None;
    }
    let local = [&b"localhost"[..], b"127.", b"[::1]", b"example."];
    let named = local.iter().any(|name| host.starts_with(name)) || position(host, b".example").is_some();
    let any = |is: fn(&u8) -> bool| password.iter().any(is);
    let random = password.len() >= 10 && any(u8::is_ascii_digit) && any(u8::is_ascii_alphabetic);
    let meant = !named && !is_variable(password) && !is_stand_in(password);
    let is_sure = random && meant && entropy(password) >= 3.0;
    Some(Span { kind: SecretKind::Login, is_sure, at: colon + 1..at })
}

/// `true` if a value is filled in later: `$PASSWORD`, `${…}`, `{{…}}`, `%s`, `<…>`.
pub(super) fn is_variable(value: &[u8]) -> bool {
    value.starts_with(b"$") || value.iter().any(|byte| b"{}<>%(".contains(byte))
}

fn bearer(rest: &[u8]) -> Option<Span> {
    let in_token = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(byte);
    let length = rest.iter().take_while(|byte| in_token(byte)).count();
    let value = rest.get(..length)?;
    let any = |is: fn(&u8) -> bool| value.iter().any(is);
    let random = length >= 20 && any(u8::is_ascii_digit) && any(u8::is_ascii_alphabetic);
    if !random || is_stand_in(value) {
        return None;
    }
    Some(Span { kind: SecretKind::Header, is_sure: entropy(value) >= 3.5, at: 0..length })
}

fn basic(rest: &[u8]) -> Option<Span> {
    let in_value = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=".contains(byte);
    let length = rest.iter().take_while(|byte| in_value(byte)).count();
    let value = rest.get(..length).filter(|_| (12..=4096).contains(&length))?;
    let decoded = STANDARD.decode(value).ok()?;
    let colon = decoded.iter().position(|byte| *byte == b':')?;
    let password = decoded.get(colon + 1..)?;
    if decoded.iter().any(u8::is_ascii_control) || password.is_empty() {
        return None;
    }
    let is_sure = password.len() >= 12 && !is_stand_in(password) && entropy(password) >= 3.0;
    Some(Span { kind: SecretKind::Header, is_sure, at: 0..length })
}
