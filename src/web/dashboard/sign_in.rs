//! Signs people in with the administrator's token, or with GitHub, which names the person. A sign-in with GitHub is
//! bound to the browser that began it, and the person's token is not kept.

use crate::{
    github::SignInError,
    store::NameUse,
    web::{
        dashboard::{
            no_database, not_found, page, sessions,
            sessions::{NotIn, SessionHolder, Viewer},
        },
        inbox::Inbox,
        token_tries::TokenCheck,
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
        header::{LOCATION, SET_COOKIE},
    },
    response::{AppendHeaders, IntoResponse, Response},
};
use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use domain::ids::{Millis, User};
use maud::html;
use page_parts::session::{Reach, cookies, is_same, set_cookie, signed};
use secrecy::SecretString;
use serde::Deserialize;
use sha2::{Digest, Sha256};
use std::{sync::Arc, time::Duration};
use url::form_urlencoded::byte_serialize;

/// The address at which a sign-in with GitHub begins, and to which GitHub sends the browser back.
const WITH_GITHUB: &str = "/sign-in/github";
/// The cookie of a sign-in in progress.
const BEGUN: &str = "autobuild_sign_in";
/// The time limit of a sign-in in milliseconds: the lifetime of GitHub's codes.
const TAKES: i64 = 10 * 60_000;
/// The time limit for GitHub's answer.
const PATIENCE: Duration = Duration::from_secs(15);

/// The longest address, in bytes, to which a person is brought back.
const LONGEST: usize = 500;

/// The page to which people go after the sign-in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "String")]
pub(super) struct Goal(String);

impl From<String> for Goal {
    /// Accepts a path on this site, and otherwise uses the first page. Only plain characters are accepted, so no
    /// browser can read another site into it.
    fn from(text: String) -> Self {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.~?=&%+".contains(&byte);
        let is_own = text.starts_with('/') && !text.starts_with("//") && text.bytes().all(is_plain);
        if is_own && text.len() <= LONGEST { Self(text) } else { Self::default() }
    }
}

impl Goal {
    fn path(&self) -> &str {
        match self.0.as_str() {
            "" => "/",
            path => path,
        }
    }

    /// Returns `address` with the goal as its parameter.
    fn by(&self, address: &str) -> String {
        match self.path() {
            "/" => address.to_owned(),
            path => format!("{address}?to={}", byte_serialize(path.as_bytes()).collect::<String>()),
        }
    }
}

/// Returns the address at which people sign in who wanted this page.
pub(super) fn address(wanted: &str) -> String {
    Goal::from(wanted.to_owned()).by("/sign-in")
}

#[derive(Default, Deserialize)]
pub(super) struct ReturnAddress {
    #[serde(default)]
    to: Goal,
}

pub(super) async fn sign_in_page(
    State(inbox): State<Arc<Inbox>>,
    to: Result<Query<ReturnAddress>, QueryRejection>,
) -> Response {
    let Query(ReturnAddress { to }) = to.unwrap_or_default();
    sign_in_form(&inbox, StatusCode::OK, "", &to)
}

fn sign_in_form(inbox: &Inbox, status: StatusCode, wrong: &str, to: &Goal) -> Response {
    let content = html! {
        form.sign-in method="post" action="/sign-in" {
            h1 { "Sign in" }
            @if !wrong.is_empty() { p.wrong role="alert" { (wrong) } }
            @if inbox.oauth.is_some() {
                p { a.button href=(to.by(WITH_GITHUB)) { "Sign in with GitHub" } }
                p.muted { "You see the work of repositories that you may read there." }
                h2 { "Operators" }
            }
            p { "With the administrator's token: AUTOBUILD_ADMIN_TOKEN, or the one that the service printed at its start." }
            label for="token" { "Administrator's token" }
            input #token name="token" type="password" autocomplete="current-password" required;
            input type="hidden" name="to" value=(to.path());
            button { "Sign in" }
        }
    };
    page(status, "Sign in", &html! {}, None, &content)
}

#[derive(Default, Deserialize)]
pub(super) struct Token {
    token: String,
    #[serde(default)]
    to: Goal,
}

