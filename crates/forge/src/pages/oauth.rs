//! The page on which a person lets an App know who they are. This forge has no passwords: they say so.

use super::{layout, missing};
use crate::{
    acts::Consent,
    answering::{failed, whole},
    site::Site,
    state::UserKind,
};
use axum::body::Body;
use http::{HeaderValue, Response, StatusCode, header};
use maud::{Markup, html};
use std::{collections::BTreeMap, sync::Arc};

/// Forms of this page end at other addresses: a browser holds them to the policy there too.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; form-action *; base-uri 'none'; frame-ancestors 'none'";

/// Answers one of the addresses of the OAuth web flow; none: it is another.
pub(crate) async fn serve(
    site: &Arc<Site>,
    (method, parts): (&str, &[&str]),
    head: &http::request::Parts,
    body: Body,
) -> Option<Response<Body>> {
    let mut asked = read(head.uri.query().unwrap_or_default().as_bytes());
    match (method, parts) {
        ("GET", ["login", "oauth", "authorize"]) => Some(ask(site, &asked)),
        ("POST", ["login", "oauth", "authorize"]) => {
            asked.extend(read(&whole(body).await.unwrap_or_default()));
            Some(answered(site, &asked))
        }
        ("POST", ["login", "oauth", "access_token"]) => {
            asked.extend(fields(&whole(body).await.unwrap_or_default()));
            let token = site.change(|state| state.exchange_code(&|name| asked.get(name).cloned()));
            let accept = head.headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
            Some(match accept.is_some_and(|kinds| kinds.contains("json")) {
                true => failed(200, &token.to_string(), &[]),
                false => form(&token),
            })
        }
        _ => None,
    }
}

type Fields = BTreeMap<String, String>;

fn read(text: &[u8]) -> Fields {
    url::form_urlencoded::parse(text).into_owned().collect()
}

/// GitHub takes JSON and forms here.
fn fields(body: &[u8]) -> Fields {
    match serde_json::from_slice::<BTreeMap<String, serde_json::Value>>(body) {
        Ok(json) => json
            .into_iter()
            .filter_map(|(name, value)| Some((name, value.as_str()?.to_owned())))
            .collect(),
        Err(_) => read(body),
    }
}

fn form(token: &serde_json::Value) -> Response<Body> {
    let mut text = url::form_urlencoded::Serializer::new(String::new());
    for (name, value) in token.as_object().into_iter().flatten() {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        text.append_pair(name, &value);
    }
    let mut response = Response::new(Body::from(text.finish()));
    let kind = HeaderValue::from_static("application/x-www-form-urlencoded; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

fn ask(site: &Arc<Site>, asked: &Fields) -> Response<Body> {
    let authorization = site.read(|state| state.authorization(&|name| asked.get(name).cloned()));
    let name = match authorization {
        Ok(Ok(authorization)) => authorization.name,
        Ok(Err(address)) => return to(address.as_str()),
        Err(_) => return missing(),
    };
    let people = site.read(|state| {
        let people = state.users.values().filter(|user| user.kind == UserKind::User);
        people.map(|user| user.login.clone()).collect::<Vec<_>>()
    });
    page(&html! {
        h1 { "Authorize " (name) }
        p { "It will know who you are on this forge. Who are you?" }
        form method="post" {
            @for login in &people { p { button name="login" value=(login) { "Authorize as " (login) } } }
            p { button name="deny" value="1" { "Cancel" } }
        }
    })
}

fn answered(site: &Arc<Site>, asked: &Fields) -> Response<Body> {
    let gone_to = site.change(|state| {
        let authorization = match state.authorization(&|name| asked.get(name).cloned())? {
            Ok(authorization) => authorization,
            Err(address) => return Ok(address),
        };
        let login = asked.get("login").and_then(|login| state.user_named(login));
        let consent = login.map_or(Consent::Denied, |user| Consent::Given(user.id));
        state.authorize(authorization, consent)
    });
    match gone_to {
        Ok(address) => to(address.as_str()),
        Err(_) => missing(),
    }
}

fn page(body: &Markup) -> Response<Body> {
    let mut response = super::response(StatusCode::OK, &layout::page("Authorize", body));
    let policy = HeaderValue::from_static(POLICY);
    response.headers_mut().insert("content-security-policy", policy);
    response
}

fn to(address: &str) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    if let Ok(address) = HeaderValue::from_str(address) {
        *response.status_mut() = StatusCode::FOUND;
        response.headers_mut().insert(header::LOCATION, address);
    }
    response
}
