//! The server's settings on the hosts that foreign programs may reach.

use crate::config::server_parse::Parser;
use domain::{
    network::{HostName, HostRule},
    registries,
};
use secrecy::SecretString;
use std::{
    collections::BTreeMap,
    net::{IpAddr, SocketAddr},
};
use uplink::{Authorities, Exceptions, Proxy, Uplink};
use url::Url;

const MAX_HOSTS: usize = 500;
const HTTPS: u16 = 443;

/// The hosts that foreign programs may reach at most, and how the service itself reaches others.
#[derive(Clone, Debug)]
pub struct NetworkSettings {
    /// Hosts that a repository's `network.allow` may name, and registries that set-up may reach.
    pub allow: Vec<HostRule>,
    /// The addresses of internal hosts; they take precedence over DNS.
    pub pinned: BTreeMap<HostName, SocketAddr>,
    /// How the service itself reaches other machines.
    pub uplink: Uplink,
}

impl Default for NetworkSettings {
    fn default() -> Self {
        Self { allow: registries::public(), pinned: BTreeMap::new(), uplink: Uplink::default() }
    }
}

fn items(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c == ',' || c.is_whitespace()).filter(|item| !item.is_empty())
}

/// Reads hosts separated by commas or blanks; `registries` means all public registries, `none` no host.
pub(crate) fn allow(text: &str) -> Result<Vec<HostRule>, String> {
    let mut rules = Vec::new();
    for item in items(text) {
        match item {
            "none" if items(text).count() == 1 => return Ok(Vec::new()),
            "none" => return Err("none stands alone".to_owned()),
            "registries" => rules.extend(registries::public()),
            item => rules.push(item.parse().map_err(|why| {
                format!("{item:?}: {why}; hosts such as example.com or *.example.com, registries, or none")
            })?),
        }
    }
    match rules.len() {
        0..=MAX_HOSTS => Ok(rules),
        _ => Err(format!("names more than {MAX_HOSTS} hosts")),
    }
}

/// Reads entries `host=address` or `host=address:port`, separated by commas or blanks.
pub(crate) fn pinned(text: &str) -> Result<BTreeMap<HostName, SocketAddr>, String> {
    let mut pinned = BTreeMap::new();
    for item in items(text) {
        let wrong = || format!("{item:?} is not host=address or host=address:port");
        let (host, address) = item.split_once('=').ok_or_else(wrong)?;
        let host: HostName = host.parse().map_err(|why| format!("{host:?}: {why}"))?;
        let address = address
            .parse::<SocketAddr>()
            .or_else(|_| address.parse::<IpAddr>().map(|ip| SocketAddr::new(ip, HTTPS)))
            .map_err(|_| wrong())?;
        if pinned.insert(host, address).is_some() {
            return Err(format!("{item:?} names its host again"));
        }
    }
    match pinned.len() {
        0..=MAX_HOSTS => Ok(pinned),
        _ => Err(format!("names more than {MAX_HOSTS} hosts")),
    }
}

/// Reads the address of the organisation's proxy.
fn proxy(text: &str) -> Result<Url, String> {
    let url = text.parse::<Url>();
    let url = url.map_err(|_| "is not an address such as http://proxy.example.com:3128".to_owned())?;
    Proxy::check(&url).map_err(|why| why.to_string())?;
    Ok(url)
}

/// Checks credentials: a user name and a password.
fn credentials(text: &str) -> Result<SecretString, &'static str> {
    let is_plain = !text.chars().any(char::is_control);
    match text.split_once(':') {
        Some((user, _)) if !user.is_empty() && is_plain => Ok(text.to_owned().into()),
        Some(_) | None => Err("must be user:password"),
    }
}

impl Parser {
    /// Reads the settings on the network; mistakes are collected.
    pub(crate) fn network(&mut self) -> NetworkSettings {
        let usual = NetworkSettings::default();
        NetworkSettings {
            allow: self.parse("NETWORK_ALLOW", allow).unwrap_or(usual.allow),
            pinned: self.parse("NETWORK_PINNED", pinned).unwrap_or_default(),
            uplink: self.uplink(),
        }
    }

    fn uplink(&mut self) -> Uplink {
        let url = self.parse("NETWORK_PROXY", proxy);
        let credentials = self.parse("NETWORK_PROXY_CREDENTIALS", credentials);
        let exceptions = self.parse("NETWORK_NO_PROXY", str::parse::<Exceptions>);
        let authorities = self.parse("NETWORK_CA", Authorities::from_pem);
        self.check_only_with("NETWORK_PROXY", ["NETWORK_PROXY_CREDENTIALS", "NETWORK_NO_PROXY"]);
        // `proxy` has checked the address.
        let proxy = url.and_then(|url| Proxy::new(url, credentials, exceptions.unwrap_or_default()).ok());
        Uplink::new(proxy, authorities)
    }
}

#[cfg(test)]
mod tests {
    use super::{allow, pinned};
    use domain::registries;

    #[test]
    fn hosts_stand_between_commas_or_blanks() {
        let shown = |text: &str| allow(text).map(|rules| rules.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(
            shown("a.example, *.B.example\nc.example"),
            Ok(["a.example", "*.b.example", "c.example"].map(str::to_owned).to_vec())
        );
        assert_eq!(shown("none"), Ok(Vec::new()));
        assert_eq!(allow("registries a.example").unwrap().len(), registries::public().len() + 1);
        for wrong in
            ["none a.example", "10.0.0.1", "https://a.example", "a.example:443", "*", &"a.example ".repeat(501)]
        {
            assert!(allow(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn internal_hosts_have_an_address() {
        let found =
            pinned("npm.corp=10.1.2.3, pypi.corp=10.1.2.4:8443 six.corp=[fd00::1]:444 seven.corp=fd00::2").unwrap();
        let shown: Vec<String> = found.iter().map(|(host, address)| format!("{host} {address}")).collect();
        assert_eq!(
            shown,
            ["npm.corp 10.1.2.3:443", "pypi.corp 10.1.2.4:8443", "seven.corp [fd00::2]:443", "six.corp [fd00::1]:444"]
        );
        for wrong in
            ["npm.corp", "npm.corp=", "=10.0.0.1", "10.0.0.1=10.0.0.1", "a=b", "a=1.2.3.4:x", "a=1.2.3.4 a=1.2.3.5"]
        {
            assert!(pinned(wrong).is_err(), "{wrong}");
        }
    }
}
