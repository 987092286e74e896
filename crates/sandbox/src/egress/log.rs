//! The decisions made at a door.

use crate::egress::client_hello::HelloFault;
use domain::refused_host::HostRefusal;
use parking_lot::Mutex;
use std::{fmt, net::IpAddr};

/// The most different decisions that are kept. Later new ones are dropped.
const MAX_DECISIONS: usize = 500;
const MAX_HOST: usize = 253;
/// The prefix of a model's route, which is shown in place of a host.
pub(super) const ROUTE: &str = "model/";

/// The decision about one host, and how often it was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The host, or the text given in its place. A model's route is `model/<name>`.
    pub host: String,
    /// The decision.
    pub outcome: Outcome,
    /// How often it was made.
    pub times: u64,
}

/// The result of a request at the door.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was let through.
    Allowed,
    /// It was refused.
    Refused(Refusal),
}

/// Why a request was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It did not carry the token of the run.
    NoToken,
    /// It was plain HTTP, not a CONNECT request.
    Plain,
    /// The target is not a host name with a port.
    NotATarget,
    /// The port is not 443.
    Port(u16),
    /// No rule covers the host.
    NotListed,
    /// The name resolves to an address that is not public.
    NotPublic(IpAddr),
    /// The name cannot be resolved.
    Unresolved,
    /// The host does not answer.
    Unreachable,
    /// The organisation's proxy does not connect to the host.
    Upstream,
    /// The run has used up the bytes that it may send and receive.
    UsedUp,
    /// The tunnel began with something other than a TLS handshake with this host.
    Hello(HelloFault),
    /// The registry's certificate is not trusted here.
    Certificate,
    /// It does not read packages.
    NotARead,
    /// Go's proxy was asked for a module that the default branch does not name.
    UnnamedModule,
    /// Too many paths led to nothing at registries.
    TooManyMisses,
    /// No route has that name, or its rules do not allow the path or method.
    NoRoute,
}

impl Refusal {
    /// Returns `true` if the refusal concerns a host, or the use of the network as a whole.
    pub fn concerns_host(self) -> bool {
        let is_of_tunnel = matches!(self, Self::UsedUp | Self::Hello(_) | Self::TooManyMisses);
        is_of_tunnel || self.of_host(ByServer::Never).is_some()
    }
}

/// The server's own rule for a host, before any repository's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ByServer {
    Allowed,
    /// Allowed, and a public registry.
    Registry,
    Never,
}

impl Refusal {
    /// Returns why a host was not reached; `None` if the refusal does not concern a host.
    pub(super) fn of_host(self, by_server: ByServer) -> Option<HostRefusal> {
        Some(match self {
            Self::NotListed => match by_server {
                ByServer::Allowed => HostRefusal::NotAllowed,
                ByServer::Registry => HostRefusal::ClosedRegistry,
                ByServer::Never => HostRefusal::AboveCeiling,
            },
            Self::NotPublic(_) => HostRefusal::NotPublic,
            Self::Unresolved => HostRefusal::Unresolved,
            Self::Unreachable => HostRefusal::Unreachable,
            Self::Upstream => HostRefusal::Upstream,
            Self::Port(port) => HostRefusal::Port(port),
            Self::Plain => HostRefusal::PlainHttp,
            Self::NotATarget => HostRefusal::Address,
            Self::Certificate => HostRefusal::Certificate,
            Self::UnnamedModule => HostRefusal::UnnamedModule,
            Self::NoToken | Self::UsedUp | Self::NoRoute | Self::Hello(_) | Self::NotARead | Self::TooManyMisses => {
                return None;
            }
        })
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoToken => write!(f, "the request does not carry the token of this run"),
            Self::Plain => write!(f, "plain HTTP does not pass; use https"),
            Self::NotATarget => write!(f, "only names of hosts are connected to, never addresses"),
            Self::Port(port) => write!(f, "port {port} does not pass; only port 443 does"),
            Self::NotListed => write!(f, "the host is not among those that may be reached"),
            Self::NotPublic(address) => write!(f, "its address {address} is not a public one"),
            Self::Unresolved => write!(f, "the name leads nowhere"),
            Self::Unreachable => write!(f, "nobody answers there"),
            Self::Upstream => write!(f, "the organisation's proxy does not connect to it"),
            Self::UsedUp => write!(f, "this run has sent and received as much as it may"),
            Self::Hello(fault) => write!(f, "{fault}"),
            Self::Certificate => write!(f, "its certificate is not trusted here"),
            Self::NotARead => write!(f, "only what reads packages passes: GET and HEAD of their paths, without a body"),
            Self::UnnamedModule => write!(f, "no go.sum of the default branch names this module"),
            Self::TooManyMisses => write!(f, "too many paths led to nothing"),
            Self::NoRoute => write!(f, "there is nothing at this path"),
        }
    }
}

/// The decisions, ordered by when each was first made.
#[derive(Debug, Default)]
pub(super) struct Log(Mutex<Vec<Decision>>);

impl Log {
    /// Records a decision. Each different one is logged for the operator once, so that a program cannot fill the
    /// service's log.
    pub(super) fn note(&self, host: &str, outcome: Outcome) {
        let host: String = host.chars().filter(|c| !c.is_control()).take(MAX_HOST).collect();
        let mut kept = self.0.lock();
        let is_full = kept.len() >= MAX_DECISIONS;
        let known = kept.iter_mut().find(|decision| decision.host == host && decision.outcome == outcome);
        match known {
            Some(decision) => decision.times = decision.times.saturating_add(1),
            None if !is_full => {
                match outcome {
                    Outcome::Allowed => tracing::debug!(host, "a sandbox may reach {host}"),
                    // git and others send the token only after they were asked for it.
                    Outcome::Refused(why @ Refusal::NoToken) => tracing::debug!(host, "asked for {host}: {why}"),
                    Outcome::Refused(why) => tracing::info!(host, "a sandbox may not reach {host}: {why}"),
                }
                kept.push(Decision { host, outcome, times: 1 });
            }
            None => {}
        }
    }

    /// `true` if a connection to a host may have gone through. Also `true` if the list is full, because then one may be
    /// missing.
    pub(super) fn has_let_out(&self) -> bool {
        let kept = self.0.lock();
        let went_out = |decision: &Decision| decision.outcome == Outcome::Allowed && !decision.host.starts_with(ROUTE);
        kept.len() >= MAX_DECISIONS || kept.iter().any(went_out)
    }

    pub(super) fn decisions(&self) -> Vec<Decision> {
        self.0.lock().clone()
    }
}

#[cfg(test)]
mod tests {
    use super::{Log, MAX_DECISIONS, Outcome, Refusal};

    #[test]
    fn a_log_counts_and_does_not_grow_without_end() {
        let log = Log::default();
        for number in 0..2_000 {
            log.note("a.example", Outcome::Allowed);
            log.note(&format!("{number}.example"), Outcome::Refused(Refusal::NotListed));
        }
        log.note(&"x\n".repeat(10_000), Outcome::Allowed);
        let kept = log.decisions();
        assert_eq!(kept.len(), MAX_DECISIONS);
        assert_eq!((kept[0].host.as_str(), kept[0].times), ("a.example", 2_000));
        assert!(log.has_let_out());
    }

    #[test]
    fn only_a_connection_to_a_host_lets_a_run_out() {
        let log = Log::default();
        log.note("model/anthropic", Outcome::Allowed);
        log.note("b.example", Outcome::Refused(Refusal::NotListed));
        assert!(!log.has_let_out());
        log.note("b.example", Outcome::Allowed);
        assert!(log.has_let_out());
    }
}
