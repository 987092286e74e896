//! Hosts that the proxy did not let a program reach, and when a program that waits for one is ended.

use serde::{Deserialize, Serialize};

/// A host that a program asked for and did not reach.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RefusedHost {
    /// The host as the program named it; for a Go module, with the module's name behind it.
    pub host: String,
    pub why: HostRefusal,
}

/// The reason why the proxy did not connect a program to a host. Each names the setting that would let it through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HostRefusal {
    /// Neither the repository's settings nor its registries name it. The server allows it.
    NotAllowed,
    /// The server allows it to no repository.
    AboveCeiling,
    /// It is a public registry of an ecosystem that the default branch does not use, or only set-up reads it.
    ClosedRegistry,
    /// Go's proxy was asked for a module that the default branch does not name.
    UnnamedModule,
    /// Its certificate comes from an authority that is not trusted here.
    Certificate,
    /// Its name leads to an address that is not public.
    NotPublic,
    /// Its name leads to no address.
    Unresolved,
    /// Nothing answers at its address.
    Unreachable,
    /// The organisation's proxy does not connect to it.
    Upstream,
    /// The program asked for another port than 443.
    Port(u16),
    /// The program asked by plain HTTP.
    PlainHttp,
    /// The program asked for an address, not for a name.
    Address,
}

impl HostRefusal {
    /// `true` if a change cannot do without the host, and only a person can open it: the network does not lead there, or the
    /// default branch does not use it yet.
    pub fn waits_for_person(self) -> bool {
        match self {
            Self::Unresolved
            | Self::Unreachable
            | Self::Upstream
            | Self::Certificate
            | Self::ClosedRegistry
            | Self::UnnamedModule => true,
            Self::NotAllowed
            | Self::AboveCeiling
            | Self::NotPublic
            | Self::Port(_)
            | Self::PlainHttp
            | Self::Address => false,
        }
    }
}

/// The progress of a program; all times are in milliseconds from its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pulse {
    pub now: u64,
    /// The processor time that it and its child processes used.
    pub processor: u64,
    /// The time at which the last byte went through an allowed connection.
    pub allowed: Option<u64>,
}

/// Finds the moment at which a program only waits for a host that it does not reach: no allowed connection moves, and
/// it computes nothing.
#[derive(Clone, Copy, Debug)]
pub struct Stall {
    patience: u64,
    still_since: Option<Pulse>,
}

/// A program that uses less than this part of one processor computes nothing.
const IDLE_PART: u64 = 20;

impl Stall {
    /// Starts the watch with the first refusal. The patience is in milliseconds.
    pub fn new(patience: u64) -> Self {
        Self { patience, still_since: None }
    }

    /// `true` if the program has made no progress for the whole patience.
    pub fn lasts(&mut self, pulse: Pulse) -> bool {
        let is_still = |since: &Pulse| {
            let (passed, used) = (pulse.now.saturating_sub(since.now), pulse.processor.saturating_sub(since.processor));
            pulse.allowed.is_none_or(|allowed| allowed <= since.now) && used.saturating_mul(IDLE_PART) <= passed
        };
        match self.still_since.filter(is_still) {
            Some(since) => pulse.now.saturating_sub(since.now) >= self.patience,
            None => {
                self.still_since = Some(pulse);
                false
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Pulse, Stall};

    /// Returns the second at which a program is ended that was refused at second 0, if it is within five minutes.
    fn ended_at(processor: impl Fn(u64) -> u64, allowed: impl Fn(u64) -> Option<u64>) -> Option<u64> {
        let mut stall = Stall::new(10_000);
        (0..300).find(|second| {
            stall.lasts(Pulse {
                now: *second * 1_000,
                processor: processor(*second),
                allowed: allowed(*second).map(|second| second * 1_000),
            })
        })
    }

    #[test]
    fn a_program_that_only_waits_is_ended_and_one_that_works_is_not() {
        assert_eq!(ended_at(|_| 0, |_| None), Some(10), "it sleeps");
        assert_eq!(ended_at(|second| second / 10 * 200, |_| None), Some(10), "it asks again and again");
        assert_eq!(ended_at(|second| second * 1_000, |_| None), None, "it compiles");
        assert_eq!(ended_at(|second| second.min(60) * 900, |_| None), Some(70), "it compiled for a minute");
        assert_eq!(ended_at(|_| 0, |second| Some(second.min(40))), Some(50), "it loaded from another host");
        assert_eq!(ended_at(|_| 0, |second| Some(second / 9 * 9)), None, "it loads slowly");
        assert_eq!(ended_at(|second| 300 - second.min(5), |_| None), Some(10), "a process ended");
    }
}
