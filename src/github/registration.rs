//! The end of a registration from a manifest: the code that GitHub gave a browser, exchanged for the App's credentials.

use super::http::{Call, Credential, Intent, anonymous, segment};
use crate::github::{Identity, client::Client, clock::Clock, error::GithubError, urls::GithubUrls};
use http::Method;
use secrecy::SecretString;
use serde::{Deserialize, Deserializer};

/// An App that was just registered. GitHub tells its credentials this once.
#[derive(Debug, Deserialize)]
pub struct Registered {
    /// What it is and may do.
    #[serde(flatten)]
    pub identity: Identity,
    /// Who owns it.
    pub owner: Owner,
    /// Its page on GitHub.
    #[serde(rename = "html_url")]
    pub page: String,
    /// Its key, as PEM.
    #[serde(rename = "pem", deserialize_with = "secret")]
    pub private_key: SecretString,
    /// What its webhooks are signed with, where it has any.
    #[serde(default, deserialize_with = "secret_if_any")]
    pub webhook_secret: Option<SecretString>,
    /// By what people sign in with it.
    pub client_id: String,
    /// The secret for that.
    #[serde(deserialize_with = "secret")]
    pub client_secret: SecretString,
}

/// Who owns an App.
#[derive(Debug, Deserialize)]
pub struct Owner {
    /// The account's name.
    pub login: String,
    #[serde(rename = "type", default)]
    kind: Option<String>,
}

impl Owner {
    /// The account's name, where it is an organisation's.
    pub fn organization(&self) -> Option<&str> {
        let is_one = self.kind.as_deref() == Some("Organization");
        is_one.then_some(self.login.as_str())
    }
}

#[derive(Deserialize)]
struct Owned {
    owner: Owner,
}

impl Client {
    /// Who owns the App.
    ///
    /// # Errors
    ///
    /// GitHub did not answer, or does not know the App.
    pub async fn owner(&self) -> Result<Owner, GithubError> {
        let reply = self.wire().rest(&Credential::App, &Call::get("/app")).await?;
        Ok(reply.json::<Owned>()?.owner)
    }
}

fn secret<'de, D: Deserializer<'de>>(from: D) -> Result<SecretString, D::Error> {
    String::deserialize(from).map(SecretString::from)
}

fn secret_if_any<'de, D: Deserializer<'de>>(from: D) -> Result<Option<SecretString>, D::Error> {
    Option::<String>::deserialize(from).map(|secret| secret.map(SecretString::from))
}

/// Exchanges a code. GitHub takes each once, within an hour; it knows no other ([`GithubError::NotFound`]).
///
/// # Errors
///
/// GitHub did not answer, or did not take the code.
pub async fn exchange(urls: &GithubUrls, code: &str, clock: Clock) -> Result<Registered, GithubError> {
    let path = format!("/app-manifests/{}/conversions", segment(code));
    let call = Call {
        method: Method::POST,
        path: &path,
        body: None,
        intent: Intent::Write,
    };
    anonymous(urls.api(), &call, clock()).await?.json()
}
