//! The dashboard: what the service does, for who shows the administrator's token. Pages are made by the server and work
//! without a script; where there is one, they are replaced as soon as they have changed.

mod doctor;
mod feature;
mod graph;
mod live;
mod overview;
mod parts;
mod run;
mod session;

use crate::{
    engine::view::ViewError,
    web::{
        Inbox,
        dashboard::session::{Session, is_of_this_machine, is_same, is_token},
        inbox::Viewers,
    },
};
use axum::{
    Form, Router,
    extract::{
        Path, Query, State,
        rejection::{FormRejection, QueryRejection},
    },
    http::{
        HeaderMap, HeaderValue, StatusCode,
        header::{
            CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, LOCATION, REFERRER_POLICY, SET_COOKIE,
            X_CONTENT_TYPE_OPTIONS,
        },
    },
    response::{IntoResponse, Response},
    routing::{get, post},
};
use domain::ids::FeatureKey;
use maud::{DOCTYPE, Markup, html};
use serde::Deserialize;
use std::sync::Arc;

/// Only what this service serves itself, and no other page may frame it.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; \
                      base-uri 'none'; frame-ancestors 'none'";
const SCRIPT: &str = include_str!("live.js");
const ICON: &str = include_str!("icon.svg");

/// The dashboard's routes.
pub(super) fn routes() -> Router<Arc<Inbox>> {
    Router::new()
        .route("/", get(overview_page))
        .route("/live", get(overview_live))
        .route("/features/{repo}/{issue}/{run}", get(feature_page))
        .route("/features/{repo}/{issue}/{run}/live", get(feature_live))
        .route("/features/{repo}/{issue}/{run}/run", get(run_page))
        .route("/doctor", get(doctor::page))
        .route("/sign-in", get(sign_in_page).post(sign_in))
        .route("/sign-out", post(sign_out))
        .route(
            "/assets/pages.css",
            get(|| asset("text/css; charset=utf-8", page_parts::STYLE)),
        )
        .route("/assets/icon.svg", get(|| asset("image/svg+xml", ICON)))
        .route(
            "/assets/live.js",
            get(|| asset("text/javascript; charset=utf-8", SCRIPT)),
        )
}

