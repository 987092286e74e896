//! The forge's address, and the addresses of its repositories. The URL and the token are kept apart.

use base64::Engine as _;
use domain::ids::RepoName;
use secrecy::{ExposeSecret, SecretString};
use std::{fmt, path::PathBuf};
use url::{Host, Url};

/// Why an address cannot be the forge's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotAForgeUrl {
    /// It is no `http` or `https` URL with a host, or has a user, a password, a query or a fragment.
    #[error("{0:?} is not a plain https:// address")]
    NotPlain(String),
    /// It uses `http` to another machine, which would send tokens in clear text.
    #[error("{0:?} is plain http to another machine; use https")]
    ClearText(String),
}

/// The checked address of the forge for git.
#[derive(Clone, Debug)]
pub struct ForgeAccess {
    base: Url,
    /// The proxy's address, which may hold a token.
    proxy: Option<SecretString>,
    certificates: Option<PathBuf>,
}

impl ForgeAccess {
    /// Accepts `https://…`, and `http://…` on loopback.
    pub fn new(base_url: &str) -> Result<Self, NotAForgeUrl> {
        let wrong = || NotAForgeUrl::NotPlain(base_url.chars().take(200).collect());
        let base = Url::parse(base_url).map_err(|_| wrong())?;
        let plain = base.username().is_empty() && base.password().is_none() && base.query().is_none();
        if !plain || base.fragment().is_some() {
            return Err(NotAForgeUrl::NotPlain("an address with a user, a query or a fragment".to_owned()));
        }
        let loopback = match base.host() {
            Some(Host::Domain(name)) => name == "localhost",
            Some(Host::Ipv4(ip)) => ip.is_loopback(),
            Some(Host::Ipv6(ip)) => ip.is_loopback(),
            None => return Err(wrong()),
        };
        match base.scheme() {
            "https" => Ok(Self::direct(base)),
            "http" if loopback => Ok(Self::direct(base)),
            "http" => Err(NotAForgeUrl::ClearText(base_url.to_owned())),
            _ => Err(wrong()),
        }
    }

    fn direct(base: Url) -> Self {
        Self { base, proxy: None, certificates: None }
    }

    /// Sets the proxy through which the forge is reached, and a file of all certificates to trust.
    pub fn through(self, proxy: Option<SecretString>, certificates: Option<PathBuf>) -> Self {
        Self { proxy, certificates, ..self }
    }

    /// Returns the repository `name` on this forge, to be accessed with `token`.
    pub fn remote(&self, name: &RepoName, token: Option<SecretString>) -> Remote {
        let base = self.base.as_str().trim_end_matches('/');
        Remote {
            url: format!("{base}/{}/{}.git", name.owner, name.name),
            protocol: if self.base.scheme() == "http" { "http" } else { "https" },
            token,
            proxy: self.proxy.clone(),
            certificates: self.certificates.clone(),
        }
    }
}

/// A repository on the forge. Its URL contains no secret.
#[derive(Clone)]
pub struct Remote {
    url: String,
    /// The one protocol that git may use with it.
    pub(crate) protocol: &'static str,
    token: Option<SecretString>,
    proxy: Option<SecretString>,
    certificates: Option<PathBuf>,
}

impl Remote {
    /// Returns the address without the token.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns git settings, for the environment, that send the token only to this URL, and use the proxy.
    pub(crate) fn config(&self) -> Vec<(String, SecretString)> {
        let header = self.token.as_ref().map(|token| {
            let header = format!("Authorization: Basic {}", basic(token));
            (format!("http.{}.extraHeader", self.url), SecretString::from(header))
        });
        let proxy = self.proxy.clone().map(|proxy| ("http.proxy".to_owned(), proxy));
        let certificates = self.certificates.as_ref().map(|file| {
            let file = SecretString::from(file.display().to_string());
            ("http.sslCAInfo".to_owned(), file)
        });
        header.into_iter().chain(proxy).chain(certificates).collect()
    }

    /// Returns `text` without the proxy's address and the token, both plain and in base64.
    pub(crate) fn mask(&self, text: &str) -> String {
        let text = match &self.proxy {
            Some(proxy) => text.replace(proxy.expose_secret(), "***"),
            None => text.to_owned(),
        };
        match &self.token {
            Some(token) if !token.expose_secret().is_empty() => {
                text.replace(token.expose_secret(), "***").replace(&basic(token), "***")
            }
            _ => text,
        }
    }
}

fn basic(token: &SecretString) -> String {
    base64::engine::general_purpose::STANDARD.encode(format!("x-access-token:{}", token.expose_secret()))
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remote").field("url", &self.url).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clear_text_is_for_loopback_only() {
        for fine in ["https://github.com", "http://127.0.0.1:4000", "http://localhost:1/x", "http://[::1]:9"] {
            assert!(ForgeAccess::new(fine).is_ok(), "{fine}");
        }
        assert!(matches!(ForgeAccess::new("http://github.com"), Err(NotAForgeUrl::ClearText(_))));
        for wrong in ["file:///etc", "ext::sh -c x", "ssh://git@x/y", "https://u:p@x", "x", "https://x?y", "-x"] {
            assert!(matches!(ForgeAccess::new(wrong), Err(NotAForgeUrl::NotPlain(_))), "{wrong}");
        }
    }

    #[test]
    fn the_token_is_masked_in_both_its_forms() {
        let forge = ForgeAccess::new("https://github.com").unwrap();
        let name = "o/r".parse().unwrap();
        let remote = forge.remote(&name, Some(SecretString::from("ghs_abc".to_owned())));
        let header = remote.config().remove(0).1;
        let shown = remote.mask(&format!("sent {} for ghs_abc", header.expose_secret()));
        assert_eq!(shown, "sent Authorization: Basic *** for ***");
        assert!(!format!("{remote:?}").contains("ghs_abc"));
        assert_eq!(remote.url(), "https://github.com/o/r.git");
    }
}
