//! The dashboard: what the service does, for those who show the administrator's token. The server makes the pages, and they
//! work without a script. With one, they follow the work.

mod feature;
mod graph;
mod live;
mod overview;
mod parts;
mod plot;
mod queue;
mod readings;
mod run;
mod sessions;
mod spending;

pub(super) use readings::OpenPages;

use crate::web::{
    Inbox,
    admin::{Peer, Shown},
    dashboard::readings::{Page, Reading},
    inbox::Viewers,
};
use axum::{
    Form, Router,
    extract::{
        Path, Query, Request, State,
        rejection::{FormRejection, PathRejection, QueryRejection},
    },
    http::{
        HeaderMap, HeaderValue, StatusCode,
        header::{
            CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST, LOCATION, ORIGIN, REFERRER_POLICY, RETRY_AFTER,
            SET_COOKIE, X_CONTENT_TYPE_OPTIONS,
        },
    },
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use domain::ids::FeatureKey;
use maud::{DOCTYPE, Markup, html};
use page_parts::session::{Entry, NO_KEY, OTHER_HOST, Reach, Session, is_of_this_machine, is_same};
use serde::Deserialize;
use std::sync::Arc;

/// Only what this service serves itself, and no other page may frame it.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
const ICON: &str = include_str!("icon.svg");

/// The dashboard's routes.
pub(super) fn routes(inbox: &Arc<Inbox>) -> Router<Arc<Inbox>> {
    pages().layer(from_fn_with_state(Arc::clone(inbox), door))
}

/// Where a run on one's own machine shows its work: asks every request for the run's key or the session that it began.
async fn door(State(inbox): State<Arc<Inbox>>, request: Request, next: Next) -> Response {
    let key = match (inbox.viewers(), inbox.admin()) {
        (Viewers::WithKey, Some(admin)) => admin.token(),
        (Viewers::SignedIn, _) | (Viewers::WithKey, None) => return next.run(request).await,
    };
    let refused = |said: &'static str| (StatusCode::FORBIDDEN, said).into_response();
    if !is_of_this_machine(request.headers()) {
        return refused(OTHER_HOST);
    }
    let address = (request.uri().path(), request.uri().query());
    match Entry::of(address, request.headers(), key, inbox.now().0) {
        Entry::In(_) => next.run(request).await,
        Entry::Begins { cookie, to } => (StatusCode::SEE_OTHER, [(LOCATION, to), (SET_COOKIE, cookie)]).into_response(),
        Entry::Refused => refused(NO_KEY),
    }
}

fn pages() -> Router<Arc<Inbox>> {
    Router::new()
        .route("/", get(overview_page))
        .route("/live", get(overview_live))
        .route("/queue", get(queue_page))
        .route("/queue/live", get(queue_live))
        .route("/queue/try-again", post(try_again))
        .route("/spending", get(spending_page))
        .route("/spending/live", get(spending_live))
        .route("/features/{repo}/{issue}/{run}", get(feature_page))
        .route("/features/{repo}/{issue}/{run}/live", get(feature_live))
        .route("/features/{repo}/{issue}/{run}/run", get(run_page))
        .route("/sign-in", get(sign_in_page).post(sign_in))
        .route("/sign-out", post(sign_out))
        .route("/assets/pages.css", get(style))
        .route("/assets/icon.svg", get(icon))
        .route(
            "/assets/live.js",
            get(|| asset("text/javascript; charset=utf-8", page_parts::SCRIPT)),
        )
        .fallback(nowhere)
}

/// The style sheet of every page.
pub(super) async fn style() -> Response {
    asset("text/css; charset=utf-8", page_parts::STYLE).await
}

/// The icon of every page.
pub(super) async fn icon() -> Response {
    asset("image/svg+xml", ICON).await
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

type Key = Result<Path<(u64, u64, u32)>, PathRejection>;

fn key(path: Key) -> Option<FeatureKey> {
    let Path((repo, issue, run)) = path.ok()?;
    format!("{repo}/{issue}/{run}").parse().ok()
}

async fn overview_page(State(inbox): State<Arc<Inbox>>, headers: HeaderMap) -> Response {
    whole(&inbox, &headers, Page::Overview, ("AutoBuild", "/live")).await
}

async fn queue_page(State(inbox): State<Arc<Inbox>>, headers: HeaderMap) -> Response {
    whole(&inbox, &headers, Page::Queue, ("Queue", "/queue/live")).await
}

async fn spending_page(State(inbox): State<Arc<Inbox>>, headers: HeaderMap) -> Response {
    whole(&inbox, &headers, Page::Spending, ("Spending", "/spending/live")).await
}

/// A page as it is now, for who may see it.
async fn whole(inbox: &Arc<Inbox>, headers: &HeaderMap, page: Page, named: (&str, &str)) -> Response {
    match viewer_of(inbox, headers) {
        Some(viewer) => answer(inbox, &viewer, named, &readings::read(inbox, page).await),
        None => to_sign_in(),
    }
}

async fn feature_page(State(inbox): State<Arc<Inbox>>, path: Key, headers: HeaderMap) -> Response {
    let Some(viewer) = viewer_of(&inbox, &headers) else {
        return to_sign_in();
    };
    let Some(key) = key(path) else {
        return not_found(&inbox, Some(&viewer));
    };
    let reading = readings::read(&inbox, Page::Feature(key)).await;
    let live = format!("/features/{key}/live");
    answer(&inbox, &viewer, (&key.shown(), &live), &reading)
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
    let Some(viewer) = viewer_of(&inbox, &headers) else {
        return to_sign_in();
    };
    let (Some(key), Ok(Query(which))) = (key(path), which) else {
        return not_found(&inbox, Some(&viewer));
    };
    match run::content(inbox.engine(), &key, &which.id).await {
        Ok(Some(content)) => page(StatusCode::OK, "A run", &bar(&inbox, Some(&viewer)), None, &content),
        Ok(None) => not_found(&inbox, Some(&viewer)),
        Err(error) => {
            tracing::warn!(%error, "a run's page could not be made");
            let reading = match error.is_unreadable() {
                true => Reading::Unreadable,
                false => Reading::NoDatabase,
            };
            answer(&inbox, &viewer, ("A run", ""), &reading)
        }
    }
}

async fn overview_live(State(inbox): State<Arc<Inbox>>, headers: HeaderMap) -> Response {
    follow(inbox, headers, Page::Overview)
}

async fn queue_live(State(inbox): State<Arc<Inbox>>, headers: HeaderMap) -> Response {
    follow(inbox, headers, Page::Queue)
}

async fn spending_live(State(inbox): State<Arc<Inbox>>, headers: HeaderMap) -> Response {
    follow(inbox, headers, Page::Spending)
}

/// A page as it changes, for who may see it.
fn follow(inbox: Arc<Inbox>, headers: HeaderMap, page: Page) -> Response {
    match viewer_of(&inbox, &headers) {
        Some(_) => live::stream(inbox, page, headers),
        None => StatusCode::UNAUTHORIZED.into_response(),
    }
}

#[derive(Default, Deserialize)]
struct WhichStep {
    token: String,
    id: String,
}

/// Tries a step again that was given up: the operator asks, on a form of ours.
async fn try_again(
    State(inbox): State<Arc<Inbox>>,
    headers: HeaderMap,
    form: Result<Form<WhichStep>, FormRejection>,
) -> Response {
    let Some(viewer) = viewer_of(&inbox, &headers) else {
        return to_sign_in();
    };
    let Form(which) = form.unwrap_or_default();
    let is_ours = form_token(&inbox, &viewer).is_some_and(|token| is_same(&token, &which.token));
    if !is_ours || !is_from_here(&headers) {
        let content = html! {
            h1 { "This form is not of this page" }
            p { "Open " a href="/queue" { "the queue" } " and press the button there." }
        };
        return page(
            StatusCode::FORBIDDEN,
            "Not allowed",
            &bar(&inbox, Some(&viewer)),
            None,
            &content,
        );
    }
    match inbox.engine().try_again(&which.id).await {
        Ok(tried) => {
            tracing::info!(id = %which.id, ?tried, "an operator wants {} tried again", which.id);
            (StatusCode::SEE_OTHER, [(LOCATION, "/queue")]).into_response()
        }
        Err(error) => {
            tracing::warn!(%error, "a step could not be tried again");
            answer(&inbox, &viewer, ("Queue", ""), &Reading::NoDatabase)
        }
    }
}

async fn feature_live(State(inbox): State<Arc<Inbox>>, path: Key, headers: HeaderMap) -> Response {
    match key(path) {
        Some(key) => follow(inbox, headers, Page::Feature(key)),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

/// Whatever is at no address of ours.
async fn nowhere(State(inbox): State<Arc<Inbox>>, headers: HeaderMap) -> Response {
    not_found(&inbox, viewer_of(&inbox, &headers).as_ref())
}

/// The session of who asks; none: somebody who may not see it.
fn viewer_of(inbox: &Inbox, headers: &HeaderMap) -> Option<Session> {
    let session = Session::of(headers, inbox.admin()?.token(), inbox.now().0)?;
    (!inbox.pages().sessions.has_ended(&session)).then_some(session)
}

fn to_sign_in() -> Response {
    (StatusCode::SEE_OTHER, [(LOCATION, "/sign-in")]).into_response()
}

/// What the forms of a viewer's pages carry.
fn form_token(inbox: &Inbox, viewer: &Session) -> Option<String> {
    inbox.admin().map(|admin| viewer.form_token(admin.token()))
}

/// The links of every page.
fn bar(inbox: &Inbox, viewer: Option<&Session>) -> Markup {
    let token = match inbox.viewers() {
        Viewers::SignedIn => viewer.and_then(|viewer| form_token(inbox, viewer)),
        Viewers::WithKey => None,
    };
    html! {
        nav aria-label="Pages" {
            a href="/" { "Work" }
            a href="/queue" { "Queue" }
            a href="/spending" { "Spending" }
            @if let Some(token) = token {
                form method="post" action="/sign-out" {
                    input type="hidden" name="token" value=(token);
                    button { "Sign out" }
                }
            }
        }
    }
}

/// What a page shows of a reading.
fn content(inbox: &Inbox, viewer: &Session, reading: &Reading) -> Markup {
    let (web, secrets) = (inbox.engine().autobuild.urls().web(), &inbox.engine().secrets);
    let form = parts::Form::new(form_token(inbox, viewer).unwrap_or_default());
    match reading {
        Reading::Overview(view) => overview::content(secrets, inbox.viewers(), view),
        Reading::Feature(view, work) => feature::content(web, secrets, &form, (view, work)),
        Reading::Queue(queue) => queue::content(secrets, &form, queue),
        Reading::Spending(figures) => spending::content(figures),
        Reading::Gone => html! { h1 { "There is no such page" } p { a href="/" { "All work" } } },
        Reading::Unreadable => html! {
            h1 { "This page cannot be shown" }
            p { "AutoBuild cannot read what it stored: another version may have written it. Its log names the cause." }
            p { a href="/" { "All work" } }
        },
        Reading::NoDatabase => html! { h1 { "The database does not answer" } p { "Reload the page in a moment." } },
    }
}

/// A page, or why there is none.
fn answer(inbox: &Inbox, viewer: &Session, (title, live): (&str, &str), reading: &Reading) -> Response {
    let (bar, content) = (bar(inbox, Some(viewer)), content(inbox, viewer, reading));
    let (status, title, live) = match reading {
        Reading::Overview(_) | Reading::Feature(..) | Reading::Queue(_) | Reading::Spending(_) => {
            (StatusCode::OK, title, Some(live))
        }
        Reading::Gone => (StatusCode::NOT_FOUND, "Not found", None),
        Reading::Unreadable => (StatusCode::INTERNAL_SERVER_ERROR, "Unreadable", None),
        Reading::NoDatabase => (StatusCode::SERVICE_UNAVAILABLE, "Not now", None),
    };
    page(status, title, &bar, live, &content)
}

fn not_found(inbox: &Inbox, viewer: Option<&Session>) -> Response {
    let content = html! { h1 { "There is no such page" } p { a href="/" { "All work" } } };
    let bar = bar(inbox, viewer);
    page(StatusCode::NOT_FOUND, "Not found", &bar, None, &content)
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
    peer: Peer,
    headers: HeaderMap,
    form: Result<Form<Token>, FormRejection>,
) -> Response {
    let shown = form.map(|Form(form)| form.token).unwrap_or_default();
    let Some(admin) = inbox.admin() else {
        return sign_in_form(StatusCode::FORBIDDEN, "This is not the token.");
    };
    match admin.judge(&shown, peer, inbox.now()) {
        Shown::Right => {
            let session = inbox.pages().sessions.begin(admin.token(), inbox.now());
            let cookie = session.cookie(reach(&headers));
            (StatusCode::SEE_OTHER, [(LOCATION, "/"), (SET_COOKIE, cookie.as_str())]).into_response()
        }
        Shown::Wrong => sign_in_form(StatusCode::FORBIDDEN, "This is not the token."),
        Shown::TooSoon { seconds } => {
            let wrong = format!("Too many wrong tokens came from this address. Try again in {seconds} s.");
            let mut response = sign_in_form(StatusCode::TOO_MANY_REQUESTS, &wrong);
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
            response
        }
    }
}

/// Whether a browser that says where a form comes from names this very address.
fn is_from_here(headers: &HeaderMap) -> bool {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    match (text(ORIGIN), text(HOST)) {
        (None, _) => true,
        (Some(origin), Some(host)) => origin.split_once("://").is_some_and(|(_, from)| from == host),
        (Some(_), None) => false,
    }
}

/// What the proxy in front says: the service itself speaks plain HTTP.
fn reach(headers: &HeaderMap) -> Reach {
    match headers.get("x-forwarded-proto").is_some_and(|proto| proto == "https") {
        true => Reach::Tls,
        false => Reach::Plain,
    }
}

async fn sign_out(
    State(inbox): State<Arc<Inbox>>,
    headers: HeaderMap,
    form: Result<Form<Token>, FormRejection>,
) -> Response {
    let shown = form.map(|Form(form)| form.token).unwrap_or_default();
    let (Some(session), Some(admin)) = (viewer_of(&inbox, &headers), inbox.admin()) else {
        return to_sign_in();
    };
    if !is_same(&session.form_token(admin.token()), &shown) {
        return to_sign_in();
    }
    let gone = [(LOCATION, "/sign-in".to_owned()), (SET_COOKIE, session.no_cookie())];
    inbox.pages().sessions.end(session, admin.token(), inbox.now());
    (StatusCode::SEE_OTHER, gone).into_response()
}
