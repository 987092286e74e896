//! The part of Anthropic's Messages API that passes: the calls of Claude Code 2.1, and the fields for sampling.
//! Additions of later versions do not pass before somebody has checked their costs and their reach.

use http::{
    HeaderMap, HeaderName, HeaderValue,
    header::{ACCEPT, CONTENT_TYPE, USER_AGENT},
};

const BETAS: &str = "anthropic-beta";

/// The headers that pass. Another one may choose another account or host at a gateway.
const HEADERS: [HeaderName; 5] =
    [ACCEPT, CONTENT_TYPE, USER_AGENT, HeaderName::from_static("anthropic-version"), HeaderName::from_static("x-app")];

/// The members that a request may have.
pub(super) const MEMBERS: [&str; 17] = [
    "model",
    "messages",
    "system",
    "tools",
    "tool_choice",
    "metadata",
    "max_tokens",
    "thinking",
    "context_management",
    "output_config",
    "cache_control",
    "stream",
    "stop_sequences",
    "temperature",
    "top_k",
    "top_p",
    "service_tier",
];

/// The beginning of the types of edits of the context that pass. Another one lets the model write a summary, which is not in
/// the usage of the answer.
pub(super) const CLEARS: &str = "clear_";

/// Features in beta, without their dates.
const KNOWN_BETAS: [&str; 15] = [
    "claude-code",
    "context-1m",
    "context-management",
    "effort",
    "extended-cache-ttl",
    "fine-grained-tool-streaming",
    "interleaved-thinking",
    "mid-conversation-system",
    // A log-in's token needs it.
    "oauth",
    "prompt-caching",
    "prompt-caching-scope",
    "structured-outputs",
    "adaptive-thinking",
    "thinking-token-count",
    "token-counting",
];

/// The family of the small model that the program uses beside the run's, for titles and the like.
const SMALL: &str = "haiku";

/// `true` if the form of the request is known: its query chooses nothing, and its body is JSON.
pub(super) fn is_known_form(query: Option<&str>, headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes);
    let is_json = kind.is_none_or(|kind| kind == b"application/json" || kind.starts_with(b"application/json;"));
    let mut members = query.unwrap_or_default().split('&');
    members.all(is_harmless) && is_json
}

/// `true` for a member of a query that asks for a version of the API, or for a part of a list.
fn is_harmless(member: &str) -> bool {
    let is_plain = |value: &str| value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
    match member.split_once('=') {
        Some(("beta", value)) => value == "true",
        Some(("limit" | "after_id" | "before_id", value)) => is_plain(value),
        Some(_) => false,
        None => member.is_empty(),
    }
}

/// Removes unknown headers and unknown betas. The request has to do without them.
pub(super) fn keep_known(headers: &mut HeaderMap, key: &HeaderName) {
    let known: Vec<String> = headers
        .get_all(BETAS)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(str::trim)
        .filter(|beta| is_known(beta))
        .map(str::to_owned)
        .collect();
    let kept = headers.iter().filter(|(name, _)| HEADERS.contains(name) || *name == key);
    *headers = kept.map(|(name, value)| (name.clone(), value.clone())).collect();
    if let Some(value) = HeaderValue::from_str(&known.join(",")).ok().filter(|value| !value.is_empty()) {
        headers.insert(BETAS, value);
    }
}

/// `true` for the name of a known beta with a date behind it, such as `effort-2025-11-24` or `claude-code-20250219`.
fn is_known(beta: &str) -> bool {
    let is_date = |text: &str| text.len() >= 8 && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    let mut names = KNOWN_BETAS.iter();
    names.any(|name| {
        let rest = beta.strip_prefix(name).and_then(|rest| rest.strip_prefix('-'));
        rest.is_some_and(is_date)
    })
}

/// `true` if a run of this model may ask for `model`: its own or a small one.
pub(super) fn is_of_run(model: &str, of_run: &str) -> bool {
    is_small(model) || plain(of_run) == plain(model)
}

/// `true` if a model's name says that it is of the small family.
pub(super) fn is_small(model: &str) -> bool {
    model == SMALL || model.starts_with("claude-") && model.split('-').any(|part| part == SMALL)
}

