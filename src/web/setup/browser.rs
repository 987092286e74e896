//! Admits browsers to the set-up: those that opened the link. Only the hash of a cookie is stored.

use super::{OtherPage, Setup, back, link::SetupLink, page, progress::Hash};
use axum::{
    body::Bytes,
    extract::{FromRequest, FromRequestParts, Request},
    http::{
        HeaderMap, HeaderValue,
        header::{CONTENT_TYPE, HOST, SET_COOKIE},
        request::Parts,
    },
    response::{IntoResponse, Response},
};
use page_parts::session::{Reach, cookies, is_same, set_cookie};
use std::sync::Arc;
use url::Url;

const COOKIE: &str = "autobuild_setup";

/// The lifetime of the cookie, in seconds.
const COOKIE_SECONDS: i64 = 12 * 60 * 60;

/// The most browsers that are admitted at once.
const MOST_BROWSERS: usize = 10;

const SCRIPT: &str = include_str!("go.js");

/// A browser that may see the set-up.
pub(super) struct Browser {
    pub(super) cookie: String,
    /// The token in its forms, so that no other site can send them.
    pub(super) form: String,
    /// The service's address as this browser uses it.
    pub(super) address: Url,
}

/// The fields of a form, or of a query.
#[derive(Default)]
pub(super) struct Form(Vec<(String, String)>);

impl Form {
    pub(super) fn read(text: &[u8]) -> Self {
        Self(url::form_urlencoded::parse(text).into_owned().collect())
    }

    pub(super) fn field(&self, name: &str) -> Option<&str> {
        let mut own = self.0.iter();
        own.find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub(super) fn text(&self, name: &str) -> &str {
        self.field(name).unwrap_or_default()
    }

    pub(super) fn fields<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let own = self.0.iter().filter(move |(key, _)| key == name);
        own.map(|(_, value)| value.as_str())
    }
}

/// A form that an admitted browser sends from its own page.
pub(super) struct SentForm {
    pub(super) browser: Browser,
    pub(super) form: Form,
}

impl FromRequestParts<Arc<Setup>> for Browser {
    type Rejection = OtherPage;

    async fn from_request_parts(parts: &mut Parts, setup: &Arc<Setup>) -> Result<Self, OtherPage> {
        if !setup.is_open() {
            return Err(OtherPage::of(page::over()));
        }
        Self::of(setup, &parts.headers).ok_or_else(|| OtherPage::of(page::closed()))
    }
}

impl FromRequest<Arc<Setup>> for SentForm {
    type Rejection = OtherPage;

    async fn from_request(request: Request, setup: &Arc<Setup>) -> Result<Self, OtherPage> {
        let (mut parts, body) = request.into_parts();
        let browser = Browser::from_request_parts(&mut parts, setup).await?;
        let body = Bytes::from_request(Request::from_parts(parts, body), setup).await?;
        let form = Form::read(&body);
        if is_same(form.text("form"), &browser.form) {
            Ok(Self { browser, form })
        } else {
            Err(OtherPage::of(page::closed()))
        }
    }
}

impl Browser {
    /// Returns the request's browser, if it was admitted.
    fn of(setup: &Setup, headers: &HeaderMap) -> Option<Self> {
        let known = &setup.now.lock().progress.browsers;
        let cookie = cookies(headers, COOKIE).find(|cookie| known.contains(&Hash::of(cookie)))?.to_owned();
        Some(Self { form: Hash::of(&format!("form {cookie}")).text().to_owned(), cookie, address: address(headers)? })
    }
}

/// Returns the service's address as the browser uses it. A proxy in front reports if TLS was used.
fn address(headers: &HeaderMap) -> Option<Url> {
    let text = |value: Option<&HeaderValue>| value.and_then(|value| value.to_str().ok()).map(str::to_owned);
    let host = text(headers.get("x-forwarded-host")).or_else(|| text(headers.get(HOST)));
    let scheme = match Reach::of(headers) {
        Reach::Tls => "https",
        Reach::Plain | Reach::ThisMachine => "http",
    };
    let address = Url::parse(&format!("{scheme}://{}", host.unwrap_or_default()));
    address.or_else(|_| Url::parse("http://localhost")).ok()
}

/// Admits a browser that opens the link; the link does not work again. A person who opens it again in the same browser
/// is `admitted` already.
pub(super) fn admit(
    setup: &Arc<Setup>,
    token: &str,
    headers: &HeaderMap,
    admitted: Result<Browser, OtherPage>,
) -> Result<Response, OtherPage> {
    let link = SetupLink::read(&setup.options.folder)?;
    if !link.is_some_and(|link| is_same(&link.token, token)) {
        return admitted.map(|_| back());
    }
    setup.reopen()?;
    let Some(cookie) = (setup.options.random)() else {
        return Ok(page::failed(page::NO_RANDOMNESS));
    };
    setup.progress(|progress| {
        if progress.browsers.len() >= MOST_BROWSERS {
            progress.browsers.remove(0);
        }
        progress.browsers.push(Hash::of(&cookie));
    })?;
    SetupLink::remove(&setup.options.folder);
    let cookie = set_cookie(COOKIE, &cookie, "/setup", COOKIE_SECONDS, Reach::of(headers));
    let response = ([(SET_COOKIE, cookie)], back()).into_response();
    Ok(page::guarded(response, None))
}

pub(super) async fn script() -> Response {
    ([(CONTENT_TYPE, "text/javascript; charset=utf-8")], SCRIPT).into_response()
}
