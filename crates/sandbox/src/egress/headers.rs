//! Decides which headers pass the door.

use http::{
    HeaderMap, HeaderName, HeaderValue,
    header::{ACCEPT, ACCEPT_ENCODING, CONNECTION, CONTENT_LENGTH, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_RANGE, RANGE},
};

/// Hop-by-hop headers, which are never passed on (RFC 9110, section 7.6.1), and those that hyper makes itself.
const BETWEEN_NEIGHBOURS: [&str; 12] = [
    "connection",
    "content-length",
    "expect",
    "host",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// The request headers that pass to OpenAI's API: those of every request, and those with which Codex names itself, its
/// session and its turn. Others could choose another account, host or feature at a gateway.
const TO_OPEN_AI: [&str; 17] = [
    "accept",
    "content-encoding",
    "content-type",
    "conversation_id",
    "originator",
    "session-id",
    "session_id",
    "thread-id",
    "user-agent",
    "version",
    "x-client-request-id",
    "x-codex-installation-id",
    "x-codex-parent-thread-id",
    "x-codex-turn-metadata",
    "x-codex-turn-state",
    "x-codex-window-id",
    "x-openai-subagent",
];

/// The response headers that pass: those that programs need, and none about the account.
const INTO_SANDBOX: [&str; 13] = [
    "cache-control",
    "content-encoding",
    "content-type",
    "date",
    "openai-model",
    "openai-processing-ms",
    "openai-version",
    "request-id",
    "retry-after",
    "retry-after-ms",
    "vary",
    "x-request-id",
    "x-should-retry",
];

/// The beginnings of further response headers that pass.
const INTO_SANDBOX_BELOW: [&str; 3] = ["anthropic-ratelimit-", "x-codex-", "x-ratelimit-"];

/// Returns the request's headers for the model's API, with the key. Of these, only those pass that the API's terms know.
pub(super) fn outward(from: &HeaderMap, name: &HeaderName, key: HeaderValue) -> HeaderMap {
    let named = named_by_connection(from);
    let passes = |header: &HeaderName| {
        let text = header.as_str();
        header != name && !BETWEEN_NEIGHBOURS.contains(&text) && !named.iter().any(|named| named == text)
    };
    let mut headers = picked(from, passes);
    headers.insert(name.clone(), key);
    headers
}

/// Removes unknown headers for OpenAI's API.
pub(super) fn keep_known_to_open_ai(headers: &mut HeaderMap, key: &HeaderName) {
    *headers = picked(headers, |name| name == key || TO_OPEN_AI.contains(&name.as_str()));
}

/// Returns the response's headers for the program.
pub(super) fn inward(from: &HeaderMap) -> HeaderMap {
    let named = named_by_connection(from);
    picked(from, |header| {
        let text = header.as_str();
        let is_known = INTO_SANDBOX.contains(&text) || INTO_SANDBOX_BELOW.iter().any(|begin| text.starts_with(begin));
        is_known && !named.iter().any(|named| named == text)
    })
}

/// The longest header of a request to a registry, in bytes. Package managers' own are shorter.
const MAX_READING: usize = 256;

/// Returns the headers of a request to a registry that ask for a form of the answer, or name what the program already
/// has.
pub(super) fn of_reading(from: &HeaderMap) -> HeaderMap {
    let known = [ACCEPT, ACCEPT_ENCODING, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_RANGE, RANGE];
    let passes = |name: &HeaderName| known.contains(name);
    let mut headers = HeaderMap::new();
    for (name, value) in from.iter().filter(|(name, value)| passes(name) && value.len() <= MAX_READING) {
        headers.insert(name.clone(), value.clone());
    }
    headers
}

/// Returns a registry's headers for the program, without those that concern the connection.
pub(super) fn onward(from: &HeaderMap) -> HeaderMap {
    let named = named_by_connection(from);
    picked(from, |header| {
        let text = header.as_str();
        let is_of_connection = BETWEEN_NEIGHBOURS.contains(&text) || named.iter().any(|named| named == text);
        header == CONTENT_LENGTH || !is_of_connection
    })
}

fn picked(from: &HeaderMap, passes: impl Fn(&HeaderName) -> bool) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in from.iter().filter(|(name, _)| passes(name)) {
        headers.append(name.clone(), value.clone());
    }
    headers
}

