//! What a run may reach.

use domain::network::{HostName, HostRule};
use http::HeaderName;
use secrecy::SecretString;
use std::{
    collections::BTreeMap,
    net::{IpAddr, SocketAddr},
    sync::{Arc, OnceLock},
    time::Duration,
};
use url::{Host, Url};

/// The one port that the proxy connects to.
pub(super) const PORT: u16 = 443;

const MAX_ROUTE_NAME: usize = 64;

/// What may be reached through one door. The default is nothing at all.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    /// Hosts that may be connected to by name, on port 443.
    pub hosts: Vec<HostRule>,
    /// Where some hosts are, whatever the domain name system says: the internal hosts of an organisation, whose addresses
    /// are not public. Being named here allows nothing; the host must be covered by `hosts` as well.
    pub pinned: BTreeMap<HostName, SocketAddr>,
    /// Model APIs behind the reverse proxy.
    pub models: Vec<ModelRoute>,
    /// How much of everything.
    pub caps: Caps,
}

impl Rules {
    /// These hosts and nothing else.
    #[must_use]
    pub fn hosts(hosts: impl IntoIterator<Item = HostRule>) -> Self {
        Self {
            hosts: hosts.into_iter().collect(),
            ..Self::default()
        }
    }

    /// Whether a connection to this host is allowed.
    #[must_use]
    pub fn allow(&self, host: &HostName) -> bool {
        self.hosts.iter().any(|rule| rule.covers(host))
    }
}

/// One model's API behind the reverse proxy.
#[derive(Clone, Debug)]
pub struct ModelRoute {
    /// The segment of the path that names it: letters, digits, `-` and `_`.
    pub name: String,
    /// Where the API is; `http` only on loopback. Its path comes before that of a request.
    pub upstream: Url,
    /// The header that holds the key, and its whole value.
    pub header: (HeaderName, SecretString),
    /// The paths that may be asked for; one that ends with a slash stands for everything below it.
    pub paths: Vec<String>,
    /// What a request may ask for.
    pub terms: Terms,
}

/// What requests to a model may ask for, besides that they reach no other host through it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Terms {
    /// Whatever the API offers.
    #[default]
    Any,
    /// What the answer tells the price of and what ends with it, as OpenAI's API takes requests. An answer that does not
    /// tell what it used counts as the most that it may have.
    Priced {
        /// The models that may be asked. If it is not set, the first request of the run sets it to the model that it names.
        models: Arc<OnceLock<Vec<String>>>,
    },
}

/// Why a route is not opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum UnfitRoute {
    #[error("the name of a model route holds letters, digits, - and _, at most {MAX_ROUTE_NAME}")]
    Name,
    #[error("the model's API must be at an https address; http only on loopback")]
    Upstream,
}

impl ModelRoute {
    /// A key must never cross a network in clear text, nor stand in an address.
    pub(super) fn check(&self) -> Result<(), UnfitRoute> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if self.name.is_empty() || self.name.len() > MAX_ROUTE_NAME || !self.name.chars().all(is_plain) {
            return Err(UnfitRoute::Name);
        }
        let is_loopback = match self.upstream.host() {
            Some(Host::Domain(name)) => name == "localhost",
            Some(Host::Ipv4(address)) => IpAddr::V4(address).is_loopback(),
            Some(Host::Ipv6(address)) => IpAddr::V6(address).is_loopback(),
            None => return Err(UnfitRoute::Upstream),
        };
        let is_safe = match self.upstream.scheme() {
            "https" => true,
            "http" => is_loopback,
            _ => false,
        };
        match is_safe && self.upstream.username().is_empty() && self.upstream.password().is_none() {
            true => Ok(()),
            false => Err(UnfitRoute::Upstream),
        }
    }
}

/// How much one run may use of its door.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caps {
    /// Connections at once; more wait.
    pub connections: usize,
    /// Bytes of the whole run, both ways together.
    pub bytes: u64,
    /// What the calls of models may cost by the price table, in millionths of a dollar; `None` for as much as they do.
    pub usd_micros: Option<u64>,
    /// How long looking a host up and connecting to it may take.
    pub connect: Duration,
    /// How long the head of a request may take to arrive.
    pub head: Duration,
    /// How long a connection may be silent.
    pub idle: Duration,
    /// How long a connection may last.
    pub lifetime: Duration,
}

impl Default for Caps {
    fn default() -> Self {
        Self {
            connections: 64,
            bytes: 8 << 30,
            usd_micros: None,
            connect: Duration::from_secs(15),
            head: Duration::from_secs(60),
            idle: Duration::from_secs(600),
            lifetime: Duration::from_secs(6 * 3_600),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ModelRoute, UnfitRoute};

    fn route(name: &str, upstream: &str) -> Result<(), UnfitRoute> {
        let route = ModelRoute {
            name: name.to_owned(),
            upstream: upstream.parse().unwrap(),
            header: (http::HeaderName::from_static("x-api-key"), "key".into()),
            paths: Vec::new(),
            terms: super::Terms::Any,
        };
        route.check()
    }

    #[test]
    fn a_key_crosses_no_network_in_clear_text() {
        for upstream in [
            "https://api.example.com",
            "http://127.0.0.1:9",
            "http://localhost:9/v1",
            "http://[::1]:9",
        ] {
            assert_eq!(route("main", upstream), Ok(()), "{upstream}");
        }
        for upstream in [
            "http://api.example.com",
            "http://10.0.0.1",
            "http://localhost.example.com",
            "https://user:word@api.example.com",
            "https://user@api.example.com",
            "file:///etc/passwd",
            "ftp://127.0.0.1",
        ] {
            assert_eq!(route("main", upstream), Err(UnfitRoute::Upstream), "{upstream}");
        }
        for name in ["", "a/b", "..", "a b", "%2e"] {
            assert_eq!(route(name, "https://api.example.com"), Err(UnfitRoute::Name), "{name}");
        }
    }
}
