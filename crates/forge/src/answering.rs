//! Routes a request to git, the API or a page, and builds its answer.

use super::{
    auth::Caller,
    call::{Answer, Answered, Call},
    git_http, graphql,
    log::CallKind,
    pages,
    refusal::{Refusal, Result},
    reply::reply,
    rest,
    server::{LoggedRequest, log},
    site::Site,
};
use axum::body::Body;
use bytes::Bytes;
use http::Response;
use http_body_util::{BodyExt, Limited};
use serde_json::Value;
use std::sync::Arc;

/// The largest body of an API call, in bytes.
const LARGEST_BODY: usize = 25 * 1024 * 1024;

pub(super) async fn whole(body: Body) -> Option<Bytes> {
    let collected = Limited::new(body, LARGEST_BODY).collect().await.ok()?;
    Some(collected.to_bytes())
}

pub(super) async fn route(
    site: &Arc<Site>,
    seen: &LoggedRequest,
    head: &http::request::Parts,
    body: Body,
) -> Response<Body> {
    let caller = site.read(|state| Caller::of(state, &head.headers));
    let named = caller.clone().unwrap_or(Caller::Anonymous);
    let parts = decoded(&seen.path);
    if let Some(request) = git_http::recognise(&parts, &seen.query) {
        let response = git_http::serve(site, &request, caller, head, body).await;
        log(site, seen, response.status().as_u16(), &named, CallKind::Git, true);
        return response;
    }
    let slices: Vec<&str> = parts.iter().map(String::as_str).collect();
    let body = match of_pages(site, seen, &slices, head, body).await {
        Ok(response) => return response,
        Err(body) => body,
    };
    let call = caller_and_body(caller, body).await;
    let kind = kind_of(&slices, call.as_ref().map_or(&Value::Null, |(_, body)| body));
    let (answered, known) = match call {
        Err(refusal) => (Err(refusal), true),
        Ok((caller, body)) => {
            let query = url::form_urlencoded::parse(seen.query.as_bytes());
            let call = Call {
                site: Arc::clone(site),
                method: seen.method.clone(),
                parts,
                query: query.into_owned().collect(),
                body,
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
    seen: &LoggedRequest,
    parts: &[&str],
    head: &http::request::Parts,
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

fn kind_of(parts: &[&str], body: &Value) -> CallKind {
    match parts {
        ["graphql"] | ["api", "graphql"] if graphql::is_mutation(body) => CallKind::GraphQlMutation,
        ["graphql"] | ["api", "graphql"] => CallKind::GraphQlQuery,
        ["app", "installations", _, "access_tokens"] => CallKind::Mint,
        _ => CallKind::Rest,
    }
}

async fn caller_and_body(caller: Result<Caller>, body: Body) -> Result<(Caller, Value)> {
    let caller = caller?;
    let bytes = whole(body).await.ok_or_else(|| Refusal::new(413, "Request body too large"))?;
    match serde_json::from_slice(&bytes) {
        Ok(value) => Ok((caller, value)),
        Err(_) if bytes.is_empty() => Ok((caller, Value::Null)),
        Err(_) => Err(Refusal::new(400, "Problems parsing JSON")),
    }
}

/// Answers an API call. Returns `false` with the answer if the forge does not know such a call.
async fn answer(call: Call, kind: CallKind) -> (Answered, bool) {
    let answered = match kind {
        CallKind::GraphQlQuery | CallKind::GraphQlMutation => graphql::answer(&call),
        CallKind::Rest | CallKind::Mint | CallKind::Git | CallKind::Page => {
            rest::answer(call).await.transpose().map(|answer| (answer, true))
        }
    };
    answered.unwrap_or_else(|| (Err(Refusal::not_found()), false))
}

fn decoded(path: &str) -> Vec<String> {
    let one = |part: &str| -> String {
        // The parser reads forms, where a plus is a space. In a path it is a plus.
        let pair = format!("k={}", part.replace('+', "%2B"));
        let parsed = url::form_urlencoded::parse(pair.as_bytes()).next();
        parsed.map(|(_, value)| value.into_owned()).unwrap_or_default()
    };
    path.split('/').filter(|part| !part.is_empty()).map(one).collect()
}

fn json_response(answered: Answered) -> Response<Body> {
    let (answer, location) = match answered {
        Ok(answer) => (answer, None),
        Err(refusal) => (Answer::with(refusal.status, refusal.body()), refusal.location),
    };
    let mut headers = vec![
        ("content-type", "application/json; charset=utf-8"),
        ("x-github-media-type", "github.v3; format=json"),
        ("x-ratelimit-limit", "5000"),
        ("x-ratelimit-remaining", "4999"),
        ("x-ratelimit-used", "1"),
        ("x-ratelimit-resource", "core"),
    ];
    headers.extend(answer.link.as_deref().map(|link| ("link", link)));
    headers.extend(location.as_deref().map(|location| ("location", location)));
    reply(answer.status, &headers, answer.body.to_string())
}
