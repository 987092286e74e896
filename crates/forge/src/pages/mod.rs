//! Plain pages for people: what is on the forge, readable in a browser. No scripts, no other addresses, nothing to send.

mod apps;
mod changes;
mod conversation;
mod layout;
mod lists;
mod oauth;
mod person;
mod pull;

pub(super) use oauth::access_token;
pub(super) use person::{for_person, is_of_a_person};

use super::site::Site;
use axum::body::Body;
use http::{HeaderValue, Response, StatusCode};
use maud::{Markup, html};
use std::sync::Arc;

/// The page of a path; none: there is no such page.
pub(super) async fn serve(site: &Arc<Site>, parts: &[&str]) -> Option<Response<Body>> {
    let page = match parts {
        [] => site.read(lists::index),
        [owner, name] => {
            let id = repository(site, owner, name)?;
            site.read(|state| state.repos.get(&id).map(|repo| lists::repository(state, repo)))?
        }
        [owner, name, "issues" | "pull", number] => {
            let id = repository(site, owner, name)?;
            let number = number.parse().ok()?;
            if site.read(|state| state.pull(id, number).is_ok()) {
                pull::page(site, id, number).await?
            } else {
                site.read(|state| conversation::issue_page(state, id, number))?
            }
        }
        [owner, name, "commit", sha] => {
            let id = repository(site, owner, name)?;
            changes::commit_page(site, id, sha).await?
        }
        _ => return None,
    };
    Some(response(StatusCode::OK, &page))
}

/// The page that says that there is none.
pub(super) fn missing() -> Response<Body> {
    let page = layout::page("Not found", &html! { p { "There is no such page here." } });
    response(StatusCode::NOT_FOUND, &page)
}

/// The id of a repository by its name now or formerly.
fn repository(site: &Site, owner: &str, name: &str) -> Option<u64> {
    site.read(|state| state.repo_once_named(owner, name).map(|repo| repo.id))
}

fn response(status: StatusCode, page: &Markup) -> Response<Body> {
    let mut response = Response::new(Body::from(page.0.clone()));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert("content-type", HeaderValue::from_static("text/html; charset=utf-8"));
    let policy = "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'";
    headers.insert("content-security-policy", HeaderValue::from_static(policy));
    headers.insert("x-content-type-options", HeaderValue::from_static("nosniff"));
    response
}
