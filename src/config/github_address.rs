//! The addresses of GitHub: github.com, an Enterprise Server, or a local forge.

use serde::{Deserialize, Serialize};
use std::net::IpAddr;
use url::{Host, Url};

/// The addresses of one GitHub server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GithubAddress {
    pub api: Url,
    /// The address of web pages and repositories.
    pub web: Url,
}

/// The reason why an address is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAnAddress {
    /// The text is not a URL with a host.
    #[error("is not an address such as https://github.example")]
    NotAUrl,
    /// The address uses plain http beyond loopback: tokens would cross a network in clear text.
    #[error("plain http is only allowed on loopback; use https")]
    PlainHttp,
    /// The scheme is neither http nor https.
    #[error("must begin with https://")]
    OtherScheme,
    /// The URL holds credentials, a query or a fragment.
    #[error("must hold no user, password, query or fragment")]
    MoreThanAnAddress,
}

/// Reads an address to which credentials may be sent.
/// Refuses text that is not a URL, uses plain http beyond loopback, or holds more than an address.
pub fn safe_address(text: &str) -> Result<Url, NotAnAddress> {
    let url = web_address(text)?;
    match url.scheme() {
        "http" if !is_loopback(&url) => Err(NotAnAddress::PlainHttp),
        _ => Ok(url),
    }
}

/// Reads the address of a web server, http or https.
pub(crate) fn web_address(text: &str) -> Result<Url, NotAnAddress> {
    let url = Url::parse(text.trim()).map_err(|_| NotAnAddress::NotAUrl)?;
    if url.scheme() != "https" && url.scheme() != "http" {
        return Err(NotAnAddress::OtherScheme);
    }
    let more = !url.username().is_empty() || url.password().is_some() || url.query().is_some();
    match url.host() {
        None => Err(NotAnAddress::NotAUrl),
        Some(_) if more || url.fragment().is_some() => Err(NotAnAddress::MoreThanAnAddress),
        Some(_) => Ok(url),
    }
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(ip)) => IpAddr::V4(ip).is_loopback(),
        Some(Host::Ipv6(ip)) => IpAddr::V6(ip).is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    }
}

impl GithubAddress {
    /// `true` if this is github.com, the default.
    pub fn is_usual(&self) -> bool {
        self.web.host_str() == Some("github.com")
    }

    /// `true` if its API is on this machine.
    pub fn is_local(&self) -> bool {
        is_loopback(&self.api)
    }

    /// Fills in a missing address: if only one is given, the other is derived from it, so that a token for one GitHub
    /// server is never sent to another.
    pub(crate) fn complete(api: Option<Url>, web: Option<Url>) -> Result<Self, NotAnAddress> {
        let at = |url: &Url, path: &str| {
            let mut url = url.clone();
            url.set_path(path);
            url
        };
        match (api, web) {
            (Some(api), Some(web)) => Ok(Self { api, web }),
            (Some(api), None) if api.host_str() == Some("api.github.com") => {
                Ok(Self { web: safe_address("https://github.com")?, api })
            }
            (Some(api), None) => Ok(Self { web: at(&api, ""), api }),
            // A tenant of GitHub Enterprise Cloud.
            (None, Some(web)) if web.host_str().is_some_and(|host| host.ends_with(".ghe.com")) => {
                let host = web.host_str().unwrap_or_default();
                Ok(Self { api: safe_address(&format!("https://api.{host}"))?, web })
            }
            (None, Some(web)) if web.host_str() != Some("github.com") => Ok(Self { api: at(&web, "/api/v3"), web }),
            (None, _) => {
                Ok(Self { api: safe_address("https://api.github.com")?, web: safe_address("https://github.com")? })
            }
        }
    }
}
