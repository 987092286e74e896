//! Decides which browser may see the set-up: the one that opened the link. Only the hash of its cookie is stored.

use super::{Setup, back, link::SetupLink, page, progress::Hash};
use axum::{
    http::{
        HeaderMap, HeaderValue,
        header::{CONTENT_TYPE, COOKIE, HOST, SET_COOKIE},
    },
    response::{IntoResponse, Response},
};
use sha2::{Digest, Sha256};
use std::sync::Arc;
use url::Url;

const NAME: &str = "autobuild_setup";

/// The lifetime of the cookie, in seconds.
const LASTS: u32 = 12 * 60 * 60;

/// The most browsers that are admitted at once.
const MOST: usize = 10;

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
pub(super) struct Form(Vec<(String, String)>);

impl Form {
    pub(super) fn read(text: &[u8]) -> Self {
        Self(url::form_urlencoded::parse(text).into_owned().collect())
    }

    pub(super) fn field(&self, name: &str) -> Option<&str> {
        let mut own = self.0.iter();
        own.find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Returns a field's text; empty if there is none.
    pub(super) fn text(&self, name: &str) -> &str {
        self.field(name).unwrap_or_default()
    }

    pub(super) fn fields<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let own = self.0.iter().filter(move |(key, _)| key == name);
        own.map(|(_, value)| value.as_str())
    }
}

impl Browser {
    /// Returns the request's browser, if it was admitted.
    pub(super) fn of(setup: &Setup, headers: &HeaderMap) -> Option<Self> {
        let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
        let pairs = cookies.flat_map(|line| line.split(';'));
        let mut own = pairs.filter_map(|pair| pair.trim().strip_prefix(NAME)?.strip_prefix('='));
        let known = &setup.now().progress.browsers;
        let cookie = own.find(|cookie| known.contains(&Hash::of(cookie)))?.to_owned();
        let form = Sha256::digest(format!("form {cookie}"));
        Some(Self {
            form: form.iter().map(|byte| format!("{byte:02x}")).collect(),
            cookie,
            address: address(headers)?,
        })
    }

    /// Returns the browser, if it was admitted and the form is from its own page.
    pub(super) fn sending(setup: &Setup, headers: &HeaderMap, form: &Form) -> Option<Self> {
        let browser = Self::of(setup, headers)?;
        let is_own = Sha256::digest(form.text("form")) == Sha256::digest(&browser.form);
        is_own.then_some(browser)
    }
}

/// Returns the service's address as the browser uses it; a proxy in front says whether TLS was used.
fn address(headers: &HeaderMap) -> Option<Url> {
    let text = |value: Option<&HeaderValue>| value.and_then(|value| value.to_str().ok()).map(str::to_owned);
    let host = text(headers.get("x-forwarded-host")).or_else(|| text(headers.get(HOST)));
    let scheme = if is_over_tls(headers) { "https" } else { "http" };
    let fallback = || Url::parse("http://localhost").ok();
    Url::parse(&format!("{scheme}://{}", host.unwrap_or_default()))
        .ok()
        .or_else(fallback)
}

fn is_over_tls(headers: &HeaderMap) -> bool {
    headers.get("x-forwarded-proto").is_some_and(|proto| proto == "https")
}

/// Admits a browser that opens the link; the link does not work again.
pub(super) fn admit(setup: &Arc<Setup>, token: &str, headers: &HeaderMap) -> Response {
    let link = match SetupLink::read(&setup.options.folder) {
        Ok(link) => link,
        Err(error) => return page::failed(&error.to_string()),
    };
    let fits = |link: &SetupLink| Sha256::digest(&link.token) == Sha256::digest(token);
    if !link.as_ref().is_some_and(fits) {
        // A person who opens the link again in the same browser is admitted already.
        return match Browser::of(setup, headers) {
            _ if !setup.is_open() => page::over(),
            Some(_) => back(),
            None => page::closed(),
        };
    }
    if let Err(error) = setup.reopen() {
        return page::failed(&error.to_string());
    }
    let Some(cookie) = (setup.options.random)() else {
        return page::failed("the system has no randomness");
    };
    let kept = setup.progress(|progress| {
        if progress.browsers.len() >= MOST {
            progress.browsers.remove(0);
        }
        progress.browsers.push(Hash::of(&cookie));
    });
    if let Err(error) = kept {
        return page::failed(&error.to_string());
    }
    SetupLink::remove(&setup.options.folder);
    let secure = if is_over_tls(headers) { "; Secure" } else { "" };
    let cookie = format!("{NAME}={cookie}; Path=/setup; HttpOnly; SameSite=Lax; Max-Age={LASTS}{secure}");
    let mut response = back();
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().insert(SET_COOKIE, cookie);
    }
    page::guarded(response, None)
}

pub(super) async fn script() -> Response {
    ([(CONTENT_TYPE, "text/javascript; charset=utf-8")], SCRIPT).into_response()
}
