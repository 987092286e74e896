//! Plain pages for people: what is on the forge, readable in a browser. No scripts, no other addresses, nothing to send.

mod changes;
mod conversation;
mod layout;
mod lists;
mod pull;

use super::{cgi::text_answer, clock, forge::Readers, site::Site, state::Repo};
use axum::body::Body;
use http::{
    HeaderValue, Response, StatusCode,
    header::{LOCATION, SET_COOKIE},
};
use maud::{Markup, html};
use page_parts::session::{Entry, NO_KEY};
use std::sync::Arc;

/// Which repositories a reader may see.
#[derive(Clone, Copy, Debug)]
enum Sight {
    Public,
    Everything,
}

impl Sight {
    fn shows(self, repo: &Repo) -> bool {
        match self {
            Self::Public => !repo.settings.private,
            Self::Everything => true,
        }
    }
}

/// The answer to a request for a page.
pub(super) async fn serve(site: &Arc<Site>, parts: &[&str], head: &http::request::Parts) -> Response<Body> {
    let sight = match &site.readers {
        Readers::Everybody => Sight::Public,
        Readers::WithKey(key) => {
            let now = clock::wall().timestamp_millis();
            match Entry::of((head.uri.path(), head.uri.query()), &head.headers, key, now) {
                Entry::In(_) => Sight::Everything,
                Entry::Begins { cookie, to } => return begins(&cookie, &to),
                Entry::Refused => return text_answer(403, NO_KEY),
            }
        }
    };
    page(site, parts, sight).await.unwrap_or_else(missing)
}

fn begins(cookie: &str, to: &str) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    for (name, value) in [(SET_COOKIE, cookie), (LOCATION, to)] {
        // Both came in as parts of a request.
        if let Ok(value) = HeaderValue::from_str(value) {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

/// The page of a path; none: there is no such page, or not for this reader.
async fn page(site: &Arc<Site>, parts: &[&str], sight: Sight) -> Option<Response<Body>> {
    let repository = |owner: &str, name: &str| {
        site.read(|state| {
            let repo = state.repo_once_named(owner, name).filter(|repo| sight.shows(repo))?;
            Some(repo.id)
        })
    };
    let page = match parts {
        [] => site.read(|state| lists::index(state, |repo| sight.shows(repo))),
        [owner, name] => {
            let id = repository(owner, name)?;
            site.read(|state| state.repos.get(&id).map(|repo| lists::repository(state, repo)))?
        }
        [owner, name, "issues" | "pull", number] => {
            let id = repository(owner, name)?;
            let number = number.parse().ok()?;
            if site.read(|state| state.pull(id, number).is_ok()) {
                pull::page(site, id, number).await?
            } else {
                site.read(|state| conversation::issue_page(state, id, number))?
            }
        }
        [owner, name, "commit", sha] => {
            let id = repository(owner, name)?;
            changes::commit_page(site, id, sha).await?
        }
        _ => return None,
    };
    Some(response(StatusCode::OK, &page))
}

/// The page that says that there is none.
fn missing() -> Response<Body> {
    let page = layout::page("Not found", &html! { p { "There is no such page here." } });
    response(StatusCode::NOT_FOUND, &page)
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