async fn asset(kind: &'static str, text: &'static str) -> Response {
    (
        [
            (CONTENT_TYPE, kind),
            (CACHE_CONTROL, "max-age=300"),
            (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        ],
        text,
    )
        .into_response()
}

type Key = Path<(u64, u64, u32)>;

fn key(Path((repo, issue, run)): Key) -> Option<FeatureKey> {
    format!("{repo}/{issue}/{run}").parse().ok()
}

async fn overview_page(State(inbox): State<Arc<Inbox>>, headers: HeaderMap) -> Response {
    let Some(viewer) = of(&inbox, &headers) else {
        return to_sign_in();
    };
    let content = overview::content(inbox.engine()).await.map(Some);
    answer(&inbox, &viewer, "AutoBuild", Some("/live"), content)
}

async fn feature_page(State(inbox): State<Arc<Inbox>>, path: Key, headers: HeaderMap) -> Response {
    let Some(viewer) = of(&inbox, &headers) else {
        return to_sign_in();
    };
    let Some(key) = key(path) else {
        return answer(&inbox, &viewer, "Not found", None, Ok(None));
    };
    let content = feature::content(inbox.engine(), &key).await;
    let live = format!("/features/{key}/live");
    answer(&inbox, &viewer, &key.shown(), Some(&live), content)
}

#[derive(Deserialize)]
struct WhichRun {
    id: String,
}

async fn run_page(
    State(inbox): State<Arc<Inbox>>,
    path: Key,
    which: Result<Query<WhichRun>, QueryRejection>,
    headers: HeaderMap,
) -> Response {
    let Some(viewer) = of(&inbox, &headers) else {
        return to_sign_in();
    };
    let content = match (key(path), which) {
        (Some(key), Ok(Query(which))) => run::content(inbox.engine(), &key, &which.id).await,
        (None, _) | (_, Err(_)) => Ok(None),
    };
    answer(&inbox, &viewer, "A run", None, content)
}

async fn overview_live(State(inbox): State<Arc<Inbox>>, headers: HeaderMap) -> Response {
    match of(&inbox, &headers) {
        Some(_) => live::stream(inbox, None),
        None => StatusCode::UNAUTHORIZED.into_response(),
    }
}

async fn feature_live(State(inbox): State<Arc<Inbox>>, path: Key, headers: HeaderMap) -> Response {
    match (of(&inbox, &headers), key(path)) {
        (Some(_), Some(key)) => live::stream(inbox, Some(key)),
        (Some(_), None) => StatusCode::NOT_FOUND.into_response(),
        (None, _) => StatusCode::UNAUTHORIZED.into_response(),
    }
}

/// Who asks; none: somebody who may not see it.
enum Viewer {
    SignedIn(Session),
    ThisMachine,
}

fn of(inbox: &Inbox, headers: &HeaderMap) -> Option<Viewer> {
    match inbox.viewers() {
        Viewers::ThisMachine => is_of_this_machine(headers).then_some(Viewer::ThisMachine),
        Viewers::SignedIn => Session::of(headers, inbox.admin()?, inbox.now()).map(Viewer::SignedIn),
    }
}

fn to_sign_in() -> Response {
    (StatusCode::SEE_OTHER, [(LOCATION, "/sign-in")]).into_response()
}

/// A page, or why there is none.
fn answer(
    inbox: &Inbox,
    viewer: &Viewer,
    title: &str,
    live: Option<&str>,
    content: Result<Option<Markup>, ViewError>,
) -> Response {
    let token = match viewer {
        Viewer::SignedIn(session) => inbox.admin().map(|admin| session.form_token(admin)),
        Viewer::ThisMachine => None,
    };
    let bar = html! {
        nav aria-label="Pages" {
            a href="/" { "Work" }
            @if doctor::is_for(inbox, viewer) { a href="/doctor" { "Doctor" } }
            @if let Some(token) = token {
                form method="post" action="/sign-out" {
                    input type="hidden" name="token" value=(token);
                    button { "Sign out" }
                }
            }
        }
    };
    match content {
        Ok(Some(content)) => page(StatusCode::OK, title, &bar, live, &content),
        Ok(None) => {
            let said = html! { h1 { "There is no such page" } p { a href="/" { "All work" } } };
            page(StatusCode::NOT_FOUND, "Not found", &bar, None, &said)
        }
        Err(error) => {
            tracing::warn!(%error, "a page could not be made");
            let said = html! { h1 { "The database does not answer" } p { "Reload the page in a moment." } };
            page(StatusCode::SERVICE_UNAVAILABLE, "Not now", &bar, None, &said)
        }
    }
}

fn page(status: StatusCode, title: &str, bar: &Markup, live: Option<&str>, content: &Markup) -> Response {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                link rel="stylesheet" href="/assets/pages.css";
                link rel="icon" href="/assets/icon.svg";
                @if live.is_some() { script src="/assets/live.js" defer {} }
            }
            body {
                a.skip href="#main" { "To the content" }
                header { a href="/" { "AutoBuild" } (bar) @if live.is_some() { span.live #live role="status" {} } }
                main #main data-live=[live] { (content) }
            }
        }
    };
    let mut response = (status, page.into_string()).into_response();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

async fn sign_in_page() -> Response {
    sign_in_form(StatusCode::OK, "")
}

fn sign_in_form(status: StatusCode, wrong: &str) -> Response {
    let content = html! {
        form.sign-in method="post" action="/sign-in" {
            h1 { "Sign in" }
            p { "With the administrator's token: AUTOBUILD_ADMIN_TOKEN, or the one that the service printed at its start." }
            @if !wrong.is_empty() { p.wrong role="alert" { (wrong) } }
            label for="token" { "Administrator's token" }
            input #token name="token" type="password" autocomplete="current-password" required autofocus;
            button { "Sign in" }
        }
    };
    page(status, "Sign in", &html! {}, None, &content)
}

#[derive(Deserialize)]
struct Token {
    token: String,
}

async fn sign_in(
    State(inbox): State<Arc<Inbox>>,
    headers: HeaderMap,
    form: Result<Form<Token>, FormRejection>,
) -> Response {
    let shown = form.map(|Form(form)| form.token).unwrap_or_default();
    match inbox.admin().filter(|admin| is_token(&shown, admin)) {
        Some(admin) => {
            let cookie = Session::begin(admin, inbox.now()).cookie(is_over_tls(&headers));
            (StatusCode::SEE_OTHER, [(LOCATION, "/"), (SET_COOKIE, cookie.as_str())]).into_response()
        }
        None => sign_in_form(StatusCode::FORBIDDEN, "This is not the token."),
    }
}

/// What the proxy in front says: the service itself speaks plain HTTP.
fn is_over_tls(headers: &HeaderMap) -> bool {
    headers.get("x-forwarded-proto").is_some_and(|proto| proto == "https")
}

async fn sign_out(
    State(inbox): State<Arc<Inbox>>,
    headers: HeaderMap,
    form: Result<Form<Token>, FormRejection>,
) -> Response {
    let shown = form.map(|Form(form)| form.token).unwrap_or_default();
    let is_own = |session: &Session| {
        inbox
            .admin()
            .is_some_and(|admin| is_same(&session.form_token(admin), &shown))
    };
    match of(&inbox, &headers) {
        Some(Viewer::SignedIn(session)) if is_own(&session) => {
            let gone = Session::no_cookie();
            (
                StatusCode::SEE_OTHER,
                [(LOCATION, "/sign-in"), (SET_COOKIE, gone.as_str())],
            )
                .into_response()
        }
        Some(Viewer::SignedIn(_) | Viewer::ThisMachine) | None => to_sign_in(),
    }
}
