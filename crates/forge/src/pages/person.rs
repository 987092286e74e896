//! Pages for signed-in people. To sign in, a person only chooses an account: the forge has no passwords.

use super::{HTML, NO_SNIFF, apps, layout, new_issue, oauth};
use crate::{
    acts::{SECRET, random},
    answering::whole,
    readers::Readers,
    refusal::{Refusal, Result},
    reply::reply,
    site::Site,
    state::{Token, UserKind},
};
use axum::body::Body;
use http::{HeaderValue, Response, header::COOKIE, request::Parts};
use maud::{Markup, html};
use sha2::{Digest, Sha256};
use std::{collections::BTreeMap, sync::Arc};

/// The cookie of a signed-in person.
const COOKIE_NAME: &str = "forge_session";

pub(super) struct Visit<'a> {
    pub(super) site: &'a Arc<Site>,
    pub(super) method: &'a str,
    pub(super) path: &'a str,
    pub(super) parts: &'a [&'a str],
    pub(super) query: BTreeMap<String, String>,
    pub(super) form: Vec<(String, String)>,
    session: Option<String>,
}

/// Returns `true` if a path is one of these pages.
fn is_path(parts: &[&str]) -> bool {
    match parts {
        ["login" | "session"] | ["login", "oauth", "authorize"] => true,
        _ => apps::is_path(parts) || new_issue::is_path(parts),
    }
}

/// Returns `true` if a request is for one of these pages. They do not exist if the pages are opened with a key, since
/// the key then decides who acts.
pub(crate) fn is_of_a_person(site: &Site, method: &str, parts: &[&str]) -> bool {
    let is_open = matches!(site.readers, Readers::Everybody);
    is_open && ["GET", "POST"].contains(&method) && is_path(parts)
}

/// Answers a request for one of these pages.
pub(crate) async fn for_person(site: &Arc<Site>, head: &Parts, parts: &[&str], body: Body) -> Response<Body> {
    let read = |text: &[u8]| url::form_urlencoded::parse(text).into_owned().collect::<Vec<_>>();
    let body = match head.method.as_str() {
        "POST" => whole(body).await.unwrap_or_default(),
        _ => bytes::Bytes::new(),
    };
    let query = head.uri.query().unwrap_or_default();
    let visit = Visit {
        site,
        method: head.method.as_str(),
        path: head.uri.path_and_query().map_or("/", |path| path.as_str()),
        parts,
        query: read(query.as_bytes()).into_iter().collect(),
        form: read(&body),
        session: session(head),
    };
    let shown = match (visit.method, parts) {
        ("GET", ["login"]) => Ok(visit.sign_in_page()),
        ("POST", ["session"]) => visit.sign_in(),
        (_, ["login" | "session"]) => Err(Refusal::not_found()),
        _ => match visit.person() {
            Some(person) if parts == oauth::AUTHORIZE => oauth::answer(&visit, person),
            Some(person) if new_issue::is_path(parts) => new_issue::answer(&visit, person),
            Some(person) => apps::answer(&visit, person),
            None => Ok(visit.sign_in_page()),
        },
    };
    shown.unwrap_or_else(refused)
}

fn session(head: &Parts) -> Option<String> {
    let cookies = head.headers.get_all(COOKIE).iter();
    let cookies = cookies.filter_map(|value| value.to_str().ok());
    let mut pairs = cookies.flat_map(|line| line.split(';'));
    pairs.find_map(|pair| Some(pair.trim().strip_prefix(COOKIE_NAME)?.strip_prefix('=')?.to_owned()))
}

fn refused(refusal: Refusal) -> Response<Body> {
    let body = html! { h1 { (refusal.message) } p { "The forge does not do this for you." } };
    response(refusal.status, &refusal.message, body)
}

pub(super) fn page(title: &str, body: Markup) -> Response<Body> {
    response(200, title, body)
}

