//! From a request to its answer: git, the API or a page.

use super::{
    auth::Caller,
    call::{Answer, Call},
    faults::header_pairs,
    git_http, graphql,
    log::CallKind,
    pages,
    refusal::Refusal,
    rest,
    server::{Seen, log},
    site::Site,
};
use axum::body::Body;
use bytes::Bytes;
use http::{Response, StatusCode};
use http_body_util::{BodyExt, Limited};
use serde_json::{Value, json};
use std::{collections::BTreeMap, sync::Arc};

/// The largest body of an API call.
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
    let parts = decoded(&seen.path);
    if let Some(request) = git_http::recognise(&parts, &seen.query) {
        let response = git_http::serve(site, &request, caller.clone(), head, body).await;
        log(
            site,
            seen,
            response.status().as_u16(),
            &caller.unwrap_or(Caller::Anonymous),
            CallKind::Git,
            true,
        );
        return response;
    }
    let slices: Vec<&str> = parts.iter().map(String::as_str).collect();
    let api = head.uri.path().starts_with("/api/") || rest::is_api(&slices);
    if seen.method == "GET" && !api {
        let page = pages::serve(site, &slices).await;
        let response = page.unwrap_or_else(pages::missing);
        log(
            site,
            seen,
            response.status().as_u16(),
            &Caller::Anonymous,
            CallKind::Page,
            true,
        );
        return response;
    }
    let kind = match slices.as_slice() {
        ["graphql"] | ["api", "graphql"] => CallKind::GraphQl,
        ["app", "installations", _, "access_tokens"] => CallKind::Mint,
        _ => CallKind::Rest,
    };
    let accept = head.headers.get(http::header::ACCEPT);
    let accept = accept.and_then(|value| value.to_str().ok()).unwrap_or_default();
    let (answer, caller, known) = api_call(site, seen, parts, caller, (accept, body), kind).await;
    let response = json_response(answer);
    log(site, seen, response.status().as_u16(), &caller, kind, known);
    response
}

/// Answers an API call; also who called, and whether the forge knows such a call.
async fn api_call(
    site: &Arc<Site>,
    seen: &Seen,
    parts: Vec<String>,
    caller: Result<Caller, Refusal>,
    (accept, body): (&str, Body),
    kind: CallKind,
) -> (Result<Answer, Refusal>, Caller, bool) {
    let caller = match caller {
        Ok(caller) => caller,
        Err(refusal) => return (Err(refusal), Caller::Anonymous, true),
    };
    let Some(bytes) = whole(body).await else {
        return (Err(Refusal::new(413, "Request body too large")), caller, true);
    };
    let body: Value = match serde_json::from_slice(&bytes) {
        Ok(value) => value,
        Err(_) if bytes.is_empty() => Value::Null,
        Err(_) => return (Err(Refusal::new(400, "Problems parsing JSON")), caller, true),
    };
    let query = url::form_urlencoded::parse(seen.query.as_bytes())
        .into_owned()
        .collect::<BTreeMap<_, _>>();
    let call = Call {
        site: Arc::clone(site),
        method: seen.method.clone(),
        parts,
        query,
        body,
        accept: accept.to_owned(),
        caller: caller.clone(),
    };
    let answered = match kind {
        CallKind::GraphQl => graphql::answer(&call),
        CallKind::Rest | CallKind::Mint | CallKind::Git | CallKind::Page => {
            rest::answer(call).await.map(|answer| (answer, true))
        }
    };
    match answered {
        Some((answer, known)) => (answer, caller, known),
        None => (Err(Refusal::not_found()), caller, false),
    }
}

fn decoded(path: &str) -> Vec<String> {
    let one = |part: &str| -> String {
        // Only `%` sequences count in a path: a plus sign stays what it is.
        let escaped = part.replace('+', "%2B");
        let pair = format!("k={escaped}");
        url::form_urlencoded::parse(pair.as_bytes())
            .next()
            .map(|(_, value)| value.into_owned())
            .unwrap_or_default()
    };
    path.split('/').filter(|part| !part.is_empty()).map(one).collect()
}

fn json_response(answer: Result<Answer, Refusal>) -> Response<Body> {
    if let Ok(Answer {
        status,
        raw: Some(bytes),
        ..
    }) = answer
    {
        let mut response = Response::new(Body::from(bytes));
        *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let media = http::HeaderValue::from_static("application/vnd.github.raw; charset=utf-8");
        response.headers_mut().insert("content-type", media);
        return response;
    }
    let (status, body, link, location) = match answer {
        Ok(answer) => (answer.status, answer.body, answer.link, None),
        Err(refusal) => (refusal.status, Some(refusal.body()), None, refusal.location),
    };
    let mut response = Response::builder()
        .status(status)
        .header("x-github-media-type", "github.v3; format=json")
        .header("x-ratelimit-limit", "5000")
        .header("x-ratelimit-remaining", "4999")
        .header("x-ratelimit-used", "1")
        .header("x-ratelimit-resource", "core");
    if let Some(link) = link {
        response = response.header("link", link);
    }
    if let Some(location) = location {
        response = response.header("location", location);
    }
    let body = match body {
        Some(value) => {
            response = response.header("content-type", "application/json; charset=utf-8");
            Body::from(value.to_string())
        }
        None => Body::empty(),
    };
    response.body(body).unwrap_or_else(|error| {
        let text = json!({"message": error.to_string()}).to_string();
        failed(500, &text, &[])
    })
}
