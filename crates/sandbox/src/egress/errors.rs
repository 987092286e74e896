//! The door's own answers.

use crate::egress::{log::Refusal, rules::Rules};
use bytes::Bytes;
use http::{
    HeaderValue, Response, StatusCode,
    header::{CONTENT_TYPE, PROXY_AUTHENTICATE},
};
use http_body_util::{BodyExt, Full, combinators::BoxBody};
use serde_json::json;
use std::error::Error;

/// A body that is passed on as it arrives.
pub(super) type Body = BoxBody<Bytes, Box<dyn Error + Send + Sync>>;

const MAX_SHOWN: usize = 40;

pub(super) fn full(bytes: impl Into<Bytes>) -> Body {
    Full::new(bytes.into()).map_err(|never| match never {}).boxed()
}

fn answer(status: StatusCode, kind: &'static str, body: impl Into<Bytes>) -> Response<Body> {
    let mut response = Response::new(full(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

/// Refuses a request to the proxy, with a message that names the allowed hosts.
pub(super) fn refused(rules: &Rules, refusal: Refusal) -> Response<Body> {
    let status = match refusal {
        Refusal::NoToken => StatusCode::PROXY_AUTHENTICATION_REQUIRED,
        Refusal::Unresolved | Refusal::Unreachable | Refusal::Upstream | Refusal::Certificate => {
            StatusCode::BAD_GATEWAY
        }
        Refusal::NotATarget => StatusCode::BAD_REQUEST,
        Refusal::Plain
        | Refusal::Port(_)
        | Refusal::NotListed
        | Refusal::NotPublic(_)
        | Refusal::UsedUp
        | Refusal::Hello(_)
        | Refusal::NotARead
        | Refusal::UnnamedModule
        | Refusal::TooManyMisses
        | Refusal::NoRoute => StatusCode::FORBIDDEN,
    };
    let has_token = refusal != Refusal::NoToken;
    // A request without a token learns nothing about the rules.
    let more = if has_token { format!(" {}", allowed(rules)) } else { String::new() };
    let text = format!("AutoBuild: {refusal}.{more}\n");
    let mut response = answer(status, "text/plain; charset=utf-8", text);
    if !has_token {
        let realm = HeaderValue::from_static("Basic realm=\"autobuild\"");
        response.headers_mut().insert(PROXY_AUTHENTICATE, realm);
    }
    response
}

fn allowed(rules: &Rules) -> String {
    if rules.hosts.is_empty() {
        return "No host may be reached from here.".to_owned();
    }
    let shown: Vec<String> = rules.hosts.iter().take(MAX_SHOWN).map(ToString::to_string).collect();
    let more = match rules.hosts.len().checked_sub(MAX_SHOWN) {
        Some(more @ 1..) => format!(" and {more} more"),
        _ => String::new(),
    };
    format!(
        "By https on port 443 may be reached: {}{more}. Other hosts are named in `network.allow` of the repository's \
         settings, as far as the server allows.",
        shown.join(", ")
    )
}

/// Returns an error of the reverse proxy in a form that the programs of all known providers can read.
pub(super) fn of_model(status: StatusCode, kind: &str, message: &str) -> Response<Body> {
    let body = json!({
        "type": "error",
        "error": { "type": kind, "message": format!("AutoBuild: {message}"), "code": null, "param": null },
    });
    answer(status, "application/json", body.to_string())
}