/// Its forms may be sent to, and redirected to, any address: they lead back to Apps elsewhere, and browsers apply the
/// policy to redirects too.
fn response(status: u16, title: &str, body: Markup) -> Response<Body> {
    let policy =
        "default-src 'none'; style-src 'unsafe-inline'; form-action *; base-uri 'none'; frame-ancestors 'none'";
    let referrer = ("referrer-policy", "origin-when-cross-origin");
    let headers = [("content-type", HTML), ("content-security-policy", policy), NO_SNIFF, referrer];
    reply(status, &headers, layout::page(title, body).0)
}

pub(super) fn redirect_to(address: &str) -> Response<Body> {
    match HeaderValue::from_str(address) {
        Ok(_) => reply(302, &[("location", address)], Body::empty()),
        Err(_) => refused(Refusal::new(422, "The address cannot be gone to")),
    }
}

impl Visit<'_> {
    pub(super) fn field(&self, name: &str) -> Option<&str> {
        let mut fields = self.form.iter();
        fields.find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub(super) fn fields(&self, name: &str) -> Vec<&str> {
        let own = self.form.iter().filter(|(key, _)| key == name);
        own.map(|(_, value)| value.as_str()).collect()
    }

    fn person(&self) -> Option<u64> {
        let session = self.session.as_ref()?;
        self.site.read(|state| match state.tokens.get(session) {
            Some(Token::Person(user)) => Some(*user),
            Some(Token::Installation { .. }) | None => None,
        })
    }

    /// Returns the hidden field that forms carry, so that no other site can send them.
    pub(super) fn own_form(&self) -> Markup {
        html! { input type="hidden" name="authenticity_token" value=(self.form_token()); }
    }

    fn form_token(&self) -> String {
        let session = self.session.as_deref().unwrap_or_default();
        let digest = Sha256::digest(format!("form {session}"));
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Refuses a form that no page of this session made.
    pub(super) fn check_own_form(&self) -> Result {
        match self.field("authenticity_token") {
            Some(token) if token == self.form_token() => Ok(()),
            Some(_) | None => Err(Refusal::new(422, "The change you wanted was rejected.")),
        }
    }

    /// Returns the sign-in page. It keeps the requested address, and a manifest that was sent by a form.
    fn sign_in_page(&self) -> Response<Body> {
        let back = self.query.get("return_to").map_or(self.path, String::as_str);
        let people = self.site.read(|state| {
            let people = state.users.values().filter(|user| user.kind == UserKind::User);
            people.map(|user| user.login.clone()).collect::<Vec<_>>()
        });
        let body = html! {
            h1 { "Sign in" }
            p { "Who are you on this forge?" }
            form method="post" action="/session" {
                input type="hidden" name="return_to" value=(back);
                @if let Some(manifest) = self.field("manifest") {
                    input type="hidden" name="manifest" value=(manifest);
                }
                @for login in &people { p { button name="login" value=(login) { (login) } } }
            }
        };
        page("Sign in", body)
    }

    fn sign_in(&self) -> Result<Response<Body>> {
        let login = self.field("login").unwrap_or_default();
        let user = self.site.read(|state| {
            let person = state.user_named(login).filter(|user| user.kind == UserKind::User);
            person.map(|user| user.id)
        });
        let user = user.ok_or_else(|| Refusal::new(422, "Incorrect username or password."))?;
        let session = random(SECRET)?;
        self.site.change(|state| state.tokens.insert(session.clone(), Token::Person(user)));
        let back = self.field("return_to").filter(|back| is_own(back)).unwrap_or("/");
        let mut response = match self.field("manifest") {
            None => redirect_to(back),
            Some(manifest) => {
                let body = html! {
                    h1 { "Signed in as " (login) }
                    form method="post" action=(back) {
                        input type="hidden" name="manifest" value=(manifest);
                        button { "Go on" }
                    }
                };
                page("Signed in", body)
            }
        };
        let cookie = format!("{COOKIE_NAME}={session}; Path=/; HttpOnly; SameSite=Lax");
        if let Ok(cookie) = HeaderValue::from_str(&cookie) {
            response.headers_mut().insert("set-cookie", cookie);
        }
        Ok(response)
    }
}

/// Returns `true` if an address stays on this forge.
fn is_own(address: &str) -> bool {
    address.starts_with('/') && !address.starts_with("//") && !address.contains(['\\', '\r', '\n'])
}
