//! The outcome of a run. The program reports no HTTP status of its model's API, so failures are recognized by their
//! messages.

use crate::agents::{
    answer,
    answer::AgentAnswer,
    codex::stream::CodexStream,
    journal::{Journal, plain},
    outcome,
    outcome::{ReportedUsage, Unfinished},
    run::{RunError, RunSpec, UncheckedRun},
    schema,
    session::SessionEnd,
};
use domain::blocked::Failure;
use sandbox::egress::SPENT;

const MAX_MESSAGE: usize = 500;

/// Turns the program's output and end into an answer or a failure.
pub(crate) fn conclude(
    spec: &RunSpec,
    stream: CodexStream,
    journal: Journal,
    ended: &SessionEnd,
) -> Result<UncheckedRun, RunError> {
    let is_complete = stream.completed || stream.failed.is_some();
    let outcome = outcome::forced_end(spec, ended, is_complete)
        .map_or_else(|| outcome(spec, &stream, ended).map_err(Unfinished::from), Err);
    let reported = ReportedUsage {
        tokens: stream.tokens,
        usd_micros: None,
        estimated: false,
        model: spec.model.clone(),
        last_words: stream.last_message,
    };
    outcome::unchecked_run(outcome, reported, journal, ended)
}

fn outcome(spec: &RunSpec, stream: &CodexStream, ended: &SessionEnd) -> Result<AgentAnswer, Failure> {
    if let Some(message) = &stream.failed {
        return Err(failure_from_message(spec, message));
    }
    if !stream.completed {
        return Err(outcome::no_output(&spec.secrets, &ended.finished));
    }
    let text = stream.last_message.as_deref().unwrap_or_default();
    Ok(answer::last_object(text, &spec.schema).map(schema::without_nulls))
}

/// Returns the failure of a model's API that a message describes.
pub(crate) fn failure_from_message(spec: &RunSpec, message: &str) -> Failure {
    failure(spec.model.as_deref(), message, plain(&spec.secrets, message, MAX_MESSAGE))
}

const TOO_LONG: [&str; 6] = [
    "request too large",
    "request_too_large",
    "context window",
    "context_length_exceeded",
    "prompt is too long",
    "too many tokens",
];
const UNAUTHORISED: [&str; 9] = [
    "401 unauthorized",
    "403 forbidden",
    "402 payment",
    "not logged in",
    "invalid api key",
    "authentication",
    "insufficient_quota",
    "credit balance",
    "billing",
];
const LIMITED: [&str; 4] = ["429", "rate limit", "rate_limit", "usage limit"];
const UNKNOWN: [&str; 5] = ["404 not found", "does not exist", "not supported", "not found", "may not exist"];
const UNAVAILABLE: [&str; 13] = [
    "high demand",
    "status 5",
    "529",
    "overloaded",
    "internal server error",
    "server_error",
    "stream disconnected",
    "connection",
    "unable to connect",
    "econnreset",
    "network error",
    "timed out",
    "error sending request",
];
const REFUSED: [&str; 3] = ["refus", "content policy", "safety"];
const OUTPUT_LIMIT: [&str; 2] = ["max_output_tokens", "output token maximum"];

const BAD_REQUEST: [&str; 3] = ["invalid_request", "api error: 400", "400 bad request"];

/// Returns the failure that an API's message describes, since there is no status.
fn failure(model: Option<&str>, text: &str, message: String) -> Failure {
    // The address of the run's door contains digits that could look like a status.
    let words = text.split_whitespace().filter(|word| !word.contains("://"));
    let words = words.collect::<Vec<&str>>().join(" ").to_lowercase();
    let has = |any: &[&str]| any.iter().any(|word| holds(&words, word));
    if text.contains(SPENT) {
        Failure::OutOfMoney
    } else if has(&TOO_LONG) {
        Failure::PromptTooLong
    } else if has(&UNAUTHORISED) {
        Failure::NotAuthorised { message }
    } else if has(&LIMITED) {
        Failure::RateLimited { message, retry_after_seconds: retry_after(&words) }
    } else if words.contains("model") && has(&UNKNOWN) {
        let model = model.unwrap_or_default().to_owned();
        Failure::NoSuchModel { model, message }
    } else if has(&UNAVAILABLE) {
        Failure::Unavailable { message, retry_after_seconds: retry_after(&words) }
    } else if has(&REFUSED) {
        Failure::ModelRefused { message }
    } else if has(&OUTPUT_LIMIT) {
        Failure::OutputLimit
    } else if has(&BAD_REQUEST) {
        Failure::RequestRefused { status: 400, message }
    } else {
        Failure::AgentFailed { message }
    }
}

