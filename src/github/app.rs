//! An App's own data: its key, its name, its installations.

use super::http::{Call, Credential, Wire};
use crate::github::error::{Cause, GithubError};
use domain::ids::{AppId, InstallationId};
use jsonwebtoken::EncodingKey;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The number of entries on one page of a list.
pub(super) const PER_PAGE: usize = 100;

/// The most pages of a list that are read.
pub(super) const MAX_PAGES: usize = 100;

pub struct App {
    pub id: AppId,
    pub(super) key: EncodingKey,
}

/// Why a client cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The key is not a private RSA key in PEM.
    #[error("the private key of App {app} is not an RSA key in PEM")]
    BadKey { app: AppId },
    /// The connection cannot be prepared, for example because there are no root certificates.
    #[error("no connection to GitHub can be prepared: {source}")]
    Connection { source: Cause },
}

impl App {
    /// Reads the key and signs once with it, so that a bad key is found at the start.
    pub fn new(id: AppId, pem: &SecretString) -> Result<Self, SetupError> {
        let bad = || SetupError::BadKey { app: id };
        let key = EncodingKey::from_rsa_pem(pem.expose_secret().as_bytes()).map_err(|_| bad())?;
        octocrab::auth::create_jwt(octocrab::models::AppId(id.0), &key).map_err(|_| bad())?;
        Ok(Self { id, key })
    }
}

/// GitHub's data about the App.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Identity {
    pub id: AppId,
    /// The name in URLs. The App's bot user is `<slug>[bot]`.
    pub slug: String,
    /// The App's public page, if GitHub names it.
    #[serde(default)]
    pub html_url: Option<String>,
    #[serde(default)]
    pub permissions: BTreeMap<String, String>,
    #[serde(default)]
    pub events: Vec<String>,
}

impl Identity {
    /// Returns the App's public page on the GitHub with these web pages.
    pub fn page(&self, web: &str) -> String {
        let built = || format!("{}/apps/{}", web.trim_end_matches('/'), self.slug);
        self.html_url.clone().unwrap_or_else(built)
    }

    /// Returns the login of the App's bot user.
    pub fn bot_login(&self) -> String {
        format!("{}[bot]", self.slug)
    }
}

/// Returns the permissions in `needed` ([`AUTOBUILD_PERMISSIONS`](super::AUTOBUILD_PERMISSIONS) or
/// [`COACH_PERMISSIONS`](super::COACH_PERMISSIONS)) that are not granted.
pub fn lacking(
    permissions: &BTreeMap<String, String>,
    needed: &[(&'static str, &'static str)],
) -> Vec<(&'static str, &'static str)> {
    let has = |name: &str, level: &str| match permissions.get(name).map(String::as_str) {
        Some("write" | "admin") => true,
        Some(granted) => granted == level,
        // Every App may read metadata, also if GitHub does not list it.
        None => name == "metadata",
    };
    let needed = needed.iter().copied();
    needed.filter(|(name, level)| !has(name, level)).collect()
}

pub(super) async fn identity(wire: &Wire) -> Result<Identity, GithubError> {
    wire.send(&Credential::App, &Call::get("/app")).await?.json()
}

/// Returns the installation at this path, if there is one.
pub(super) async fn covering(wire: &Wire, path: &str) -> Result<Option<InstallationId>, GithubError> {
    match wire.send(&Credential::App, &Call::get(path)).await {
        Ok(reply) => reply.at("/id").map(Some),
        Err(GithubError::NotFound) => Ok(None),
        Err(error) => Err(error),
    }
}

/// `true` if there is another page. Pages are requested by number, because GitHub's address of the next page is
/// absolute and octocrab would request it without credentials. So only the presence of that address is read.
pub(super) fn has_more(headers: &http::HeaderMap, found: usize) -> bool {
    let links = headers.get("link").and_then(|value| value.to_str().ok());
    links.is_some_and(|links| links.contains("rel=\"next\"")) || found >= PER_PAGE
}

pub(super) fn endless() -> GithubError {
    GithubError::Malformed {
        source: format!("a list of more than {} entries", MAX_PAGES.saturating_mul(PER_PAGE)).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::lacking;
    use crate::github::COACH_PERMISSIONS;

    #[test]
    fn what_an_app_lacks_is_named() {
        let granted = |pairs: &[(&str, &str)]| {
            let pairs = pairs.iter().map(|(name, level)| ((*name).to_owned(), (*level).to_owned()));
            lacking(&pairs.collect(), COACH_PERMISSIONS)
        };
        assert_eq!(granted(&[("pull_requests", "write")]), []);
        assert_eq!(granted(&[("pull_requests", "read"), ("contents", "write")]), [("pull_requests", "write")]);
    }
}
