//! Finds texts that look like credentials: well-known token forms, private keys, and secrets that the service itself
//! holds. Says where and what kind, never the value.

use secrecy::ExposeSecret;
use secrecy::SecretString;
use sha2::Digest;
use sha2::Sha256;
use std::fmt;

/// What a found text looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretKind {
    /// A GitHub token.
    GitHubToken,
    /// The id of an AWS access key.
    AwsAccessKey,
    /// A Slack token.
    SlackToken,
    /// An Anthropic API key.
    AnthropicKey,
    /// An OpenAI API key.
    OpenAiKey,
    /// A private key in PEM form.
    PrivateKey,
    /// One of the service's own secrets.
    OwnSecret,
}

impl fmt::Display for SecretKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::GitHubToken => "a GitHub token",
            Self::AwsAccessKey => "an AWS access key",
            Self::SlackToken => "a Slack token",
            Self::AnthropicKey => "an Anthropic API key",
            Self::OpenAiKey => "an OpenAI API key",
            Self::PrivateKey => "a private key",
            Self::OwnSecret => "a secret of this service",
        })
    }
}

/// How tokens of one kind begin and go on.
struct Form {
    kind: SecretKind,
    prefix: &'static str,
    least: usize,
    body: fn(u8) -> bool,
}

const fn form(kind: SecretKind, prefix: &'static str, least: usize, body: fn(u8) -> bool) -> Form {
    Form {
        kind,
        prefix,
        least,
        body,
    }
}

/// Longer prefixes before shorter ones that they contain.
const FORMS: [Form; 13] = [
    form(SecretKind::GitHubToken, "github_pat_", 40, word),
    form(SecretKind::GitHubToken, "ghp_", 36, word),
    form(SecretKind::GitHubToken, "gho_", 36, word),
    form(SecretKind::GitHubToken, "ghu_", 36, word),
    form(SecretKind::GitHubToken, "ghs_", 36, word),
    form(SecretKind::GitHubToken, "ghr_", 36, word),
    form(SecretKind::AwsAccessKey, "AKIA", 16, upper),
    form(SecretKind::AwsAccessKey, "ASIA", 16, upper),
    form(SecretKind::SlackToken, "xoxb-", 20, dashed),
    form(SecretKind::SlackToken, "xoxp-", 20, dashed),
    form(SecretKind::SlackToken, "xapp-", 20, dashed),
    form(SecretKind::AnthropicKey, "sk-ant-", 32, dashed),
    form(SecretKind::OpenAiKey, "sk-", 40, dashed),
];

fn word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn upper(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit()
}

fn dashed(byte: u8) -> bool {
    word(byte) || byte == b'-'
}

/// One finding, with a digest instead of the value so that two can be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) kind: SecretKind,
    pub(crate) line: usize,
    digest: [u8; 32],
}

impl Found {
    fn new(kind: SecretKind, line: usize, value: &[u8]) -> Self {
        Self {
            kind,
            line,
            digest: Sha256::digest(value).into(),
        }
    }

    /// Whether the same text stood there before.
    pub(crate) fn is_among(&self, others: &[Self]) -> bool {
        others
            .iter()
            .any(|other| other.kind == self.kind && other.digest == self.digest)
    }
}

/// Everything in `content` that looks like a secret.
pub(crate) fn find(content: &[u8], own: &[SecretString]) -> Vec<Found> {
    let mut found = Vec::new();
    for (at, line) in content.split(|byte| *byte == b'\n').enumerate() {
        let number = at.saturating_add(1);
        found.extend(forms_in(line).map(|(kind, value)| Found::new(kind, number, value)));
        if is_private_key(line) {
            let body = content.split(|byte| *byte == b'\n').nth(number).unwrap_or_default();
            found.push(Found::new(SecretKind::PrivateKey, number, body));
        }
        let own = own
            .iter()
            .map(|secret| secret.expose_secret().as_bytes())
            .filter(|secret| secret.len() >= 8);
        let own = own.filter(|secret| line.windows(secret.len()).any(|window| window == *secret));
        found.extend(own.map(|secret| Found::new(SecretKind::OwnSecret, number, secret)));
    }
    found
}

fn is_private_key(line: &[u8]) -> bool {
    let has = |needle: &[u8]| line.windows(needle.len()).any(|window| window == needle);
    has(b"-----BEGIN ") && has(b"PRIVATE KEY-----")
}

/// The tokens in one line: a known prefix at the start of a word, and enough of the right characters after it.
fn forms_in(line: &[u8]) -> impl Iterator<Item = (SecretKind, &[u8])> {
    let starts = (0..line.len()).filter(|at| {
        at.checked_sub(1)
            .and_then(|before| line.get(before))
            .is_none_or(|byte| !word(*byte))
    });
    starts.filter_map(|at| {
        let rest = line.get(at..)?;
        let (form, body) = FORMS
            .iter()
            .find_map(|form| Some((form, rest.strip_prefix(form.prefix.as_bytes())?)))?;
        let length = body.iter().take_while(|byte| (form.body)(**byte)).count();
        let body = body.get(..length)?;
        (length >= form.least && looks_random(form.kind, body)).then_some((form.kind, body))
    })
}

/// Keeps names and documentation examples out.
fn looks_random(kind: SecretKind, body: &[u8]) -> bool {
    match kind {
        SecretKind::AwsAccessKey => !body.ends_with(b"EXAMPLE") && body.iter().any(u8::is_ascii_digit),
        SecretKind::OpenAiKey => body.iter().any(u8::is_ascii_digit) && body.iter().any(u8::is_ascii_uppercase),
        _ => body.iter().any(u8::is_ascii_digit) || body.iter().any(u8::is_ascii_uppercase),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_forms_are_found_with_their_line() {
        let random = "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5zA7b";
        let samples = [
            (format!("ghs_{random}"), SecretKind::GitHubToken),
            (format!("github_pat_{random}{random}"), SecretKind::GitHubToken),
            ("AKIA2E0A8F3B244C9986".to_owned(), SecretKind::AwsAccessKey),
            (format!("xoxb-{random}"), SecretKind::SlackToken),
            (format!("sk-ant-api03-{random}"), SecretKind::AnthropicKey),
            (format!("sk-proj-{random}"), SecretKind::OpenAiKey),
            (format!("-----BEGIN RSA {} KEY-----", "PRIVATE"), SecretKind::PrivateKey),
            ("the-own-secret".to_owned(), SecretKind::OwnSecret),
        ];
        let own = [SecretString::from("the-own-secret".to_owned())];
        for (text, kind) in samples {
            let found = find(format!("first\nlet x = \"{text}\";\n").as_bytes(), &own);
            let shown: Vec<_> = found.iter().map(|found| (found.kind, found.line)).collect();
            assert_eq!(shown, [(kind, 2)], "{text}");
        }
    }

    #[test]
    fn ordinary_text_is_no_secret() {
        let text = "ghp_short sk-learn-is-a-python-library-for-machine-learning-yes AKIAIOSFODNN7EXAMPLE my_ghp_ BEGIN PRIVATE KEY";
        assert_eq!(find(text.as_bytes(), &[]), Vec::new());
    }

    #[test]
    fn what_stood_there_before_is_known() {
        let token = "ghs_aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5zA7b";
        let old = find(token.as_bytes(), &[]);
        let new = find(format!("moved\n{token}\n").as_bytes(), &[]);
        assert!(new.iter().all(|found| found.is_among(&old)));
    }
}