/// Returns the model that binds the requests of a run, if its name is whole. Only the program knows the meaning of a
/// word such as `opus` or `default`. Its first request shows it, before a model can run any command.
pub fn whole_name(model: Option<&String>) -> Option<String> {
    let is_word = |model: &&String| plain(model).bytes().all(|byte| byte.is_ascii_alphabetic());
    model.filter(|model| !is_word(model)).cloned()
}

/// Returns the model's name without the size of its window, such as `[1m]`.
fn plain(model: &str) -> &str {
    model.split('[').next().unwrap_or(model)
}

#[cfg(test)]
mod tests {
    use super::{is_known_form, is_of_run, keep_known, whole_name};
    use http::{HeaderMap, HeaderName};

    #[test]
    fn betas_pass_that_are_known_whatever_their_date() {
        for (sent, passed) in [
            (
                &["claude-code-20250219,context-1m-2025-08-07, effort-2025-11-24"][..],
                Some("claude-code-20250219,context-1m-2025-08-07,effort-2025-11-24"),
            ),
            (
                &["fast-mode-2026-02-01,effort-2027-01-01", "prompt-caching-scope-2026-01-05"],
                Some("effort-2027-01-01,prompt-caching-scope-2026-01-05"),
            ),
            (&["code-execution-2025-08-25,mcp-client-2025-11-20,effort-high", "effort"], None),
        ] {
            let mut headers: HeaderMap = HeaderMap::new();
            for value in sent {
                headers.append("anthropic-beta", value.parse().unwrap());
            }
            keep_known(&mut headers, &HeaderName::from_static("x-api-key"));
            let left = headers.get("anthropic-beta").map(|value| value.to_str().unwrap());
            assert_eq!(left, passed, "{sent:?}");
        }
    }

    #[test]
    fn headers_that_choose_another_account_or_host_do_not_pass() {
        let mut headers: HeaderMap = HeaderMap::new();
        for name in ["content-type", "anthropic-version", "x-api-key", "helicone-target-url", "cookie", "authorization"]
        {
            headers.append(name, "value".parse().unwrap());
        }
        keep_known(&mut headers, &HeaderName::from_static("x-api-key"));
        let left: Vec<&str> = headers.keys().map(HeaderName::as_str).collect();
        assert_eq!(left, ["content-type", "anthropic-version", "x-api-key"]);
    }

    #[test]
    fn a_request_is_json_and_its_query_chooses_nothing() {
        for (query, kind, expected) in [
            (None, "application/json", true),
            (Some("beta=true"), "application/json; charset=utf-8", true),
            (Some("beta=true&model=x"), "application/json", false),
            (Some("limit=1000&after_id=claude-opus-4-8"), "application/json", true),
            (Some("limit=1;x=y"), "application/json", false),
            (Some("before_id=%2e%2e"), "application/json", false),
            (Some("limit"), "application/json", false),
            (None, "application/x-www-form-urlencoded", false),
        ] {
            let headers = HeaderMap::from_iter([(http::header::CONTENT_TYPE, kind.parse().unwrap())]);
            assert_eq!(is_known_form(query, &headers), expected, "{query:?} {kind}");
        }
    }

    #[test]
    fn a_run_asks_for_its_model_and_the_small_one() {
        for (of_run, asked, may) in [
            ("claude-opus-4-8", "claude-opus-4-8", true),
            ("claude-opus-4-8", "claude-opus-4-1", false),
            ("claude-opus-4-8", "claude-opus-4-8-fast", false),
            ("claude-opus-4-8", "claude-haiku-4-5-20251001", true),
            ("claude-sonnet-5[1m]", "claude-sonnet-5", true),
            ("gate/model", "gate/model", true),
            ("gate/model", "gate/other", false),
        ] {
            assert_eq!(is_of_run(asked, of_run), may, "{of_run} {asked}");
        }
        for (model, is_whole) in [
            ("claude-opus-4-8", true),
            ("gate/model", true),
            ("opus", false),
            ("sonnet[1m]", false),
            ("default", false),
        ] {
            let model = model.to_owned();
            assert_eq!(whole_name(Some(&model)), is_whole.then_some(model));
        }
        assert_eq!(whole_name(None), None);
    }
}
