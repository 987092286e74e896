//! Signing in with GitHub. The code from a person's browser is exchanged for a token, which is used to ask who the
//! person is and then forgotten. The person's rights are looked up with the App's own credentials.

use super::{
    error::GithubError,
    http::{Call, Credential},
    repo::Repo,
    rights::Rights,
};
use crate::github::{client::Client, http::anonymous, model::Actor};
use domain::ids::User;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde_json::json;
use url::Url;

/// The lifetime of a person's token in milliseconds. The token is masked for this long.
const TOKEN_MS: i64 = 8 * 3_600_000;

/// The App's credentials for signing in.
#[derive(Clone, Debug)]
pub struct OAuthApp {
    pub id: String,
    pub secret: SecretString,
}

#[derive(Debug, thiserror::Error)]
pub enum SignInError {
    /// GitHub does not accept the code: it was used, is too old, or belongs to another browser.
    #[error("GitHub does not take the code")]
    Code,
    /// GitHub refuses the service: its client secret or its callback address is wrong.
    #[error("GitHub refuses the sign-in: {0}")]
    Refused(String),
    /// GitHub could not be reached, or its answer was a failure.
    #[error(transparent)]
    Github(#[from] GithubError),
}

#[derive(Deserialize)]
struct TokenWire {
    access_token: Option<String>,
    error: Option<String>,
}

impl Client {
    /// Returns the page on which a person agrees to sign in. `challenge` is the hash of the verifier.
    pub fn sign_in_page(&self, app: &OAuthApp, state: &str, challenge: &str) -> Option<Url> {
        let mut page = Url::parse(&format!("{}/login/oauth/authorize", self.urls.web())).ok()?;
        page.query_pairs_mut().extend_pairs([
            ("client_id", app.id.as_str()),
            ("state", state),
            ("code_challenge", challenge),
            ("code_challenge_method", "S256"),
        ]);
        Some(page)
    }

    /// Returns the person who came back from that page with this code.
    pub async fn signed_in(&self, app: &OAuthApp, code: &str, verifier: &str) -> Result<User, SignInError> {
        let body = json!({
            "client_id": app.id, "client_secret": app.secret.expose_secret(), "code": code, "code_verifier": verifier,
        });
        let call = Call::post("/login/oauth/access_token", Some(&body));
        let reply = anonymous(self.urls.web(), &self.urls.uplink, &call, self.now()).await?;
        // The answer may contain a token, so no part of it is put into an error.
        let unreadable = || GithubError::Malformed { source: "the answer to a code".into() };
        let answer: TokenWire = text::json::read(&reply.body).map_err(|_| unreadable())?;
        let token = match (answer.access_token, answer.error.as_deref()) {
            (Some(token), None) => SecretString::from(token),
            (_, Some("bad_verification_code")) => return Err(SignInError::Code),
            (_, Some(error)) => return Err(SignInError::Refused(error.chars().take(80).collect())),
            (None, None) => return Err(unreadable().into()),
        };
        self.wire.learn(&token, self.now().plus(TOKEN_MS));
        let call = Call::get("/user");
        let person: Actor = self.wire.send(&Credential::Token(&token), &call).await?.json()?;
        Ok(person.user)
    }
}

impl Repo<'_> {
    /// Returns `true` if exactly this person may read the repository now. The id must match, since a login can be
    /// reused.
    pub async fn may_be_read_by(&self, person: &User) -> Result<bool, GithubError> {
        let granted = self.permission(&person.login, Rights::Metadata).await?;
        Ok(granted.is_some_and(|granted| {
            granted.permission != "none" && granted.user.is_some_and(|actor| actor.user.id == person.id)
        }))
    }
}
