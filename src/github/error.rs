//! The failures of a call, grouped by the caller's next step.

use super::http::{Intent, Reply};
use domain::ids::Millis;
use http::{HeaderMap, StatusCode};
use serde::Deserialize;
use serde_json::Value;
use uplink::Causes;

/// The underlying cause of a failure.
pub type Cause = Box<dyn std::error::Error + Send + Sync>;

/// The wait after a limit without a time, as GitHub recommends; in milliseconds.
const LIMITED_MS: i64 = 60_000;

/// The longest wait that is believed, in milliseconds. GitHub's windows last one hour.
const LONGEST_LIMIT_MS: i64 = 2 * 3_600_000;

/// The longest text from GitHub that an error repeats, in characters.
const MAX_TEXT: usize = 1_000;

#[derive(Debug, thiserror::Error)]
pub enum GithubError {
    /// GitHub could not be reached or had an internal error; nothing was done. Try again.
    #[error("GitHub could not be asked: {}", Causes(&**source))]
    Transient {
        source: Cause,
        /// The time until which GitHub asks to wait.
        retry_after: Option<Millis>,
    },
    /// The reply to a write was lost, so it may have been done. Look for its result before another try.
    #[error("GitHub may or may not have obeyed: {}", Causes(&**source))]
    Uncertain {
        source: Cause,
        /// The time until which GitHub asks to wait.
        retry_after: Option<Millis>,
    },
    /// There were too many requests; nothing was done.
    #[error("GitHub limits us until {} (ms)", until.0)]
    RateLimited { until: Millis },
    /// GitHub does not accept the App's key or a new token.
    #[error("GitHub does not accept our credentials")]
    Unauthorized,
    /// The App lacks a permission, or the repository is read-only.
    #[error("GitHub forbids it: {what}")]
    Forbidden {
        /// GitHub's message, and the required permission if GitHub names it.
        what: String,
    },
    /// The installation is suspended. It may work again later.
    #[error("the installation is suspended")]
    Suspended,
    /// The App is no longer installed there, or the installation no longer covers the repository.
    #[error("the App is not installed there")]
    Uninstalled,
    /// The object existed and was deleted.
    #[error("it is gone")]
    Gone,
    /// The object does not exist, or we cannot see it.
    #[error("there is no such thing")]
    NotFound,
    /// GitHub understood the request and refused it.
    #[error("GitHub refused ({status}): {text}")]
    Refused {
        status: u16,
        /// GitHub's message.
        text: String,
    },
    /// The answer cannot be parsed.
    #[error("GitHub's answer cannot be read: {source}")]
    Malformed { source: Cause },
}

impl GithubError {
    /// Returns `true` if GitHub would give the same answer again now.
    pub fn is_final(&self) -> bool {
        match self {
            Self::Forbidden { .. }
            | Self::Suspended
            | Self::Uninstalled
            | Self::Gone
            | Self::NotFound
            | Self::Refused { .. } => true,
            Self::Transient { .. }
            | Self::Uncertain { .. }
            | Self::RateLimited { .. }
            | Self::Unauthorized
            | Self::Malformed { .. } => false,
        }
    }

    /// `true` if GitHub was not reached because the authority of a certificate is not trusted here.
    pub fn is_unknown_authority(&self) -> bool {
        let (Self::Transient { source, .. } | Self::Uncertain { source, .. }) = self else {
            return false;
        };
        Causes(&**source).is_unknown_authority()
    }

    /// Returns the reason for people, in GitHub's own words if it gave any.
    pub fn reason(&self) -> String {
        if let Self::Refused { text, .. } | Self::Forbidden { what: text } = self
            && !text.is_empty()
        {
            return text.clone();
        }
        if matches!(self, Self::NotFound) { "Not Found".to_owned() } else { self.to_string() }
    }

    /// Returns `true` if GitHub refused with a message that contains these words.
    pub(super) fn mentions(&self, words: &str) -> bool {
        let (Self::Refused { text, .. } | Self::Forbidden { what: text }) = self else {
            return false;
        };
        contains(text, words)
    }
}

/// The cause of an error in GitHub's servers.
#[derive(Debug, thiserror::Error)]
#[error("status {status}: {text}")]
struct ServerError {
    status: u16,
    text: String,
}

/// `true` if the message contains the words in any letter case, since GitHub has changed the case before.
pub(super) fn contains(text: &str, words: &str) -> bool {
    text.to_ascii_lowercase().contains(&words.to_ascii_lowercase())
}

