//! An App as itself: its key, its name, its installations.

use super::http::{Call, Credential, Wire, segment};
use crate::github::error::{Cause, GithubError};
use domain::ids::{AppId, InstallationId, RepoName};
use jsonwebtoken::EncodingKey;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Entries on one page of a list.
pub(super) const PER_PAGE: usize = 100;

/// No list that we read is longer than this many pages.
pub(super) const MAX_PAGES: usize = 100;

/// The credentials of an App.
pub struct App {
    /// Its id.
    pub id: AppId,
    key: EncodingKey,
}

/// Why a client cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// Not a private RSA key in PEM.
    #[error("the private key of App {app} is not an RSA key in PEM")]
    BadKey {
        /// Whose key.
        app: AppId,
    },
    /// No connection can be prepared, for example for want of root certificates.
    #[error("no connection to GitHub can be prepared: {source}")]
    Connection {
        /// Why.
        source: Cause,
    },
}

impl App {
    /// Reads the key and signs once with it, so that a bad one is known at the start.
    pub fn new(id: AppId, pem: &SecretString) -> Result<Self, SetupError> {
        let bad = || SetupError::BadKey { app: id };
        let key = EncodingKey::from_rsa_pem(pem.expose_secret().as_bytes()).map_err(|_| bad())?;
        octocrab::auth::create_jwt(octocrab::models::AppId(id.0), &key).map_err(|_| bad())?;
        Ok(Self { id, key })
    }

    pub(super) fn key(&self) -> &EncodingKey {
        &self.key
    }
}

/// How GitHub knows the App.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Identity {
    /// Its id.
    pub id: AppId,
    /// Its name in addresses; its bot is `<slug>[bot]`.
    pub slug: String,
    /// What it asks for now.
    #[serde(default)]
    pub permissions: BTreeMap<String, String>,
    /// What it subscribes to.
    #[serde(default)]
    pub events: Vec<String>,
}

impl Identity {
    /// Login of the App's bot user.
    pub fn bot_login(&self) -> String {
        format!("{}[bot]", self.slug)
    }

    /// Which of `needed` ([`AUTOBUILD_PERMISSIONS`](super::AUTOBUILD_PERMISSIONS) or
    /// [`COACH_PERMISSIONS`](super::COACH_PERMISSIONS)) the App does not ask for.
    pub fn lacks(&self, needed: &[(&'static str, &'static str)]) -> Vec<(&'static str, &'static str)> {
        lacking(&self.permissions, needed)
    }
}

/// Which of `needed` is not among these permissions.
pub fn lacking(
    permissions: &BTreeMap<String, String>,
    needed: &[(&'static str, &'static str)],
) -> Vec<(&'static str, &'static str)> {
    let has = |name: &str, level: &str| match permissions.get(name).map(String::as_str) {
        Some("write" | "admin") => true,
        Some(granted) => granted == level,
        None => false,
    };
    needed
        .iter()
        .copied()
        .filter(|(name, level)| !has(name, level))
        .collect()
}

#[derive(Deserialize)]
struct Installation {
    id: InstallationId,
}

pub(super) async fn identity(wire: &Wire) -> Result<Identity, GithubError> {
    wire.rest(&Credential::App, &Call::get("/app")).await?.json()
}

/// The installation that covers a repository; none where the App is not installed.
pub(super) async fn installation_of(wire: &Wire, name: &RepoName) -> Result<Option<InstallationId>, GithubError> {
    let path = format!("/repos/{}/{}/installation", segment(&name.owner), segment(&name.name));
    match wire.rest(&Credential::App, &Call::get(&path)).await {
        Ok(reply) => Ok(Some(reply.json::<Installation>()?.id)),
        Err(GithubError::NotFound) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Pages are asked for by number: the address that GitHub gives for the next page is absolute, and octocrab would ask it
/// without credentials. That there is such an address is all that is read from it.
pub(super) fn has_more(headers: &http::HeaderMap, found: usize) -> bool {
    let links = headers.get("link").and_then(|value| value.to_str().ok());
    links.is_some_and(|links| links.contains("rel=\"next\"")) || found >= PER_PAGE
}

pub(super) fn endless() -> GithubError {
    GithubError::Malformed {
        source: format!("a list of more than {} entries", MAX_PAGES.saturating_mul(PER_PAGE)).into(),
    }
}
