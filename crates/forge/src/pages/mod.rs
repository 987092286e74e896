//! Plain pages for people: the forge's content, readable without scripts and without content from other addresses.
//! Readers who may act get boxes and buttons.

mod acts;
mod apps;
mod changes;
mod conversation;
mod layout;
mod lists;
mod live;
mod new_issue;
mod oauth;
mod person;
mod pull;

pub(super) use oauth::access_token;
pub(super) use person::{for_person, is_of_a_person};

use super::{
    cgi::text_answer,
    clock,
    readers::{Readers, Topic},
    refusal::Refusal,
    reply::reply,
    site::Site,
    state::Repo,
};
use acts::{ActRequest, ReaderActor};
use axum::body::Body;
use http::{
    HeaderMap, Response,
    header::{HOST, ORIGIN},
    request::Parts,
};
use layout::PageView;
use maud::{Markup, html};
use page_parts::session::{Entry, NO_KEY, is_same, refresh};
use std::{collections::BTreeMap, sync::Arc};
use tokio::{runtime::Handle, task::spawn_blocking};

const HTML: &str = "text/html; charset=utf-8";
const NO_SNIFF: (&str, &str) = ("x-content-type-options", "nosniff");

/// Returns the account with which a reader acts, or `None` if these pages are only for reading.
///
/// # Errors
///
/// The answer to give instead of the page.
fn hand_of<'a>(site: &'a Site, head: &Parts) -> Result<Option<ReaderActor<'a>>, Box<Response<Body>>> {
    let Readers::WithKey { key, hands } = &site.readers else {
        return Ok(None);
    };
    let now = clock::wall().timestamp_millis();
    let session = match Entry::of(head.uri.path(), head.uri.query(), &head.headers, key, now) {
        Entry::In(session) => session,
        Entry::Begins { cookie, to } => {
            let headers = [("set-cookie", cookie.as_str()), ("refresh", &refresh(&to))];
            return Err(Box::new(reply(200, &headers, Body::empty())));
        }
        Entry::Refused => return Err(Box::new(text_answer(403, NO_KEY))),
    };
    let user = site.read(|state| state.user_named(&hands.login).map(|user| user.id));
    let token = session.form_token(key);
    Ok(user.map(|user| ReaderActor { hands, user, token, replies: Vec::new() }))
}

/// Finds the comments to offer as buttons, if the page is one of an issue or pull request.
async fn look_for_replies(hand: &mut ReaderActor<'_>, site: &Site, parts: &[&str]) {
    let [owner, name, "issues" | "pull", number] = parts else {
        return;
    };
    let repo = site.read(|state| state.repo_once_named(owner, name).map(|repo| repo.id));
    if let (Some(repo), Ok(number)) = (repo, number.parse()) {
        hand.replies = hand.hands.replies.of(Topic { repo, number }).await;
    }
}

/// Answers a request for a page.
pub(super) async fn serve(site: &Arc<Site>, parts: &[&str], head: &Parts) -> Response<Body> {
    let (site, parts, head) = (Arc::clone(site), owned(parts), head.clone());
    let drawn = on_own_thread(async move { answer(&site, &borrowed(&parts), &head).await });
    drawn.await.unwrap_or_else(missing)
}

/// Draws on a thread of its own, so that a long page delays nothing else. Returns `None` if the forge ends.
async fn on_own_thread<T: Send + 'static>(drawing: impl Future<Output = T> + Send + 'static) -> Option<T> {
    let runtime = Handle::current();
    spawn_blocking(move || runtime.block_on(drawing)).await.ok()
}

fn owned(parts: &[&str]) -> Vec<String> {
    parts.iter().map(|part| (*part).to_owned()).collect()
}

fn borrowed(parts: &[String]) -> Vec<&str> {
    parts.iter().map(String::as_str).collect()
}

async fn answer(site: &Arc<Site>, parts: &[&str], head: &Parts) -> Response<Body> {
    let mut hand = match hand_of(site, head) {
        Ok(hand) => hand,
        Err(instead) => return *instead,
    };
    match parts {
        ["-", "live.js"] => return script(),
        [page @ .., "live"] if page.len() > 1 => return live::stream(site, page, head),
        _ => {}
    }
    let query = head.uri.query().unwrap_or_default().as_bytes();
    let file = url::form_urlencoded::parse(query).find(|(name, _)| name == "file");
    let file = file.map(|(_, value)| value.into_owned());
    if let Some(hand) = &mut hand {
        look_for_replies(hand, site, parts).await;
    }
    let Some(shown) = content(site, parts, hand.as_ref(), file.as_deref()).await else {
        return missing();
    };
    let live = (parts.len() > 1).then(|| format!("{}/live", head.uri.path().trim_end_matches('/')));
    response(200, &layout::whole(&shown, live.as_deref()))
}

