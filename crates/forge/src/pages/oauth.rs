//! Sign-in with an App: the page on which a person agrees, and the address where the App exchanges the code.

use super::person::{Visit, page, redirect_to};
use crate::{answering::whole, refusal::Result, reply::reply, site::Site};
use axum::body::Body;
use http::{Response, header};
use maud::html;
use std::{collections::BTreeMap, sync::Arc};

/// The path of the authorization page.
pub(super) const AUTHORIZE: &[&str] = &["login", "oauth", "authorize"];

/// Shows the authorization page, or takes the person's answer.
pub(super) fn answer(visit: &Visit<'_>, person: u64) -> Result<Response<Body>> {
    let asked = |name: &str| visit.query.get(name).cloned();
    let authorization = match visit.site.read(|state| state.authorization(&asked))? {
        Ok(authorization) => authorization,
        Err(address) => return Ok(redirect_to(address.as_str())),
    };
    if visit.method != "POST" {
        let name = &authorization.name;
        let login = visit.site.read(|state| state.login(person).to_owned());
        let body = html! {
            h1 { "Authorize " (name) }
            p { (name) " will know that you are " b { (login) } " on this forge." }
            form method="post" {
                (visit.own_form())
                p { button name="authorize" value="1" { "Authorize " (name) } }
                p { button name="authorize" value="0" { "Cancel" } }
            }
        };
        return Ok(page("Authorize", body));
    }
    visit.check_own_form()?;
    let agreed = (visit.field("authorize") == Some("1")).then_some(person);
    let address = visit.site.change(|state| state.authorize(authorization, agreed))?;
    Ok(redirect_to(address.as_str()))
}

const JSON: (&str, &str) = ("content-type", "application/json");

/// Exchanges a code for a token. GitHub accepts JSON and forms, in the body or in the query.
pub(crate) async fn access_token(site: &Arc<Site>, head: &http::request::Parts, body: Body) -> Response<Body> {
    let read = |text: &[u8]| -> BTreeMap<String, String> { url::form_urlencoded::parse(text).into_owned().collect() };
    let mut asked = read(head.uri.query().unwrap_or_default().as_bytes());
    let body = whole(body).await.unwrap_or_default();
    match serde_json::from_slice::<BTreeMap<String, serde_json::Value>>(&body) {
        Ok(json) => {
            let texts = json.into_iter();
            asked.extend(texts.filter_map(|(name, value)| Some((name, value.as_str()?.to_owned()))));
        }
        Err(_) => asked.extend(read(&body)),
    }
    if head.method != http::Method::POST {
        return reply(404, &[JSON], r#"{"message":"Not Found"}"#);
    }
    let token = site.change(|state| state.exchange_code(&|name| asked.get(name).cloned()));
    let accept = head.headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
    if accept.is_some_and(|kinds| kinds.contains("json")) {
        reply(200, &[JSON], token.to_string())
    } else {
        form(&token)
    }
}

fn form(token: &serde_json::Value) -> Response<Body> {
    let mut text = url::form_urlencoded::Serializer::new(String::new());
    for (name, value) in token.as_object().into_iter().flatten() {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        text.append_pair(name, &value);
    }
    let kind = ("content-type", "application/x-www-form-urlencoded; charset=utf-8");
    reply(200, &[kind], text.finish())
}