pub(super) async fn sign_in(
    State(inbox): State<Arc<Inbox>>,
    headers: HeaderMap,
    form: Result<Form<Token>, FormRejection>,
) -> Response {
    let Form(Token { token, to }) = form.unwrap_or_default();
    let now = inbox.now();
    let wrong = |status| sign_in_form(&inbox, status, "This is not the token.", &to);
    let Some(admin) = &inbox.admin else { return wrong(StatusCode::FORBIDDEN) };
    match admin.check(&token, now).await {
        TokenCheck::Right => {}
        TokenCheck::Wrong => return wrong(StatusCode::FORBIDDEN),
        TokenCheck::TooMany => return wrong(StatusCode::TOO_MANY_REQUESTS),
    }
    let sessions = &inbox.pages.sessions;
    let session = sessions.begin(&admin.signing, now, &SessionHolder::Operator);
    let cookie = session.cookie(Reach::of(&headers));
    (StatusCode::SEE_OTHER, [(LOCATION, to.path()), (SET_COOKIE, &cookie)]).into_response()
}

pub(super) async fn sign_out(
    State(inbox): State<Arc<Inbox>>,
    viewer: Viewer,
    form: Result<Form<Token>, FormRejection>,
) -> Response {
    let (session, Form(Token { token, .. })) = (&viewer.session, form.unwrap_or_default());
    let own = inbox.admin.as_ref().map(|admin| session.form_token(&admin.signing));
    if own.is_none_or(|own| !is_same(&own, &token)) {
        return NotIn::SignedOut { wanted: None }.into_response();
    }
    if let Err(error) = sessions::end(&inbox, session).await {
        tracing::warn!(%error, "a session could not be ended");
        return no_database();
    }
    let gone = [(LOCATION, address("/")), (SET_COOKIE, session.no_cookie())];
    (StatusCode::SEE_OTHER, gone).into_response()
}

/// The parameters with which GitHub sends a browser back; all are empty at the beginning of a sign-in.
#[derive(Deserialize)]
pub(super) struct SignInReturn {
    code: Option<String>,
    state: Option<String>,
    error: Option<String>,
    /// At the beginning: the page that the person wants to see.
    #[serde(default)]
    to: Goal,
}

/// `GET /sign-in/github`: both ends of a sign-in with GitHub.
pub(super) async fn with_github(
    State(inbox): State<Arc<Inbox>>,
    headers: HeaderMap,
    viewer: Result<Viewer, NotIn>,
    back: Result<Query<SignInReturn>, QueryRejection>,
) -> Response {
    let (Some(_), Some(admin), Ok(Query(back))) = (&inbox.oauth, &inbox.admin, back) else {
        return not_found(&inbox, viewer.ok().as_ref());
    };
    let admin = &admin.signing;
    let SignInReturn { code, state, error, to } = back;
    if (&code, &state, &error) == (&None, &None, &None) {
        return send_to_github(&inbox, admin, Reach::of(&headers), &to);
    }
    let state = state.unwrap_or_default();
    let Some(to) = has_begun(&headers, admin, &state, inbox.now()) else {
        let wrong = "This sign-in did not begin in this browser, or took too long. Try again.";
        return sign_in_form(&inbox, StatusCode::BAD_REQUEST, wrong, &to);
    };
    let code = match (came_back(&inbox, &state).await, code, error) {
        (Ok(()), Some(code), None) => code,
        (Ok(()), _, _) => {
            let wrong = "You did not let GitHub tell who you are.";
            return end_sign_in(&inbox, StatusCode::FORBIDDEN, wrong, &to);
        }
        (Err((status, wrong)), _, _) => return end_sign_in(&inbox, status, wrong, &to),
    };
    match ask_for_person(&inbox, &code, &verifier(admin, &state)).await {
        Ok(person) => {
            tracing::info!(person = %person.id, "{} signed in", person.login);
            let session = inbox.pages.sessions.begin(admin, inbox.now(), &SessionHolder::Person(person));
            let cookies = [session.cookie(Reach::of(&headers)), no_longer()];
            let cookies = AppendHeaders(cookies.map(|cookie| (SET_COOKIE, cookie)));
            (StatusCode::SEE_OTHER, [(LOCATION, to.path())], cookies).into_response()
        }
        Err((status, wrong)) => end_sign_in(&inbox, status, wrong, &to),
    }
}