/// Returns `true` if a request submits a form of an issue or pull request.
pub(super) fn is_act(method: &str, parts: &[&str]) -> bool {
    method == "POST" && matches!(parts, [_, _, "issues" | "pull", _, "act"])
}

/// Carries out the action of a form, and redirects to the page.
pub(super) async fn act(site: &Arc<Site>, parts: &[&str], head: &Parts, body: &[u8]) -> Response<Body> {
    let hand = match hand_of(site, head) {
        Ok(Some(hand)) => hand,
        Ok(None) => return refused(&Refusal::new(403, "Nobody acts on these pages.")),
        Err(instead) => return *instead,
    };
    let fields: BTreeMap<String, String> = url::form_urlencoded::parse(body).into_owned().collect();
    let is_ours = fields.get("token").is_some_and(|token| is_same(token, &hand.token));
    if !is_ours || !is_from_here(&head.headers) {
        let text = "This form is not of this page: open the page again.";
        return refused(&Refusal::new(403, text));
    }
    let [owner, name, kind, number, _] = parts else {
        return missing();
    };
    let repo = site.read(|state| state.repo_once_named(owner, name).map(|repo| repo.id));
    let (Some(repo), Ok(number)) = (repo, number.parse()) else {
        return missing();
    };
    let order = ActRequest { site, repo, number, user: hand.user, fields: &fields };
    match order.obey().await {
        Ok(()) => {
            let page = format!("/{owner}/{name}/{kind}/{number}");
            reply(303, &[("location", &page)], Body::empty())
        }
        Err(refusal) => refused(&refusal),
    }
}

/// Returns `true` unless the browser says that the form comes from another address.
fn is_from_here(headers: &HeaderMap) -> bool {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    match (text(ORIGIN), text(HOST)) {
        (None, _) => true,
        (Some(origin), Some(host)) => origin.split_once("://").is_some_and(|(_, from)| from == host),
        (Some(_), None) => false,
    }
}

fn refused(refusal: &Refusal) -> Response<Body> {
    let body = html! {
        h1 { "This was not done" }
        p { (refusal) }
        p { "Go back to try something else; what you wrote is still there." }
    };
    response(refusal.status, &layout::page("Not done", body))
}

fn script() -> Response<Body> {
    let kind = ("content-type", "text/javascript; charset=utf-8");
    reply(200, &[kind, NO_SNIFF], page_parts::SCRIPT)
}

/// Returns the content of a path's page; `None` if there is no such page, or not for this reader.
async fn content(
    site: &Arc<Site>,
    parts: &[&str],
    hand: Option<&ReaderActor<'_>>,
    file: Option<&str>,
) -> Option<PageView> {
    let sees_all = matches!(site.readers, Readers::WithKey { .. });
    let is_shown = |repo: &&Repo| sees_all || !repo.settings.private;
    let repository =
        |owner: &str, name: &str| site.read(|state| Some(state.repo_once_named(owner, name).filter(is_shown)?.id));
    match parts {
        [] => Some(site.read(|state| lists::index(state, is_shown))),
        [owner, name] => {
            let id = repository(owner, name)?;
            site.read(|state| state.repos.get(&id).map(|repo| lists::repository(state, repo)))
        }
        [owner, name, "issues" | "pull", number] => {
            let id = repository(owner, name)?;
            let number = number.parse().ok()?;
            if site.read(|state| state.pull(id, number).is_ok()) {
                pull::page(site, id, number, hand, file).await
            } else {
                site.read(|state| conversation::issue_page(state, id, number, hand))
            }
        }
        [owner, name, "commit", sha] => changes::commit_page(site, repository(owner, name)?, sha).await,
        _ => None,
    }
}

fn missing() -> Response<Body> {
    let body = html! { h1 { "Not found" } p { "There is no such page here." } };
    response(404, &layout::page("Not found", body))
}

fn response(status: u16, page: &Markup) -> Response<Body> {
    let policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'self'; connect-src 'self'; form-action 'self'; \
                  base-uri 'none'; frame-ancestors 'none'";
    let headers = [("content-type", HTML), ("content-security-policy", policy), NO_SNIFF];
    reply(status, &headers, page.0.clone())
}