/// Returns the headers that `Connection` declares to be hop-by-hop.
fn named_by_connection(headers: &HeaderMap) -> Vec<String> {
    let values = headers.get_all(CONNECTION).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).map(|name| name.trim().to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::{inward, keep_known_to_open_ai, outward};
    use http::{HeaderMap, HeaderName, HeaderValue};

    fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
        let pair = |(name, value): &(&str, &str)| (name.parse::<HeaderName>().unwrap(), value.parse().unwrap());
        pairs.iter().map(pair).collect()
    }

    #[test]
    fn a_request_carries_the_key_and_nobody_elses() {
        let from = headers(&[
            ("x-api-key", "inside"),
            ("connection", "close, X-Odd"),
            ("x-odd", "1"),
            ("transfer-encoding", "chunked"),
            ("host", "127.0.0.1"),
            ("content-type", "application/json"),
            ("anthropic-beta", "one"),
            ("anthropic-beta", "two"),
        ]);
        let name = HeaderName::from_static("x-api-key");
        let sent = outward(&from, &name, HeaderValue::from_static("the key"));
        let expected = headers(&[
            ("content-type", "application/json"),
            ("anthropic-beta", "one"),
            ("anthropic-beta", "two"),
            ("x-api-key", "the key"),
        ]);
        let expected: HeaderMap = expected.into_iter().fold(HeaderMap::new(), |mut all, (name, value)| {
            if let Some(name) = name {
                all.append(name, value);
            }
            all
        });
        assert!(sent.get_all("x-api-key").iter().eq(["the key"]));
        assert!(sent.get_all("anthropic-beta").iter().eq(["one", "two"]));
        assert_eq!(sent.keys_len(), expected.keys_len(), "{sent:?}");
    }

    #[test]
    fn of_a_request_to_open_ai_passes_what_codex_sends() {
        let mut sent = headers(&[
            ("authorization", "Bearer the key"),
            ("x-api-key", "inside"),
            ("cookie", "a=b"),
            ("openai-organization", "other"),
            ("content-type", "application/json"),
            ("originator", "codex_exec"),
            ("session_id", "1"),
            ("x-codex-turn-state", "1"),
            ("openai-beta", "assistants=v2"),
            ("helicone-target-url", "https://other.example"),
            ("x-portkey-provider", "other"),
            ("x-codex-other", "1"),
        ]);
        keep_known_to_open_ai(&mut sent, &HeaderName::from_static("authorization"));
        let mut left: Vec<&str> = sent.keys().map(HeaderName::as_str).collect();
        left.sort_unstable();
        let expected = ["authorization", "content-type", "originator", "session_id", "x-codex-turn-state"];
        assert_eq!(left, expected);
    }

    #[test]
    fn an_answer_tells_nothing_of_the_account() {
        let from = headers(&[
            ("content-type", "text/event-stream"),
            ("retry-after", "3"),
            ("anthropic-ratelimit-tokens-remaining", "7"),
            ("set-cookie", "a=b"),
            ("anthropic-organization-id", "org"),
            ("location", "https://other.example"),
            ("x-api-key", "echoed"),
            ("server", "s"),
            ("alt-svc", "h3"),
            ("transfer-encoding", "chunked"),
            ("connection", "x-request-id"),
            ("x-request-id", "1"),
        ]);
        let mut passed: Vec<String> = inward(&from).keys().map(ToString::to_string).collect();
        passed.sort_unstable();
        assert_eq!(passed, ["anthropic-ratelimit-tokens-remaining", "content-type", "retry-after"]);
    }
}
