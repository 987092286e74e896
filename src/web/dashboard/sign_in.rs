//! Signing in: with the administrator's token, or with GitHub, which tells who somebody is. A sign-in with GitHub is bound
//! to the browser that began it, and nothing is kept of the person's token.

use crate::{
    github::SignInError,
    web::{
        Inbox,
        admin::{Peer, Shown},
        dashboard::{Viewer, not_found, page, sessions::Who, to_sign_in, viewer_of},
    },
};
use axum::{
    Form,
    extract::{
        Query, State,
        rejection::{FormRejection, QueryRejection},
    },
    http::{
        HeaderMap, HeaderValue, StatusCode,
        header::{LOCATION, RETRY_AFTER, SET_COOKIE},
    },
    response::{AppendHeaders, IntoResponse, Response},
};
use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use domain::ids::{Millis, User};
use maud::html;
use page_parts::session::{Reach, cookies, is_same, signed};
use secrecy::SecretString;
use serde::Deserialize;
use sha2::{Digest, Sha256};
use std::{sync::Arc, time::Duration};

/// Where a sign-in with GitHub begins, and where GitHub sends the browser back to.
const WITH_GITHUB: &str = "/sign-in/github";
/// The cookie of a sign-in that has begun.
const BEGUN: &str = "autobuild_sign_in";
/// How long it may take, in milliseconds: as long as GitHub's codes are good for.
const TAKES: i64 = 10 * 60_000;
/// How long GitHub is waited for.
const PATIENCE: Duration = Duration::from_secs(15);

pub(super) async fn sign_in_page(State(inbox): State<Arc<Inbox>>) -> Response {
    sign_in_form(&inbox, StatusCode::OK, "")
}

fn sign_in_form(inbox: &Inbox, status: StatusCode, wrong: &str) -> Response {
    let content = html! {
        form.sign-in method="post" action="/sign-in" {
            h1 { "Sign in" }
            @if !wrong.is_empty() { p.wrong role="alert" { (wrong) } }
            @if inbox.oauth().is_some() {
                p { a.button href=(WITH_GITHUB) { "Sign in with GitHub" } }
                p.muted { "You see the work of repositories that you may read there." }
                h2 { "Operators" }
            }
            p { "With the administrator's token: AUTOBUILD_ADMIN_TOKEN, or the one that the service printed at its start." }
            label for="token" { "Administrator's token" }
            input #token name="token" type="password" autocomplete="current-password" required;
            button { "Sign in" }
        }
    };
    page(status, "Sign in", &html! {}, None, &content)
}

#[derive(Deserialize)]
pub(super) struct Token {
    token: String,
}

pub(super) async fn sign_in(
    State(inbox): State<Arc<Inbox>>,
    peer: Peer,
    headers: HeaderMap,
    form: Result<Form<Token>, FormRejection>,
) -> Response {
    let shown = form.map(|Form(form)| form.token).unwrap_or_default();
    let Some(admin) = inbox.admin() else {
        return sign_in_form(&inbox, StatusCode::FORBIDDEN, "This is not the token.");
    };
    match admin.judge(&shown, peer, inbox.now()) {
        Shown::Right => {
            let session = inbox
                .pages()
                .sessions
                .begin(admin.signing(), inbox.now(), &Who::Operator);
            let cookie = session.cookie(reach(&headers));
            (StatusCode::SEE_OTHER, [(LOCATION, "/"), (SET_COOKIE, cookie.as_str())]).into_response()
        }
        Shown::Wrong => sign_in_form(&inbox, StatusCode::FORBIDDEN, "This is not the token."),
        Shown::TooSoon { seconds } => {
            let wrong = format!("Too many wrong tokens came from this address. Try again in {seconds} s.");
            let mut response = sign_in_form(&inbox, StatusCode::TOO_MANY_REQUESTS, &wrong);
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
            response
        }
    }
}

/// What the proxy in front says: the service itself speaks plain HTTP.
fn reach(headers: &HeaderMap) -> Reach {
    match headers.get("x-forwarded-proto").is_some_and(|proto| proto == "https") {
        true => Reach::Tls,
        false => Reach::Plain,
    }
}

pub(super) async fn sign_out(
    State(inbox): State<Arc<Inbox>>,
    headers: HeaderMap,
    form: Result<Form<Token>, FormRejection>,
) -> Response {
    let shown = form.map(|Form(form)| form.token).unwrap_or_default();
    let (Some(Viewer::Whole(session) | Viewer::Person(session, _)), Some(admin)) =
        (viewer_of(&inbox, &headers), inbox.admin())
    else {
        return to_sign_in();
    };
    if !is_same(&session.form_token(admin.signing()), &shown) {
        return to_sign_in();
    }
    let gone = [(LOCATION, "/sign-in".to_owned()), (SET_COOKIE, session.no_cookie())];
    inbox.pages().sessions.end(session, admin.signing(), inbox.now());
    (StatusCode::SEE_OTHER, gone).into_response()
}

/// What GitHub sends a browser back with; nothing of it where a sign-in begins.
#[derive(Deserialize)]
pub(super) struct Back {
    code: Option<String>,
    state: Option<String>,
    error: Option<String>,
}

