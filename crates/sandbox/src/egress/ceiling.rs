//! The server's limit on the hosts that repositories may ask for.

use crate::egress::rules::Rules;
use domain::{
    network::{HostName, HostRule, cut},
    registries,
    registries::GoModules,
};
use std::{collections::BTreeMap, net::SocketAddr};
use uplink::Uplink;

/// The most that any run may reach besides its model.
#[derive(Clone, Debug)]
pub struct Ceiling {
    /// Every host that a run may be allowed.
    pub hosts: Vec<HostRule>,
    /// The addresses of internal hosts.
    pub pinned: BTreeMap<HostName, SocketAddr>,
    /// How the service reaches other hosts.
    pub uplink: Uplink,
}

impl Default for Ceiling {
    /// Allows the public registries.
    fn default() -> Self {
        Self { hosts: registries::public(), pinned: BTreeMap::new(), uplink: Uplink::default() }
    }
}

impl Ceiling {
    /// Returns the rules of a run whose repository's settings ask for these hosts, without those that the server does not
    /// allow.
    pub fn rules(&self, asked: &[HostRule]) -> Rules {
        let (stays, _) = cut(asked, &self.hosts);
        Rules {
            pinned: self.pinned.clone(),
            ceiling: self.hosts.clone(),
            uplink: self.uplink.clone(),
            go_modules: GoModules::Any,
            ..Rules::hosts(stays.into_iter().cloned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Ceiling;

    #[test]
    fn what_lies_above_the_ceiling_stays_closed() {
        let rules = |hosts: &[&str]| hosts.iter().map(|host| host.parse().unwrap()).collect::<Vec<_>>();
        let ceiling = Ceiling { hosts: rules(&["*.corp.example", "pypi.org"]), ..Ceiling::default() };
        let asked = rules(&["npm.corp.example", "evil.example", "*.example"]);
        assert_eq!(ceiling.rules(&asked).hosts, rules(&["npm.corp.example"]));
        let closed = Ceiling { hosts: Vec::new(), ..ceiling };
        assert!(closed.rules(&asked).hosts.is_empty());
    }
}