pub(super) fn refusal(reply: &Reply, intent: Intent, now: Millis) -> GithubError {
    let text = words(&reply.body);
    let status = reply.status.as_u16();
    match reply.status {
        StatusCode::UNAUTHORIZED => GithubError::Unauthorized,
        StatusCode::TOO_MANY_REQUESTS => limited(&reply.headers, now),
        StatusCode::FORBIDDEN if is_limit(&reply.headers, &text) => limited(&reply.headers, now),
        StatusCode::FORBIDDEN if contains(&text, "installation has been suspended") => GithubError::Suspended,
        StatusCode::FORBIDDEN => GithubError::Forbidden { what: with_asked_permission(text, &reply.headers) },
        StatusCode::NOT_FOUND => GithubError::NotFound,
        StatusCode::GONE => GithubError::Gone,
        code if code.is_server_error() => server_error(reply, ServerError { status, text }, intent, now),
        _ => GithubError::Refused { status, text },
    }
}

fn server_error(reply: &Reply, source: ServerError, intent: Intent, now: Millis) -> GithubError {
    let (source, retry_after) = (source.into(), retry_after(&reply.headers, now));
    match intent {
        Intent::Write => GithubError::Uncertain { source, retry_after },
        Intent::Read => GithubError::Transient { source, retry_after },
    }
}

/// `true` for a rate limit. It is a 403 or a 429; a 403 is recognized by its headers, or without them by its text.
fn is_limit(headers: &HeaderMap, text: &str) -> bool {
    headers.contains_key("retry-after")
        || number(headers, "x-ratelimit-remaining") == Some(0)
        || contains(text, "secondary rate limit")
        || contains(text, "temporarily blocked from content creation")
        || contains(text, "abuse detection")
}

/// Returns the rate-limit error. The time is `retry-after`, or else the reset of a used-up window, or else in one
/// minute.
pub(super) fn limited(headers: &HeaderMap, now: Millis) -> GithubError {
    let reset = match number(headers, "x-ratelimit-remaining") {
        Some(0) => number(headers, "x-ratelimit-reset").map(|seconds| Millis(seconds.saturating_mul(1000))),
        Some(_) | None => None,
    };
    let until = retry_after(headers, now).or(reset).unwrap_or(now.plus(LIMITED_MS));
    GithubError::RateLimited { until: until.clamp(now.plus(1000), now.plus(LONGEST_LIMIT_MS)) }
}

fn retry_after(headers: &HeaderMap, now: Millis) -> Option<Millis> {
    let seconds = number(headers, "retry-after")?.max(0);
    Some(now.plus(seconds.saturating_mul(1000).min(LONGEST_LIMIT_MS)))
}

fn number(headers: &HeaderMap, name: &str) -> Option<i64> {
    headers.get(name)?.to_str().ok()?.trim().parse().ok()
}

fn with_asked_permission(text: String, headers: &HeaderMap) -> String {
    match headers.get("x-accepted-github-permissions").map(|value| value.to_str()) {
        Some(Ok(asked)) if !asked.is_empty() => format!("{text} (asks for {})", clip(asked)),
        Some(_) | None => text,
    }
}

/// Returns GitHub's message with its details, which are texts in some answers and objects in others.
#[expect(clippy::wildcard_enum_match_arm, reason = "the enum is not ours: it has many variants, and more will come")]
pub(super) fn words(body: &[u8]) -> String {
    #[derive(Deserialize)]
    struct ErrorWire {
        message: Option<String>,
        #[serde(default)]
        errors: Value,
    }
    let Ok(wire) = text::json::read::<ErrorWire>(body) else {
        return clip(&String::from_utf8_lossy(body));
    };
    let details = match wire.errors {
        Value::Array(details) => details,
        Value::Null => Vec::new(),
        other => vec![other],
    };
    let mut text = wire.message.unwrap_or_default();
    for detail in details.iter().take(20) {
        text.push_str(if text.is_empty() { "" } else { "; " });
        text.push_str(&detail_words(detail));
    }
    clip(&text)
}

fn detail_words(detail: &Value) -> String {
    let field = |name| detail.get(name).and_then(Value::as_str);
    match (detail, field("message")) {
        (Value::String(text), _) => text.clone(),
        (_, Some(message)) => message.to_owned(),
        _ => match (field("resource"), field("field"), field("code")) {
            (Some(resource), Some(name), Some(code)) => format!("{resource}.{name}: {code}"),
            _ => detail.to_string(),
        },
    }
}

pub(super) fn clip(text: &str) -> String {
    text.trim().chars().filter(|c| !c.is_control()).take(MAX_TEXT).collect()
}
