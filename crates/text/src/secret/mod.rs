//! Finds credentials. The same rules refuse commits and mask texts.
//!
//! They find tokens in the forms of known services and keys in PEM form, both also encoded and escaped. They find
//! passwords in addresses, values that are given to names like `api_key`, and every secret of this service in every
//! usual spelling. No result contains a secret's value.

mod assignment;
mod encoded;
mod forms;
mod own;
mod shapes;
mod spelling;
mod view;

pub use spelling::percent_decoded;

use crate::{
    hex,
    secret::own::{OwnSecrets, Passing},
};
use parking_lot::Mutex;
use secrecy::SecretString;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::{collections::BTreeSet, fmt, ops::Range, sync::Arc};

/// The text that replaces a credential.
pub const MASK: &str = "[masked]";

/// The service's own secrets, which are found in addition to everything that looks like a credential. Clones are cheap
/// and share the secrets that are added later.
#[derive(Clone, Default)]
pub struct Secrets(Arc<KnownSecrets>);

#[derive(Default)]
struct KnownSecrets {
    lasting: Option<OwnSecrets>,
    passing: Mutex<Passing>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SecretKind {
    /// A secret of this service.
    Own,
    PrivateKey,
    /// A token in the form of a known service. Holds its name, for example "a GitHub token".
    Token(&'static str),
    /// A password in an address.
    Login,
    /// The value after `Bearer` or `Basic` in a header.
    Header,
    /// A random value that is given to a name like `api_key`.
    Assigned,
}

impl SecretKind {
    /// `true` if the form alone identifies a credential, whatever is around it.
    fn is_unmistakable(self) -> bool {
        match self {
            Self::Own | Self::PrivateKey | Self::Token(_) => true,
            Self::Login | Self::Header | Self::Assigned => false,
        }
    }
}

impl fmt::Display for SecretKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Own => "a secret of this service",
            Self::PrivateKey => "a private key",
            Self::Token(name) => name,
            Self::Login => "a password in an address",
            Self::Header => "a credential of a request",
            Self::Assigned => "a value that looks like a password or key",
        })
    }
}

/// The range of a credential in a text.
#[derive(Clone, Debug)]
struct Span {
    kind: SecretKind,
    /// `true` if it has the form of one and is no example: a commit that adds it is refused. Anything else is masked in
    /// texts, but a commit may contain it.
    is_sure: bool,
    at: Range<usize>,
}

impl Span {
    fn sure(kind: SecretKind, at: Range<usize>) -> Self {
        Self { kind, is_sure: true, at }
    }
}

/// A credential that was found. It holds a digest of the value, so that two can be compared without it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundSecret {
    pub kind: SecretKind,
    /// The line, from 1.
    pub line: usize,
    digest: [u8; 32],
}

impl FoundSecret {
    /// `true` if the same value is among `others`, on any line.
    pub fn is_among(&self, others: &[Self]) -> bool {
        others.iter().any(|other| other.digest == self.digest)
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secrets")
    }
}

