//! What was decided at a door.

use std::{
    fmt,
    net::IpAddr,
    sync::{Mutex, PoisonError},
};

/// Different decisions that are kept; what comes after is no longer told apart.
const MAX_DECISIONS: usize = 500;
const MAX_HOST: usize = 253;
/// What a model's route begins with in place of a host.
pub(super) const ROUTE: &str = "model/";

/// What was decided of one host, and how often.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The host, or what was given in its place; a model's route is `model/<name>`.
    pub host: String,
    /// What was decided.
    pub outcome: Outcome,
    /// How often.
    pub times: u64,
}

/// What became of a request at the door.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It went through.
    Allowed,
    /// It did not.
    Refused(Refusal),
}

/// Why a request did not go through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It did not carry the token of the run.
    NoToken,
    /// It was no CONNECT request: plain HTTP.
    Plain,
    /// The target is no name with a port.
    NotATarget,
    /// The port is not 443.
    Port(u16),
    /// No rule covers the host.
    NotListed,
    /// The name leads to an address that is not public.
    NotPublic(IpAddr),
    /// The name leads nowhere.
    Unresolved,
    /// Nobody answers there.
    Unreachable,
    /// The run has used up what it may send and receive.
    UsedUp,
    /// No route has that name, or the path or method is not one of its own.
    NoRoute,
}

impl Refusal {
    /// Whether somebody could want to change the settings because of it.
    #[must_use]
    pub fn is_of_the_rules(self) -> bool {
        match self {
            Self::Plain | Self::NotATarget | Self::Port(_) | Self::NotListed | Self::NotPublic(_) | Self::UsedUp => {
                true
            }
            Self::NoToken | Self::Unresolved | Self::Unreachable | Self::NoRoute => false,
        }
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
            Self::UsedUp => write!(f, "this run has sent and received as much as it may"),
            Self::NoRoute => write!(f, "there is nothing at this path"),
        }
    }
}

/// Decisions in the order of their first time.
#[derive(Debug, Default)]
pub(super) struct Log(Mutex<Vec<Decision>>);

impl Log {
    /// Keeps a decision. Each is told to the operator once, so that a program cannot fill the service's own log.
    pub(super) fn note(&self, host: &str, outcome: Outcome) {
        let host: String = host.chars().filter(|c| !c.is_control()).take(MAX_HOST).collect();
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_full = kept.len() >= MAX_DECISIONS;
        let known = kept
            .iter_mut()
            .find(|decision| decision.host == host && decision.outcome == outcome);
        match known {
            Some(decision) => decision.times = decision.times.saturating_add(1),
            None if !is_full => {
                match outcome {
                    Outcome::Allowed => tracing::debug!(host, "a sandbox may reach {host}"),
                    Outcome::Refused(why) => tracing::info!(host, "a sandbox may not reach {host}: {why}"),
                }
                kept.push(Decision {
                    host,
                    outcome,
                    times: 1,
                });
            }
            None => {}
        }
    }

    /// Whether a connection to a host went through, as far as every decision is kept.
    pub(super) fn has_let_out(&self) -> bool {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let went_out = |decision: &Decision| decision.outcome == Outcome::Allowed && !decision.host.starts_with(ROUTE);
        kept.len() >= MAX_DECISIONS || kept.iter().any(went_out)
    }

    pub(super) fn decisions(&self) -> Vec<Decision> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
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