type FailedSignIn = (StatusCode, &'static str);

/// Ensures that each sign-in comes back only once, so that it asks GitHub for one code at most.
async fn came_back(inbox: &Inbox, state: &str) -> Result<(), FailedSignIn> {
    let now = inbox.now();
    let name = format!("sign-in {state}");
    match inbox.engine.store.spend(&name, now.plus(TAKES), now).await {
        Ok(NameUse::Now) => Ok(()),
        Ok(NameUse::Before) => Err((StatusCode::FORBIDDEN, "This sign-in was used before. Try again.")),
        Err(error) => {
            tracing::warn!(%error, "whether a sign-in was used before is not known");
            let wrong = "The database does not answer. Try again in a moment.";
            Err((StatusCode::SERVICE_UNAVAILABLE, wrong))
        }
    }
}

/// Sends the browser to GitHub, with the state that it must bring back.
fn send_to_github(inbox: &Inbox, admin: &SecretString, reach: Reach, to: &Goal) -> Response {
    let (now, number) = (inbox.now(), inbox.pages.sessions.number());
    let state = signed(admin, &format!("sign-in {} {number}", now.0));
    let until = now.plus(TAKES).0;
    let challenge = BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(verifier(admin, &state)));
    let app = inbox.oauth.as_ref();
    let Some(page) = app.and_then(|app| inbox.engine.autobuild.sign_in_page(app, &state, &challenge)) else {
        return NotIn::SignedOut { wanted: None }.into_response();
    };
    let to = BASE64_URL_SAFE_NO_PAD.encode(to.path());
    let begun = format!("{state}.{until}.{to}");
    let signature = signed(admin, &format!("begun {begun}"));
    let cookie = set_cookie(BEGUN, &format!("{begun}.{signature}"), WITH_GITHUB, TAKES / 1_000, reach);
    let to = [(LOCATION, page.to_string()), (SET_COOKIE, cookie)];
    (StatusCode::SEE_OTHER, to).into_response()
}

/// Returns the secret that proves to GitHub who began the sign-in (PKCE).
fn verifier(admin: &SecretString, state: &str) -> String {
    signed(admin, &format!("verifier {state}"))
}

/// Returns the goal of this browser's sign-in with this state; `None` if the browser did not begin it, or too long ago.
fn has_begun(headers: &HeaderMap, admin: &SecretString, state: &str, now: Millis) -> Option<Goal> {
    cookies(headers, BEGUN).find_map(|value| {
        let (begun, signature) = value.rsplit_once('.')?;
        let mut parts = begun.split('.');
        let (own, until, to) = (parts.next()?, parts.next()?, parts.next()?);
        let is_current = until.parse().is_ok_and(|until: i64| now.0 < until);
        let is_ours = is_same(signature, &signed(admin, &format!("begun {begun}")));
        let to = String::from_utf8(BASE64_URL_SAFE_NO_PAD.decode(to).ok()?).ok()?;
        (is_current && is_ours && is_same(own, state)).then(|| Goal::from(to))
    })
}

fn no_longer() -> String {
    set_cookie(BEGUN, "", WITH_GITHUB, 0, Reach::Plain)
}

fn end_sign_in(inbox: &Inbox, status: StatusCode, wrong: &str, to: &Goal) -> Response {
    let mut response = sign_in_form(inbox, status, wrong, to);
    if let Ok(cookie) = HeaderValue::from_str(&no_longer()) {
        response.headers_mut().append(SET_COOKIE, cookie);
    }
    response
}

/// Returns the person whom GitHub names for a code, or the error for people.
async fn ask_for_person(inbox: &Inbox, code: &str, verifier: &str) -> Result<User, FailedSignIn> {
    let silent = (StatusCode::SERVICE_UNAVAILABLE, "GitHub does not answer. Try again in a moment.");
    let Some(app) = &inbox.oauth else { return Err(silent) };
    let asked = Box::pin(inbox.engine.autobuild.signed_in(app, code, verifier));
    match tokio::time::timeout(PATIENCE, asked).await {
        Ok(Ok(person)) if is_a_login(&person.login) => Ok(person),
        Ok(Err(SignInError::Code)) => {
            Err((StatusCode::FORBIDDEN, "GitHub does not take this sign-in a second time. Try again."))
        }
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

/// `true` if the login is safe in a cookie and a URL.
fn is_a_login(login: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    (1..=100).contains(&login.len()) && login.bytes().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::{Goal, LONGEST, address};

    #[test]
    fn people_come_back_to_pages_of_ours_alone() {
        for own in ["/queue", "/features/22/42/1/run?id=a%2F1&b=c+d", "/doctor?repo=acme%2Fshop"] {
            assert_eq!(Goal::from(own.to_owned()).path(), own);
        }
        let long = format!("/{}", "a".repeat(LONGEST));
        for other in [
            "",
            "queue",
            "//evil.example",
            "/\\evil.example",
            "\\/evil.example",
            "https://evil.example/",
            "/\t/evil.example",
            "/\r\nset-cookie: a=b",
            " /queue",
            "/@evil.example:80",
            "/café",
            "javascript:alert(1)",
            &long,
        ] {
            assert_eq!(Goal::from(other.to_owned()).path(), "/", "{other}");
        }
        assert_eq!(address("/"), "/sign-in");
        assert_eq!(address("/doctor?repo=a%2Fb"), "/sign-in?to=%2Fdoctor%3Frepo%3Da%252Fb");
    }
}
