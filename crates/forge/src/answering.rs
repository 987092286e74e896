//! Routes a request to git, the API or a page, and builds its answer.

use super::{
    auth::Caller,
    call::{Answer, Answered, Call},
    faults::header_pairs,
    git_http, graphql,
    log::CallKind,
    pages,
    refusal::{Refusal, Result},
    rest,
    server::{Seen, log},
    site::Site,
};
use axum::body::Body;
use bytes::Bytes;
use http::{Response, StatusCode};
use http_body_util::{BodyExt, Limited};
use serde_json::{Value, json};
use std::sync::Arc;

/// The largest body of an API call, in bytes.
const LARGEST_BODY: usize = 25 * 1024 * 1024;

pub(super) fn failed(status: u16, body: &str, headers: &[(String, String)]) -> Response<Body> {
    let mut response = Response::new(Body::from(body.to_owned()));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response
        .headers_mut()
        .insert("content-type", http::HeaderValue::from_static("application/json"));
    response.headers_mut().extend(header_pairs(headers));
    response
}

pub(super) async fn whole(body: Body) -> Option<Bytes> {
    Limited::new(body, LARGEST_BODY)
        .collect()
        .await
        .ok()
        .map(http_body_util::Collected::to_bytes)
}

pub(super) async fn route(site: &Arc<Site>, seen: &Seen, head: &http::request::Parts, body: Body) -> Response<Body> {
    let caller = site.read(|state| Caller::of(state, &head.headers));
    let named = caller.clone().unwrap_or(Caller::Anonymous);
    let parts = decoded(&seen.path);
    if let Some(request) = git_http::recognise(&parts, &seen.query) {
        let response = git_http::serve(site, &request, caller, head, body).await;
        log(site, seen, response.status().as_u16(), &named, CallKind::Git, true);
        return response;
    }
    let slices: Vec<&str> = parts.iter().map(String::as_str).collect();
    let body = match of_pages(site, seen, (&slices, head), body).await {
        Ok(response) => return response,
        Err(body) => body,
    };
    let kind = kind_of(&slices);
    let call = caller_and_body(caller, body).await;
    let (answered, known) = match call {
        Err(refusal) => (Err(refusal), true),
        Ok((caller, body)) => {
            let accept = head.headers.get(http::header::ACCEPT);
            let query = url::form_urlencoded::parse(seen.query.as_bytes());
            let call = Call {
                site: Arc::clone(site),
                method: seen.method.clone(),
                parts,
                query: query.into_owned().collect(),
                body,
                accept: accept
                    .and_then(|value| value.to_str().ok())
                    .unwrap_or_default()
                    .to_owned(),
                caller,
            };
            answer(call, kind).await
        }
    };
    let response = json_response(answered);
    log(site, seen, response.status().as_u16(), &named, kind, known);
    response
}

/// Answers a request for a page. A call to the API gets its unread body back as the error.
async fn of_pages(
    site: &Arc<Site>,
    seen: &Seen,
    (parts, head): (&[&str], &http::request::Parts),
    body: Body,
) -> Result<Response<Body>, Body> {
    let api = head.uri.path().starts_with("/api/") || rest::is_api(parts);
    if parts == ["login", "oauth", "access_token"] {
        let response = pages::access_token(site, head, body).await;
        let status = response.status().as_u16();
        log(site, seen, status, &Caller::Anonymous, CallKind::Rest, true);
        return Ok(response);
    }
    let response = if !api && pages::is_of_a_person(site, &seen.method, parts) {
        pages::for_person(site, head, parts, body).await
    } else if !api && pages::is_act(&seen.method, parts) {
        pages::act(site, parts, head, &whole(body).await.unwrap_or_default()).await
    } else if !api && seen.method == "GET" {
        pages::serve(site, parts, head).await
    } else {
        return Err(body);
    };
    let status = response.status().as_u16();
    log(site, seen, status, &Caller::Anonymous, CallKind::Page, true);
    Ok(response)
}

/// Returns the kind of call of a path.
fn kind_of(parts: &[&str]) -> CallKind {
    match parts {
        ["graphql"] | ["api", "graphql"] => CallKind::GraphQl,
        ["app", "installations", _, "access_tokens"] => CallKind::Mint,
        _ => CallKind::Rest,
    }
}

async fn caller_and_body(caller: Result<Caller>, body: Body) -> Result<(Caller, Value)> {
    let caller = caller?;
    let bytes = whole(body)
        .await
        .ok_or_else(|| Refusal::new(413, "Request body too large"))?;
    match serde_json::from_slice(&bytes) {
        Ok(value) => Ok((caller, value)),
        Err(_) if bytes.is_empty() => Ok((caller, Value::Null)),
        Err(_) => Err(Refusal::new(400, "Problems parsing JSON")),
    }
}

/// Answers an API call, and says whether the forge knows such a call.
async fn answer(call: Call, kind: CallKind) -> (Answered, bool) {
    let answered = match kind {
        CallKind::GraphQl => graphql::answer(&call),
        CallKind::Rest | CallKind::Mint | CallKind::Git | CallKind::Page => {
            rest::answer(call).await.transpose().map(|answer| (answer, true))
        }
    };
    answered.unwrap_or_else(|| (Err(Refusal::not_found()), false))
}

fn decoded(path: &str) -> Vec<String> {
    let one = |part: &str| -> String {
        // The parser reads forms, where a plus is a space. In a path it is a plus.
        let escaped = part.replace('+', "%2B");
        let pair = format!("k={escaped}");
        url::form_urlencoded::parse(pair.as_bytes())
            .next()
            .map(|(_, value)| value.into_owned())
            .unwrap_or_default()
    };
    path.split('/').filter(|part| !part.is_empty()).map(one).collect()
}

fn json_response(answered: Answered) -> Response<Body> {
    let (answer, location) = match answered {
        Ok(answer) => (answer, None),
        Err(refusal) => (Answer::with(refusal.status, refusal.body()), refusal.location),
    };
    let mut response = Response::builder().status(answer.status);
    if let Some(bytes) = answer.raw {
        response = response.header("content-type", "application/vnd.github.raw; charset=utf-8");
        return response.body(Body::from(bytes)).unwrap_or_else(unsayable);
    }
    let fixed = [
        ("x-github-media-type", "github.v3; format=json"),
        ("x-ratelimit-limit", "5000"),
        ("x-ratelimit-remaining", "4999"),
        ("x-ratelimit-used", "1"),
        ("x-ratelimit-resource", "core"),
    ];
    for (name, value) in fixed {
        response = response.header(name, value);
    }
    for (name, value) in [("link", answer.link), ("location", location)] {
        if let Some(value) = value {
            response = response.header(name, value);
        }
    }
    let mut body = Body::empty();
    if let Some(value) = answer.body {
        response = response.header("content-type", "application/json; charset=utf-8");
        body = Body::from(value.to_string());
    }
    response.body(body).unwrap_or_else(unsayable)
}

fn unsayable(error: http::Error) -> Response<Body> {
    let text = json!({"message": error.to_string()}).to_string();
    failed(500, &text, &[])
}