/// `GET /sign-in/github`: both ends of a sign-in with GitHub.
pub(super) async fn with_github(
    State(inbox): State<Arc<Inbox>>,
    headers: HeaderMap,
    back: Result<Query<Back>, QueryRejection>,
) -> Response {
    let (Some(_), Some(admin), Ok(Query(back))) = (inbox.oauth(), inbox.admin(), back) else {
        return not_found(&inbox, viewer_of(&inbox, &headers).as_ref());
    };
    let admin = admin.signing();
    let Back { code, state, error } = back;
    if (&code, &state, &error) == (&None, &None, &None) {
        return begun(&inbox, admin, reach(&headers));
    }
    let state = state.filter(|state| has_begun(&headers, admin, state, inbox.now()));
    let (Some(state), refused) = (state, error) else {
        let wrong = "This sign-in did not begin in this browser, or took too long. Try again.";
        return sign_in_form(&inbox, StatusCode::BAD_REQUEST, wrong);
    };
    let Some(code) = code.filter(|_| refused.is_none()) else {
        return ended(
            &inbox,
            StatusCode::FORBIDDEN,
            "You did not let GitHub tell who you are.",
        );
    };
    match named(&inbox, &code, &verifier(admin, &state)).await {
        Ok(person) => {
            tracing::info!(person = %person.id, "{} signed in", person.login);
            let session = inbox.pages().sessions.begin(admin, inbox.now(), &Who::Person(person));
            let cookies = [session.cookie(reach(&headers)), no_longer()];
            let cookies = AppendHeaders(cookies.map(|cookie| (SET_COOKIE, cookie)));
            (StatusCode::SEE_OTHER, [(LOCATION, "/")], cookies).into_response()
        }
        Err((status, wrong)) => ended(&inbox, status, wrong),
    }
}

/// Sends the browser to GitHub, with what it has to bring back.
fn begun(inbox: &Inbox, admin: &SecretString, reach: Reach) -> Response {
    let (now, number) = (inbox.now(), inbox.pages().sessions.number());
    let state = signed(admin, &format!("sign-in {} {number}", now.0));
    let until = now.plus(TAKES).0;
    let challenge = BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(verifier(admin, &state)));
    let page = inbox
        .oauth()
        .and_then(|app| inbox.engine().autobuild.sign_in_page(app, &state, &challenge));
    let Some(page) = page else {
        return to_sign_in();
    };
    let signature = signed(admin, &format!("begun {state} {until}"));
    let secure = match reach {
        Reach::Tls => "; Secure",
        Reach::Plain | Reach::ThisMachine => "",
    };
    let cookie = format!(
        "{BEGUN}={state}.{until}.{signature}; Path={WITH_GITHUB}; HttpOnly; SameSite=Lax; Max-Age={}{secure}",
        TAKES / 1_000
    );
    let to = [(LOCATION, page.to_string()), (SET_COOKIE, cookie)];
    (StatusCode::SEE_OTHER, to).into_response()
}

/// What only who began the sign-in can show to GitHub (PKCE).
fn verifier(admin: &SecretString, state: &str) -> String {
    signed(admin, &format!("verifier {state}"))
}

/// Whether this browser began the sign-in with this state, not long ago.
fn has_begun(headers: &HeaderMap, admin: &SecretString, state: &str, now: Millis) -> bool {
    cookies(headers, BEGUN).any(|value| {
        let mut parts = value.splitn(3, '.');
        let (Some(own), Some(until), Some(signature)) = (parts.next(), parts.next(), parts.next()) else {
            return false;
        };
        let is_current = until.parse().is_ok_and(|until: i64| now.0 < until);
        let is_ours = is_same(signature, &signed(admin, &format!("begun {own} {until}")));
        is_current && is_ours && is_same(own, state)
    })
}

/// The header that takes back what a sign-in began with.
fn no_longer() -> String {
    format!("{BEGUN}=; Path={WITH_GITHUB}; HttpOnly; SameSite=Lax; Max-Age=0")
}

/// The sign-in page with what went wrong; the sign-in is over.
fn ended(inbox: &Inbox, status: StatusCode, wrong: &str) -> Response {
    let mut response = sign_in_form(inbox, status, wrong);
    if let Ok(cookie) = HeaderValue::from_str(&no_longer()) {
        response.headers_mut().append(SET_COOKIE, cookie);
    }
    response
}

/// Whom GitHub names for a code, or what people are told.
async fn named(inbox: &Inbox, code: &str, verifier: &str) -> Result<User, (StatusCode, &'static str)> {
    let silent = (
        StatusCode::SERVICE_UNAVAILABLE,
        "GitHub does not answer. Try again in a moment.",
    );
    let Some(app) = inbox.oauth() else { return Err(silent) };
    let asked = Box::pin(inbox.engine().autobuild.signed_in(app, code, verifier));
    match tokio::time::timeout(PATIENCE, asked).await {
        Ok(Ok(person)) if is_a_login(&person.login) => Ok(person),
        Ok(Err(SignInError::Code)) => Err((
            StatusCode::FORBIDDEN,
            "GitHub does not take this sign-in a second time. Try again.",
        )),
        Ok(Err(SignInError::Refused(why))) => {
            tracing::warn!(
                "GitHub refuses sign-ins ({why}): compare AUTOBUILD_CLIENT_ID and AUTOBUILD_CLIENT_SECRET with the App's page"
            );
            let wrong = "GitHub refuses the sign-ins of this service. Its log names the cause.";
            Err((StatusCode::BAD_GATEWAY, wrong))
        }
        Ok(Err(SignInError::Github(error))) => {
            tracing::warn!(%error, "GitHub did not say who signs in");
            Err(silent)
        }
        Ok(Ok(_)) | Err(_) => Err(silent),
    }
}

/// What a cookie can hold, and an address.
fn is_a_login(login: &str) -> bool {
    !login.is_empty()
        && login.len() <= 100
        && login
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
}
