//! The addresses of GitHub: github.com, an Enterprise Server, or a local forge.

use uplink::Uplink;
use url::{Host, Url};

/// The addresses of one GitHub.
#[derive(Clone, Debug)]
pub struct GithubUrls {
    api: Url,
    web: Url,
    pub(super) uplink: Uplink,
}

/// Why an address is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// The text is not a URL.
    #[error("{0:?} is not a URL")]
    NotAUrl(String),
    /// The scheme is not `https` (or `http` on loopback).
    #[error("{0}: only https is allowed, and plain http on loopback")]
    Insecure(Url),
    /// There is a user name, password, query or fragment, or no host.
    #[error("{0:?} must be a scheme, a host and a path, nothing else")]
    NotPlain(String),
}

impl GithubUrls {
    /// Takes the address of the REST API (`https://api.github.com`, `https://HOST/api/v3`, or a local forge's root) and
    /// the address of the web pages and git repositories.
    pub fn new(api: &str, web: &str) -> Result<Self, UrlError> {
        Ok(Self { api: plain(api)?, web: plain(web)?, uplink: Uplink::default() })
    }

    /// Sets how these addresses are reached.
    pub fn through(self, uplink: &Uplink) -> Self {
        let uplink = uplink.clone();
        Self { uplink, ..self }
    }

    /// Returns the base of the REST API, without a slash at the end.
    pub fn api(&self) -> &str {
        self.api.as_str().trim_end_matches('/')
    }

    /// Returns the base to which `/graphql` is appended. An Enterprise Server has `/api/v3` and `/api/graphql` side by
    /// side.
    pub fn graphql_base(&self) -> &str {
        let api = self.api();
        match api.strip_suffix("/v3") {
            Some(base) if base.ends_with("/api") => base,
            Some(_) | None => api,
        }
    }

    /// `true` if this GitHub has its own machines for workflows. An Enterprise Server has none
    /// (<https://docs.github.com/en/enterprise-server/actions/how-tos/manage-runners/self-hosted-runners>); a local
    /// forge means github.com.
    pub fn has_hosted_runners(&self) -> bool {
        let host = self.api.host_str().unwrap_or_default();
        is_loopback(&self.api) || host == "api.github.com" || host.ends_with(".ghe.com")
    }

    /// Returns the base of the web pages, without a slash at the end.
    pub fn web(&self) -> &str {
        self.web.as_str().trim_end_matches('/')
    }
}

fn plain(text: &str) -> Result<Url, UrlError> {
    let url = Url::parse(text).map_err(|_| UrlError::NotAUrl(text.chars().take(200).collect()))?;
    let named = !url.username().is_empty() || url.password().is_some();
    if named || url.query().is_some() || url.fragment().is_some() || url.host().is_none() {
        // The text may contain a password, so only the host is repeated.
        return Err(UrlError::NotPlain(url.host_str().unwrap_or_default().to_owned()));
    }
    match url.scheme() {
        "https" => Ok(url),
        "http" if is_loopback(&url) => Ok(url),
        _ => Err(UrlError::Insecure(url)),
    }
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graphql(api: &str) -> String {
        let urls = GithubUrls::new(api, "https://github.com").unwrap();
        format!("{}/graphql", urls.graphql_base())
    }

    #[test]
    fn each_github_has_its_graphql_address() {
        assert_eq!(graphql("https://api.github.com"), "https://api.github.com/graphql");
        assert_eq!(graphql("https://api.github.com/"), "https://api.github.com/graphql");
        assert_eq!(graphql("https://ghes.example/api/v3"), "https://ghes.example/api/graphql");
        assert_eq!(graphql("https://ghes.example/api/v3/"), "https://ghes.example/api/graphql");
        assert_eq!(graphql("https://api.acme.ghe.com"), "https://api.acme.ghe.com/graphql");
        assert_eq!(graphql("http://127.0.0.1:4000"), "http://127.0.0.1:4000/graphql");
        assert_eq!(graphql("http://localhost:4000/api/v3"), "http://localhost:4000/api/graphql");
    }

    #[test]
    fn an_enterprise_server_has_no_machines_for_workflows() {
        for (api, expected) in [
            ("https://api.github.com", true),
            ("https://api.acme.ghe.com", true),
            ("http://127.0.0.1:4000", true),
            ("https://ghes.example/api/v3", false),
            ("https://api.github.com.example", false),
        ] {
            let urls = GithubUrls::new(api, "https://github.com").unwrap();
            assert_eq!(urls.has_hosted_runners(), expected, "{api}");
        }
    }

    #[test]
    fn plain_http_is_for_loopback_only() {
        for fine in ["http://127.0.0.1:1", "http://[::1]:1", "http://localhost", "https://ghes.example"] {
            assert!(GithubUrls::new(fine, fine).is_ok(), "{fine}");
        }
        for bad in ["http://ghes.example/api/v3", "http://127.0.0.1.evil.example", "ftp://localhost", "http://10.0.0.1"]
        {
            assert!(matches!(GithubUrls::new(bad, bad), Err(UrlError::Insecure(_))), "{bad}");
        }
    }

    #[test]
    fn a_refused_address_does_not_repeat_its_password() {
        let refused = GithubUrls::new("https://me:hunter2@ghes.example/api/v3", "https://ghes.example").unwrap_err();
        assert!(!format!("{refused} {refused:?}").contains("hunter2"));
        for bad in ["https://a?b", "https://a#b", "not a url", "", "data:text/plain,x"] {
            assert!(GithubUrls::new(bad, "https://github.com").is_err(), "{bad}");
        }
    }
}