/// `true` if `words` contain the sign. A status must not be part of a longer word, such as the id of a request.
fn holds(words: &str, word: &str) -> bool {
    let is_status = word.bytes().all(|byte| byte.is_ascii_digit());
    words.match_indices(word).any(|(at, _)| {
        let before = words.get(..at).and_then(|before| before.chars().next_back());
        let after = words.get(at + word.len()..).and_then(|after| after.chars().next());
        !is_status || ![before, after].into_iter().flatten().any(char::is_alphanumeric)
    })
}

/// Returns `true` if the credentials or the account are refused, so that trying again is useless.
pub(crate) fn is_unauthorised(message: &str) -> bool {
    message.contains("401 Unauthorized") || message.contains("403 Forbidden")
}

/// Returns the seconds in "try again in 20s" or "retry after 20 seconds".
fn retry_after(words: &str) -> Option<u64> {
    let (_, after) = words.split_once("try again in ").or_else(|| words.split_once("retry after "))?;
    let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
    let number: u64 = digits.parse().ok()?;
    let unit = after.get(digits.len()..)?.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    match unit.trim_start() {
        unit if unit.starts_with("ms") => Some(1),
        unit if unit.starts_with('s') => Some(number.saturating_add(1)),
        unit if unit.starts_with('m') => number.checked_mul(60),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::failure;
    use domain::blocked::Failure;

    /// These are messages that the program has really printed.
    #[test]
    #[allow(clippy::too_many_lines, reason = "one table")]
    #[expect(clippy::wildcard_enum_match_arm, reason = "a test names what it is about")]
    fn failures_are_told_apart_by_words() {
        let kind = |message: &str| match failure(Some("nope"), message, String::new()) {
            Failure::NotAuthorised { .. } => "not authorised",
            Failure::RateLimited { retry_after_seconds, .. } => match retry_after_seconds {
                Some(12) => "limited for 12 s",
                Some(120) => "limited for 120 s",
                Some(_) => "limited for some time",
                None => "limited",
            },
            Failure::Unavailable { .. } => "unavailable",
            Failure::NoSuchModel { .. } => "no such model",
            Failure::PromptTooLong => "too long",
            Failure::OutOfMoney => "out of money",
            Failure::RequestRefused { .. } => "request refused",
            Failure::AgentFailed { .. } => "failed",
            other => panic!("{other:?}"),
        };
        let table = [
            ("exceeded retry limit, last status: 429 Too Many Requests", "limited"),
            ("Rate limit reached for gpt-x. Please try again in 11.5s.", "limited for 12 s"),
            ("You've hit your usage limit. Try again in 2 minutes.", "limited for 120 s"),
            ("unexpected status 401 Unauthorized: bad key, url: http://127.0.0.1:1/v1/responses", "not authorised"),
            ("unexpected status 403 Forbidden: no, url: http://127.0.0.1:1/v1/responses", "not authorised"),
            ("unexpected status 404 Not Found: The model `nope` does not exist, url: x", "no such model"),
            (r#"{"type": "error", "error": {"message": "The 'nope' model is not supported"}}"#, "no such model"),
            (
                r#"{"error": {"type": "context_length_exceeded", "message": "Your input exceeds the context window of this model."}}"#,
                "too long",
            ),
            ("unexpected status 529 <unknown status code>: fake fault 529, url: x", "unavailable"),
            ("We’re currently experiencing high demand, which may cause temporary errors.", "unavailable"),
            (
                "stream disconnected before completion: Transport error: network error: error decoding response body",
                "unavailable",
            ),
            (
                r#"Internal error: Request too large (max 32MB). Try with a smaller file. {"errorKind":"invalid_request"}"#,
                "too long",
            ),
            (r#"Internal error: API Error: 400 messages.0: this is odd {"errorKind":"unknown"}"#, "request refused"),
            (
                "Internal error: API Error: 400 AutoBuild: the calls of models in this run have cost as much as they may",
                "out of money",
            ),
            (
                "unexpected status 404 Not Found: The model `nope` does not exist, url: http://127.0.0.1:4290/5f529a/v1/responses",
                "no such model",
            ),
            ("something else (request req_0429a, http://127.0.0.1:429/529)", "failed"),
            ("something else", "failed"),
        ];
        for (message, expected) in table {
            assert_eq!(kind(message), expected, "{message}");
        }
    }
}
