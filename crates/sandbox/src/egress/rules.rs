//! The rules for the network access of a run.

use crate::egress::refusals::Refusals;
use domain::{
    network::{HostName, HostRule},
    registries,
    registries::GoModules,
};
use http::{HeaderMap, HeaderName};
use secrecy::SecretString;
use std::{
    collections::BTreeMap,
    net::{IpAddr, SocketAddr},
    sync::{Arc, OnceLock},
    time::Duration,
};
use uplink::Uplink;
use url::{Host, Url};

/// The usual port that the proxy connects to.
pub(super) const PORT: u16 = 443;

const MAX_ROUTE_NAME: usize = 64;

/// Everything that may be reached through one door. The default is nothing.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    /// Hosts that may be connected to by name, on port 443.
    pub hosts: Vec<HostRule>,
    /// Fixed addresses of some hosts, which override DNS: an organisation's internal hosts, whose addresses are not
    /// public. This allows nothing by itself; `hosts` must cover the host as well.
    pub pinned: BTreeMap<HostName, SocketAddr>,
    /// Every host that the server allows to any repository.
    pub ceiling: Vec<HostRule>,
    /// The list to which the hosts are added that could not be reached.
    pub refusals: Refusals,
    /// How the service reaches hosts that are not pinned.
    pub uplink: Uplink,
    /// The modules that Go's proxy may be asked for, if `hosts` covers it.
    pub go_modules: GoModules,
    /// The one port that the proxy connects to, if it is not 443.
    pub port: Option<u16>,
    /// Model APIs behind the reverse proxy.
    pub models: Vec<ModelRoute>,
    /// The limits on its use.
    pub caps: Caps,
}

impl Rules {
    /// Allows these hosts and nothing else.
    pub fn hosts(hosts: impl IntoIterator<Item = HostRule>) -> Self {
        Self { hosts: hosts.into_iter().collect(), ..Self::default() }
    }

    /// `true` if a public registry is among the hosts.
    pub(super) fn lead_to_registries(&self) -> bool {
        let exactly = |rule| match rule {
            HostRule::Exactly(host) => Some(host),
            HostRule::Below(_) => None,
        };
        registries::public().into_iter().filter_map(exactly).any(|host| self.allow(&host))
    }

    /// Returns `true` if a connection to this host is allowed.
    pub fn allow(&self, host: &HostName) -> bool {
        self.hosts.iter().any(|rule| rule.covers(host))
    }
}

/// One model's API behind the reverse proxy.
#[derive(Clone, Debug)]
pub struct ModelRoute {
    /// The path segment that names it: letters, digits, `-` and `_`.
    pub name: String,
    /// The API's address; `http` only on loopback. Its path is put before the path of a request.
    pub upstream: Url,
    /// The header for the key, and the header's whole value.
    pub header: (HeaderName, SecretString),
    /// The headers that every request carries besides, such as the number of the account.
    pub beside: HeaderMap,
    /// The allowed paths. One that ends with a slash includes everything below it.
    pub paths: Vec<String>,
    /// The terms that a request must meet.
    pub terms: Terms,
}

/// The terms for requests to a model. None of them lets a request reach another host through the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Terms {
    /// Only requests whose cost follows from the usage in the answer and ends with it, in the format of OpenAI's API.
    /// An answer without usage counts as the most that it may have used.
    Priced {
        /// The model that may be asked. If it is not set, the first request of the run sets it to the one that it names.
        model: Arc<OnceLock<String>>,
    },
    /// Only the known part of Anthropic's Messages API: the calls of its program, and the fields for sampling.
    Messages {
        /// The model that may be asked besides a small one. If it is not set, the first request for a larger model sets it.
        model: Arc<OnceLock<String>>,
    },
}

/// Why a route cannot be opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum UnfitRoute {
    #[error("the name of a model route holds letters, digits, - and _, at most {MAX_ROUTE_NAME}")]
    Name,
    #[error("the model's API must be at an https address; http only on loopback")]
    Upstream,
}

impl ModelRoute {
    /// Checks the route. A key must never cross a network in clear text, nor be part of an address.
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
        if is_safe && self.upstream.username().is_empty() && self.upstream.password().is_none() {
            Ok(())
        } else {
            Err(UnfitRoute::Upstream)
        }
    }
}

/// The limits on one run's use of its door.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caps {
    /// The most connections at once. Further ones wait.
    pub connections: usize,
    /// The bytes of the whole run, in both directions together.
    pub bytes: u64,
    /// The most that the model calls may cost by the price table, in millionths of a dollar; `None` for no limit.
    pub usd_micros: Option<u64>,
    /// The time limit for resolving a host and connecting to it.
    pub connect: Duration,
    /// The time limit for receiving the head of a request.
    pub head: Duration,
    /// The longest silence of a connection.
    pub idle: Duration,
    /// The longest duration of a connection.
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
            beside: http::HeaderMap::new(),
            paths: Vec::new(),
            terms: super::Terms::Priced { model: std::sync::Arc::default() },
        };
        route.check()
    }

    #[test]
    fn a_key_crosses_no_network_in_clear_text() {
        for upstream in ["https://api.example.com", "http://127.0.0.1:9", "http://localhost:9/v1", "http://[::1]:9"] {
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
