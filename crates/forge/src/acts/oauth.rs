//! Signs people in with an App: a person agrees, and the browser takes a code to the App's callback. Once and within
//! ten minutes, the App exchanges the code for a token of that person.

use crate::{
    acts::random,
    clock,
    refusal::{OrNotFound, Result},
    state::{App, OauthCode, State, Token},
};
use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use chrono::Duration;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use url::Url;

/// The life of a code, in minutes.
const CODE_LASTS: i64 = 10;
/// The life of a person's token as the answer states it, in seconds. The forge does not end the token.
const TOKEN_LASTS: i64 = 28_800;

/// A valid request to the authorization page.
#[derive(Clone, Debug)]
pub(crate) struct Authorization {
    app: u64,
    pub(crate) name: String,
    redirect: Url,
    state: Option<String>,
    challenge: Option<String>,
}

impl State {
    /// Checks the parameters of a request to the authorization page. The inner error is the address that reports what is
    /// wrong with it.
    pub(crate) fn authorization(
        &self,
        asked: &dyn Fn(&str) -> Option<String>,
    ) -> Result<std::result::Result<Authorization, Url>> {
        let client = asked("client_id").or_not_found()?;
        let app = self.apps.values().find(|app| app.client_id == client).or_not_found()?;
        let callbacks = || app.details.callback_urls.iter().filter_map(|url| Url::parse(url).ok());
        let first = callbacks().next().or_not_found()?;
        let state = asked("state");
        let wanted = asked("redirect_uri").map(|address| Url::parse(&address).ok());
        let redirect = match wanted {
            None => first,
            Some(wanted) => match wanted.filter(|wanted| callbacks().any(|callback| is_below(&callback, wanted))) {
                Some(wanted) => wanted,
                None => {
                    let why = "The redirect_uri MUST match the registered callback URL for this application.";
                    return Ok(Err(with_error(first, "redirect_uri_mismatch", why, state.as_deref())));
                }
            },
        };
        let challenge = asked("code_challenge");
        if challenge.is_some() && asked("code_challenge_method").as_deref() != Some("S256") {
            let why = "The code_challenge_method must be S256.";
            return Ok(Err(with_error(redirect, "invalid_request", why, state.as_deref())));
        }
        Ok(Ok(Authorization { app: app.id, name: app.name.clone(), redirect, state, challenge }))
    }

    /// Returns the address that the browser goes to after the person `agreed` or refused.
    pub(crate) fn authorize(&mut self, asked: Authorization, agreed: Option<u64>) -> Result<Url> {
        let Some(user) = agreed else {
            let why = "The user has denied your application access.";
            return Ok(with_error(asked.redirect, "access_denied", why, asked.state.as_deref()));
        };
        let code = random(10)?;
        let stands_for = OauthCode {
            app: asked.app,
            user,
            redirect: asked.redirect.to_string(),
            challenge: asked.challenge,
            made_at: clock::wall(),
        };
        self.oauth_codes.insert(code.clone(), stands_for);
        let mut address = asked.redirect;
        address.query_pairs_mut().append_pair("code", &code);
        if let Some(state) = asked.state {
            address.query_pairs_mut().append_pair("state", &state);
        }
        Ok(address)
    }

    /// Exchanges a code for a person's token. As on GitHub, the answer to an error is a 200 too.
    pub(crate) fn exchange_code(&mut self, asked: &dyn Fn(&str) -> Option<String>) -> Value {
        let app = self.apps.values().find(|app| knows_secret(app, asked));
        let Some(app) = app.map(|app| app.id) else {
            return error("incorrect_client_credentials", "The client_id and/or client_secret passed are incorrect.");
        };
        let bad_code = || error("bad_verification_code", "The code passed is incorrect or expired.");
        let is_fresh = |code: &OauthCode| code.made_at + Duration::minutes(CODE_LASTS) > clock::wall();
        self.oauth_codes.retain(|_, code| is_fresh(code));
        let name = asked("code").unwrap_or_default();
        let Some(code) = self.oauth_codes.get(&name).filter(|code| code.app == app) else {
            return bad_code();
        };
        let is_another = |address: String| address != code.redirect;
        if asked("redirect_uri").is_some_and(is_another) {
            return error(
                "redirect_uri_mismatch",
                "The redirect_uri MUST match the registered callback URL for this application.",
            );
        }
        let shown = asked("code_verifier").map(|verifier| BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(verifier)));
        let (user, is_right) = (code.user, code.challenge == shown);
        self.oauth_codes.remove(&name);
        if !is_right {
            return bad_code();
        }
        let (Ok(token), Ok(refresh)) = (random(18), random(36)) else {
            return bad_code();
        };
        let token = format!("ghu_{token}");
        self.tokens.insert(token.clone(), Token::Person(user));
        json!({
            "access_token": token, "expires_in": TOKEN_LASTS, "refresh_token": format!("ghr_{refresh}"),
            "refresh_token_expires_in": 15_811_200, "scope": "", "token_type": "bearer",
        })
    }
}

fn knows_secret(app: &App, asked: &dyn Fn(&str) -> Option<String>) -> bool {
    let secret = &app.details.client_secret;
    let is = |name: &str, value: &str| asked(name).is_some_and(|shown| shown == value);
    !secret.is_empty() && is("client_id", &app.client_id) && is("client_secret", secret)
}

/// Returns `true` if an address is the callback or below it.
fn is_below(callback: &Url, wanted: &Url) -> bool {
    let rest = wanted.path().strip_prefix(callback.path().trim_end_matches('/'));
    let is_below = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    is_below && callback.origin() == wanted.origin()
}

fn error(name: &str, why: &str) -> Value {
    json!({"error": name, "error_description": why, "error_uri": format!("{TROUBLE}#{}", name.replace('_', "-"))})
}

const TROUBLE: &str =
    "https://docs.github.com/apps/managing-oauth-apps/troubleshooting-oauth-app-access-token-request-errors/";

fn with_error(mut address: Url, name: &str, why: &str, state: Option<&str>) -> Url {
    let pairs = [("error", name), ("error_description", why), ("error_uri", TROUBLE)];
    let state = state.map(|state| ("state", state));
    address.query_pairs_mut().extend_pairs(pairs.into_iter().chain(state));
    address
}
