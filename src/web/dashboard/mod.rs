//! The dashboard, which shows the service's work to people who may see it. The server renders the pages, and they work
//! without a script. With a script, they follow the work.

mod doctor;
mod feature;
mod graph;
mod live;
mod overview;
mod parts;
mod plot;
mod queue;
mod read_access;
pub(super) mod readings;
mod run;
mod sessions;
mod sign_in;
mod spending;
mod streams;

use crate::{
    engine,
    engine::own_thread::on_own_thread,
    web::{
        dashboard::{
            readings::{Page, Reading},
            sessions::{NotIn, Viewer},
        },
        frame::html_page,
        inbox::{Inbox, Viewers},
    },
};
use axum::{
    Form, Router,
    extract::{
        Path, Query, Request, State,
        rejection::{FormRejection, PathRejection, QueryRejection},
    },
    http::{
        HeaderMap, HeaderName, StatusCode,
        header::{
            CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST, LOCATION, ORIGIN, REFERRER_POLICY, REFRESH,
            SET_COOKIE, X_CONTENT_TYPE_OPTIONS,
        },
    },
    middleware::{Next, from_fn, from_fn_with_state},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use domain::ids::FeatureKey;
use maud::{Markup, html};
use page_parts::session::{Entry, NO_KEY, OTHER_HOST, is_of_this_machine, is_same, refresh};
use serde::Deserialize;
use std::sync::Arc;

/// The content security policy: a page loads only resources of this service, and no other page may frame it.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
const ICON: &str = include_str!("icon.svg");

pub(super) fn routes(inbox: &Arc<Inbox>) -> Router<Arc<Inbox>> {
    pages().layer(from_fn(answered)).layer(from_fn_with_state(Arc::clone(inbox), door))
}

/// Answers on a thread of its own, so that a page with much text delays no renewal of a lease.
async fn answered(request: Request, next: Next) -> Response {
    on_own_thread(next.run(request)).await
}

/// Guards the dashboard of a run on a person's own machine: each request needs the run's key, or the session that the
/// key began.
async fn door(State(inbox): State<Arc<Inbox>>, request: Request, next: Next) -> Response {
    let key = match (inbox.viewers, &inbox.admin) {
        (Viewers::WithKey, Some(admin)) => &admin.token,
        (Viewers::SignedIn, _) | (Viewers::WithKey, None) => return next.run(request).await,
    };
    let refused = |said: &'static str| (StatusCode::FORBIDDEN, said).into_response();
    if !is_of_this_machine(request.headers()) {
        return refused(OTHER_HOST);
    }
    let address = request.uri();
    match Entry::of(address.path(), address.query(), request.headers(), key, inbox.now().0) {
        Entry::In(_) => next.run(request).await,
        Entry::Begins { cookie, to } => ([(REFRESH, refresh(&to)), (SET_COOKIE, cookie)], "").into_response(),
        Entry::Refused => refused(NO_KEY),
    }
}

fn pages() -> Router<Arc<Inbox>> {
    let router = Router::new()
        .route("/queue/try-again", post(try_again))
        .route("/features/{repo}/{issue}/{run}", get(feature_page))
        .route("/features/{repo}/{issue}/{run}/live", get(feature_live))
        .route("/features/{repo}/{issue}/{run}/run", get(run_page))
        .route("/doctor", get(doctor::doctor_page))
        .route("/sign-in", get(sign_in::sign_in_page).post(sign_in::sign_in))
        .route("/sign-in/github", get(sign_in::with_github))
        .route("/sign-out", post(sign_in::sign_out))
        .route("/assets/pages.css", get(style))
        .route("/assets/icon.svg", get(icon))
        .route("/assets/live.js", get(script))
        .fallback(nowhere);
    let router = with_page(router, Page::Overview, "AutoBuild", "/", "/live");
    let router = with_page(router, Page::Queue, "Queue", "/queue", "/queue/live");
    with_page(router, Page::Spending, "Spending", "/spending", "/spending/live")
}

/// Adds the routes of a page about all work: the page, and the stream of its changes.
fn with_page(
    router: Router<Arc<Inbox>>,
    page: Page,
    title: &'static str,
    path: &str,
    live: &'static str,
) -> Router<Arc<Inbox>> {
    let whole = async move |State(inbox): State<Arc<Inbox>>, viewer: Viewer| {
        let reading = read_access::read(&inbox, &viewer, page).await;
        answer(&inbox, &viewer, title, live, &reading)
    };
    let followed = async move |State(inbox): State<Arc<Inbox>>, viewer: Follower, headers: HeaderMap| {
        follow(inbox, viewer, headers, page).await
    };
    router.route(path, get(whole)).route(live, get(followed))
}

pub(super) async fn style() -> Response {
    asset("text/css; charset=utf-8", page_parts::STYLE)
}

pub(super) async fn icon() -> Response {
    asset("image/svg+xml", ICON)
}

async fn script() -> Response {
    asset("text/javascript; charset=utf-8", page_parts::SCRIPT)
}

fn asset(kind: &'static str, text: &'static str) -> Response {
    let headers = [(CONTENT_TYPE, kind), (CACHE_CONTROL, "max-age=300"), (X_CONTENT_TYPE_OPTIONS, "nosniff")];
    (headers, text).into_response()
}

type FeaturePath = Result<Path<(u64, u64, u32)>, PathRejection>;

fn key(path: FeaturePath) -> Option<FeatureKey> {
    let Path((repo, issue, run)) = path.ok()?;
    format!("{repo}/{issue}/{run}").parse().ok()
}

async fn feature_page(State(inbox): State<Arc<Inbox>>, viewer: Viewer, path: FeaturePath) -> Response {
    let Some(key) = key(path) else {
        return not_found(&inbox, Some(&viewer));
    };
    let reading = read_access::read(&inbox, &viewer, Page::Feature(key)).await;
    let live = format!("/features/{key}/live");
    answer(&inbox, &viewer, &key.name(), &live, &reading)
}

#[derive(Deserialize)]
struct WhichRun {
    id: String,
}

async fn run_page(
    State(inbox): State<Arc<Inbox>>,
    viewer: Viewer,
    path: FeaturePath,
    which: Result<Query<WhichRun>, QueryRejection>,
) -> Response {
    let (Some(key), Ok(Query(which))) = (key(path), which) else {
        return not_found(&inbox, Some(&viewer));
    };
    if !viewer.sees_everything() {
        let reading = read_access::read(&inbox, &viewer, Page::Feature(key)).await;
        if !matches!(reading, Reading::Feature(..)) {
            return answer(&inbox, &viewer, "A run", "", &reading);
        }
    }
    match run::content(&inbox.engine, &key, &which.id).await {
        Ok(Some(content)) => page(StatusCode::OK, "A run", &bar(&inbox, Some(&viewer)), None, &content),
        Ok(None) => not_found(&inbox, Some(&viewer)),
        Err(error) => {
            tracing::warn!(%error, "a run's page could not be made");
            answer(&inbox, &viewer, "A run", "", &Reading::from(&error))
        }
    }
}

/// The viewer of a stream. Unlike a page, a script is not redirected to the sign-in page.
type Follower = Result<Viewer, NotIn>;

/// Streams a page as it changes, limited to the content that the viewer may see.
async fn follow(inbox: Arc<Inbox>, viewer: Follower, headers: HeaderMap, page: Page) -> Response {
    let viewer = match viewer {
        Ok(viewer) => viewer,
        Err(NotIn::SignedOut { .. }) => return StatusCode::UNAUTHORIZED.into_response(),
        Err(NotIn::NoDatabase) => return StatusCode::SERVICE_UNAVAILABLE.into_response(),
    };
    if !viewer.sees_everything() && read_access::read(&inbox, &viewer, page).await == Reading::Gone {
        return StatusCode::NOT_FOUND.into_response();
    }
    live::stream(inbox, page, &viewer, headers).await
}

#[derive(Default, Deserialize)]
struct WhichStep {
    token: String,
    id: String,
}

/// Tries a failed step again, at an operator's request from a form of ours.
async fn try_again(
    State(inbox): State<Arc<Inbox>>,
    viewer: Viewer,
    headers: HeaderMap,
    form: Result<Form<WhichStep>, FormRejection>,
) -> Response {
    if !viewer.sees_everything() {
        return not_found(&inbox, Some(&viewer));
    }
    let Form(which) = form.unwrap_or_default();
    let is_ours = form_token(&inbox, &viewer).is_some_and(|token| is_same(&token, &which.token));
    if !is_ours || !is_from_here(&headers) {
        let content = html! {
            h1 { "This form is not of this page" }
            p { "Open " a href="/queue" { "the queue" } " and press the button there." }
        };
        let bar = bar(&inbox, Some(&viewer));
        return page(StatusCode::FORBIDDEN, "Not allowed", &bar, None, &content);
    }
    let engine = &inbox.engine;
    match engine::queue::try_again(&engine.store, &which.id, engine.now()).await {
        Ok(tried) => {
            tracing::info!(id = %which.id, ?tried, "an operator wants {} tried again", which.id);
            (StatusCode::SEE_OTHER, [(LOCATION, "/queue")]).into_response()
        }
        Err(error) => {
            tracing::warn!(%error, "a step could not be tried again");
            answer(&inbox, &viewer, "Queue", "", &Reading::NoDatabase)
        }
    }
}

async fn feature_live(
    State(inbox): State<Arc<Inbox>>,
    viewer: Follower,
    path: FeaturePath,
    headers: HeaderMap,
) -> Response {
    match key(path) {
        Some(key) => follow(inbox, viewer, headers, Page::Feature(key)).await,
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

async fn nowhere(State(inbox): State<Arc<Inbox>>, viewer: Result<Viewer, NotIn>) -> Response {
    not_found(&inbox, viewer.ok().as_ref())
}

impl IntoResponse for NotIn {
    fn into_response(self) -> Response {
        match self {
            Self::SignedOut { wanted } => {
                let to = sign_in::address(wanted.as_deref().unwrap_or("/"));
                (StatusCode::SEE_OTHER, [(LOCATION, to)]).into_response()
            }
            Self::NoDatabase => no_database(),
        }
    }
}

/// Returns the page for a viewer whose session cannot be checked.
fn no_database() -> Response {
    page(StatusCode::SERVICE_UNAVAILABLE, "Not now", &html! {}, None, &unanswered())
}

fn unanswered() -> Markup {
    html! { h1 { "The database does not answer" } p { "Reload the page in a moment." } }
}

fn no_such_page() -> Markup {
    html! { h1 { "There is no such page" } p { a href="/" { "All work" } } }
}

/// Returns the token that the forms on a viewer's pages carry.
fn form_token(inbox: &Inbox, viewer: &Viewer) -> Option<String> {
    inbox.admin.as_ref().map(|admin| viewer.session.form_token(&admin.signing))
}

fn bar(inbox: &Inbox, viewer: Option<&Viewer>) -> Markup {
    let token = match inbox.viewers {
        Viewers::SignedIn => viewer.and_then(|viewer| form_token(inbox, viewer)),
        Viewers::WithKey => None,
    };
    html! {
        nav aria-label="Pages" {
            a href="/" { "Work" }
            @if viewer.is_none_or(Viewer::sees_everything) {
                a href="/queue" { "Queue" }
                a href="/spending" { "Spending" }
            }
            @if viewer.is_some_and(|viewer| doctor::is_for(inbox, viewer)) { a href="/doctor" { "Doctor" } }
            @if let Some(token) = token {
                form method="post" action="/sign-out" {
                    input type="hidden" name="token" value=(token);
                    button { "Sign out" }
                }
            }
        }
    }
}

fn content(inbox: &Inbox, viewer: &Viewer, reading: &Reading) -> Markup {
    let (web, secrets) = (inbox.engine.autobuild.urls.web(), &inbox.engine.secrets);
    let acting = Some(viewer).filter(|viewer| viewer.sees_everything());
    let token = acting.and_then(|viewer| form_token(inbox, viewer));
    let token = token.as_deref();
    match reading {
        Reading::Overview(view, extent) => overview::content(secrets, inbox.viewers, view, *extent),
        Reading::Feature(view, work) => feature::FeaturePage { web, secrets, token, view, work }.page(),
        Reading::Queue(queue, replay, sweep) => queue::content(secrets, token, queue, replay, sweep),
        Reading::Spending(figures) => spending::content(figures),
        Reading::Gone => no_such_page(),
        Reading::Unreadable => html! {
            h1 { "This page cannot be shown" }
            p { "AutoBuild cannot read what it stored: another version may have written it. Its log names the cause." }
            p { a href="/" { "All work" } }
        },
        Reading::NoDatabase => unanswered(),
        Reading::Undecided => html! {
            h1 { "GitHub does not say what you may see" }
            p { "Reload the page in a moment." }
        },
    }
}

/// Returns a page, or the reason why there is none.
fn answer(inbox: &Inbox, viewer: &Viewer, title: &str, live: &str, reading: &Reading) -> Response {
    let (bar, content) = (bar(inbox, Some(viewer)), content(inbox, viewer, reading));
    let (status, title, live) = match reading {
        Reading::Overview(..) | Reading::Feature(..) | Reading::Queue(..) | Reading::Spending(_) => {
            (StatusCode::OK, title, Some(live))
        }
        Reading::Gone => (StatusCode::NOT_FOUND, "Not found", None),
        Reading::Unreadable => (StatusCode::INTERNAL_SERVER_ERROR, "Unreadable", None),
        Reading::NoDatabase | Reading::Undecided => (StatusCode::SERVICE_UNAVAILABLE, "Not now", None),
    };
    page(status, title, &bar, live, &content)
}

fn not_found(inbox: &Inbox, viewer: Option<&Viewer>) -> Response {
    let bar = bar(inbox, viewer);
    page(StatusCode::NOT_FOUND, "Not found", &bar, None, &no_such_page())
}

fn page(status: StatusCode, title: &str, bar: &Markup, live: Option<&str>, content: &Markup) -> Response {
    let body = html! {
        header { a href="/" { "AutoBuild" } (bar) @if live.is_some() { span.live #live role="status" {} } }
        main #main data-live=[live] { (content) }
    };
    let page = html_page(title, live.map(|_| "/assets/live.js"), &body);
    let headers = [
        (CONTENT_TYPE, "text/html; charset=utf-8"),
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        // Without a referrer, a browser would not send the form's origin either.
        (REFERRER_POLICY, "same-origin"),
        (CACHE_CONTROL, "no-store"),
    ];
    (status, headers, page).into_response()
}

/// `true` if the browser says that a form comes from this very site, or says nothing. `Sec-Fetch-Site` counts first,
/// since a proxy may have changed the host's name.
fn is_from_here(headers: &HeaderMap) -> bool {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    if let Some(site) = text(HeaderName::from_static("sec-fetch-site")) {
        return site == "same-origin";
    }
    match (text(ORIGIN), text(HOST)) {
        (None, _) => true,
        (Some(origin), Some(host)) => origin.split_once("://").is_some_and(|(_, from)| from == host),
        (Some(_), None) => false,
    }
}

#[cfg(test)]
mod tests {
    use domain::{
        feature::{
            Commands, Discussion, Feature, Mode, PlanApproval, PlanKind, Records, Rules, Snapshot, Trust,
            WaivedConclusion, step,
        },
        ids::{FeatureKey, InstallationId, Millis, User, UserId},
        task::MergePolicy,
    };

    pub(super) fn labelled(key: FeatureKey, installation: InstallationId, title: &str) -> Feature {
        let person = User { id: UserId(33), login: "ada".to_owned() };
        let snapshot = Snapshot {
            title: title.to_owned(),
            body: String::new(),
            author: person.clone(),
            labelled_by: person,
            at: Millis(0),
            requested_at: Millis(0),
            trust: Trust::Writers,
            wanted: PlanKind::Plan,
            parts: text::visible::HiddenParts::default(),
            discussion: Discussion::default(),
        };
        let rules = Rules {
            max_turns: 5,
            max_parallel_tasks: 2,
            merge: MergePolicy::Auto,
            plan_approval: PlanApproval::Never,
            mode: Mode::default(),
            ci: domain::ci::CiPolicy::default(),
            inquiries: domain::inquiry::InquiryPolicy::default(),
            records: Records::default(),
            commands: Commands::default(),
            titles: domain::titles::TitleForm::default(),
            waived: WaivedConclusion::default(),
        };
        step::labelled(key, installation, snapshot, rules).feature
    }
}
