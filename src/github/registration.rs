//! The end of a registration from a manifest: exchanges the code that GitHub gave a browser for the App's credentials.

use super::http::{Call, Clock, Credential, anonymous, segment};
use crate::github::{Identity, client::Client, error::GithubError, urls::GithubUrls};
use secrecy::SecretString;
use serde::{Deserialize, Deserializer};

/// An App that was just registered. GitHub shows its credentials only this once.
#[derive(Debug, Deserialize)]
pub struct RegisteredApp {
    /// The App's data and permissions.
    #[serde(flatten)]
    pub identity: Identity,
    pub owner: Owner,
    /// The App's page on GitHub.
    #[serde(rename = "html_url")]
    pub page: String,
    #[serde(rename = "pem", deserialize_with = "secret")]
    pub private_key: SecretString,
    /// The secret that signs its webhooks, if it has any.
    #[serde(default, deserialize_with = "secret_if_any")]
    pub webhook_secret: Option<SecretString>,
    pub client_id: String,
    #[serde(deserialize_with = "secret")]
    pub client_secret: SecretString,
}

#[derive(Debug, Deserialize)]
pub struct Owner {
    /// The account's name.
    pub login: String,
    #[serde(rename = "type", default)]
    kind: Option<String>,
}

impl Owner {
    /// Returns the account's name if it is an organisation.
    pub fn organization(&self) -> Option<&str> {
        let is_one = self.kind.as_deref() == Some("Organization");
        is_one.then_some(self.login.as_str())
    }
}

impl Client {
    /// Returns the owner of the App.
    pub async fn owner(&self) -> Result<Owner, GithubError> {
        self.wire.send(&Credential::App, &Call::get("/app")).await?.at("/owner")
    }
}

fn secret<'de, D: Deserializer<'de>>(from: D) -> Result<SecretString, D::Error> {
    String::deserialize(from).map(SecretString::from)
}

fn secret_if_any<'de, D: Deserializer<'de>>(from: D) -> Result<Option<SecretString>, D::Error> {
    Option::<String>::deserialize(from).map(|secret| secret.map(SecretString::from))
}

/// Exchanges a code. GitHub accepts each code once, within an hour, and answers others with [`GithubError::NotFound`].
pub async fn exchange(urls: &GithubUrls, code: &str, clock: Clock) -> Result<RegisteredApp, GithubError> {
    let path = format!("/app-manifests/{}/conversions", segment(code));
    anonymous(urls.api(), &urls.uplink, &Call::post(&path, None), clock()).await?.json()
}