impl Secrets {
    /// Prepares to find these values in every spelling in which they could leak. Values that are so short or plain that
    /// they could be ordinary words are left out.
    pub fn new<'a>(values: impl IntoIterator<Item = &'a SecretString>) -> Self {
        Self(Arc::new(KnownSecrets { lasting: OwnSecrets::of(values), passing: Mutex::default() }))
    }

    /// Adds `value` as a secret until the time `until`, and forgets the secrets that ended by `now`. Times are milliseconds
    /// since the Unix epoch.
    pub fn learn(&self, value: &SecretString, until: i64, now: i64) {
        self.0.passing.lock().learn(value, until, now);
    }

    /// Returns `text` with every credential replaced by [`MASK`].
    pub fn mask(&self, text: &str) -> String {
        let mut spans = self.spans(text.as_bytes(), assignment::AssignmentPlace::Anywhere);
        spans.extend(self.find_disguised(text));
        if spans.is_empty() {
            return text.to_owned();
        }
        spans.sort_unstable_by_key(|span| (span.at.start, span.at.end));
        let mut masked: Vec<u8> = Vec::with_capacity(text.len());
        let mut done = 0;
        for span in spans {
            if span.at.start >= done {
                masked.extend_from_slice(text.as_bytes().get(done..span.at.start).unwrap_or_default());
                masked.extend_from_slice(MASK.as_bytes());
            }
            if span.at.end < done {
                continue;
            }
            // Characters directly after a credential may be the end of an overlapping one, so they are masked too.
            let glued = text.as_bytes().get(span.at.end..).unwrap_or_default();
            let glued = glued.iter().take_while(|byte| is_glue(**byte)).count();
            done = span.at.end + glued;
        }
        masked.extend_from_slice(text.as_bytes().get(done..).unwrap_or_default());
        String::from_utf8_lossy(&masked).into_owned()
    }

    /// Returns the value with every text in it masked, including the names of fields.
    pub fn mask_json(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.mask(&text)),
            Value::Array(items) => items.into_iter().map(|item| self.mask_json(item)).collect(),
            Value::Object(fields) => {
                let fields = fields.into_iter();
                fields.map(|(name, value)| (self.mask(&name), self.mask_json(value))).collect()
            }
            other @ (Value::Null | Value::Bool(_) | Value::Number(_)) => other,
        }
    }

    /// Returns the value with every text in it masked but those without which it would not be valid, such as the words of
    /// its form. After 200 tries the rest stays as it is.
    pub fn mask_valid(&self, mut value: Value, is_valid: impl Fn(&Value) -> bool) -> Value {
        let (mut parts, mut tries) = (vec![String::new()], 0);
        while let Some(at) = parts.pop() {
            let Some(part) = value.pointer(&at).cloned() else { continue };
            let masked = self.mask_json(part.clone());
            if masked == part {
                continue;
            }
            put(&mut value, &at, masked);
            tries += 1;
            if tries <= MOST_TRIES && is_valid(&value) {
                continue;
            }
            // One of the texts in it has to stay.
            match &part {
                Value::Array(items) => parts.extend((0..items.len()).map(|index| format!("{at}/{index}"))),
                Value::Object(fields) => parts.extend(fields.keys().map(|name| {
                    let name = name.replace('~', "~0").replace('/', "~1");
                    format!("{at}/{name}")
                })),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
            }
            put(&mut value, &at, part);
        }
        value
    }

    /// Returns the credentials in a file's content for which a commit is refused, in order; one for each place.
    pub fn find(&self, path: &str, content: &[u8]) -> Vec<FoundSecret> {
        let wide = view::read(content);
        let content = wide.as_deref().map_or(content, str::as_bytes);
        let mut spans = self.spans(content, assignment::AssignmentPlace::of(path, content));
        if let Ok(text) = std::str::from_utf8(content) {
            spans.extend(self.find_disguised(text).into_iter().filter(|span| span.kind.is_unmistakable()));
        }
        spans.retain(|span| span.is_sure);
        spans.sort_unstable_by_key(|span| (span.at.start, span.kind));
        let mut found: Vec<FoundSecret> = Vec::new();
        let (mut line, mut counted, mut done) = (1, 0, 0);
        for span in spans {
            if span.at.start < done {
                continue;
            }
            let between = content.get(counted..span.at.start).unwrap_or_default();
            line += between.iter().filter(|byte| **byte == b'\n').count();
            counted = span.at.start;
            done = span.at.end;
            let value = content.get(span.at).unwrap_or_default();
            found.push(FoundSecret { kind: span.kind, line, digest: Sha256::digest(value).into() });
        }
        found
    }

    fn spans(&self, text: &[u8], place: assignment::AssignmentPlace) -> Vec<Span> {
        let mut spans = Vec::new();
        let passing = self.0.passing.lock().finder();
        for own in self.0.lasting.iter().chain(passing.as_deref()) {
            spans.extend(own.find(text).map(|at| Span::sure(SecretKind::Own, at)));
        }
        forms::find(text, &mut spans);
        shapes::find(text, &mut spans);
        encoded::find(text, &mut spans);
        assignment::find(text, place, &mut spans);
        spans
    }

    /// Returns the credentials that appear once escapes are decoded and invisible characters are left out.
    fn find_disguised(&self, text: &str) -> Vec<Span> {
        let Some(view) = view::View::of(text) else {
            return Vec::new();
        };
        let spans = self.spans(&view.text, assignment::AssignmentPlace::Anywhere);
        let placed = |span: Span| view.source(&span.at).map(|at| Span { at, ..span });
        spans.into_iter().filter_map(placed).collect()
    }
}

/// Returns a secret in hexadecimal, and in base64 as it appears inside a longer encoded text.
pub fn encodings(secret: &str) -> Vec<String> {
    let hex = hex::encode(secret.as_bytes());
    let base64 = spelling::inside_base64(secret).into_iter().map(|(_, text)| text);
    let mut all: Vec<String> = base64.chain([hex.to_uppercase(), hex]).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// How often [`Secrets::mask_valid`] looks if a value is valid, which takes as long as the value is.
const MOST_TRIES: usize = 200;

fn put(value: &mut Value, at: &str, part: Value) {
    if let Some(place) = value.pointer_mut(at) {
        *place = part;
    }
}

/// Returns the Shannon entropy of the text, in bits per character.
fn entropy(text: &[u8]) -> f64 {
    let mut counts = [0u32; 256];
    for byte in text {
        if let Some(count) = counts.get_mut(usize::from(*byte)) {
            *count += 1;
        }
    }
    let total = f64::from(u32::try_from(text.len()).unwrap_or(u32::MAX));
    let shares = counts.iter().filter(|count| **count > 0).map(|count| f64::from(*count) / total);
    shares.map(|share| -share * share.log2()).sum()
}

/// Words which show that a value is only a placeholder.
const STAND_INS: &str = "example sample dummy placeholder redacted masked changeme change-me change_me your- your_ xxxx \
                         **** insert-";

/// `true` if a byte may belong to a token.
fn is_glue(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

/// `true` if a value is only a placeholder, as in documentation.
fn is_stand_in(value: &[u8]) -> bool {
    let different: BTreeSet<&u8> = value.iter().collect();
    names_stand_in(value) || different.len() < 4
}

/// `true` if a value contains a word such as `example`.
fn names_stand_in(value: &[u8]) -> bool {
    STAND_INS.split(' ').any(|word| has_word(value, word))
}

/// `true` if a value contains a word, ignoring case.
fn has_word(value: &[u8], word: &str) -> bool {
    value.windows(word.len()).any(|window| window.eq_ignore_ascii_case(word.as_bytes()))
}

/// `true` if a word may begin at `at`: at the start, after a character that is not part of a word, or after an escape
/// such as `\n` or `%20`.
fn begins(text: &[u8], at: usize) -> bool {
    let before = |back: usize| at.checked_sub(back).and_then(|at| text.get(at)).copied();
    let Some(last) = before(1) else { return true };
    let escaped = before(2) == Some(b'\\') && matches!(last, b'n' | b't' | b'r');
    let percent =
        before(3) == Some(b'%') && before(2).is_some_and(|byte| byte.is_ascii_hexdigit()) && last.is_ascii_hexdigit();
    escaped || percent || !(last.is_ascii_alphanumeric() || matches!(last, b'_' | b'+' | b'-'))
}

#[cfg(test)]
mod tests;
