//! The slots that effects are worked off in, and how failures are treated there.

use std::str::FromStr;

/// How often the service may end while it does an effect: then that is no accident, and the effect is given up.
pub const CRASHES: u32 = 3;

/// Runs of an agent or Gate before its failure counts. What GitHub or the network fails at is no run: it is waited out.
const AGENT_TRIES: u32 = 3;

/// Tries of a call to the forge: with the usual waits about two hours.
const FORGE_TRIES: u32 = 14;

/// Which slots an effect is worked off in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lane {
    /// Taking in deliveries and commands: never waits for the other lanes.
    Control,
    /// What is written on GitHub: in order per subject.
    Forge,
    /// Agents and Gates: one at a time per subject.
    Agent,
}

/// How failures of an effect are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failures {
    /// How often it is tried before it is given up.
    pub tries: u32,
    /// What is done about failures that pass by themselves, such as an outage of GitHub.
    pub outages: Outages,
    /// How often the service may end while it does it; no limit where nobody would hear that it is given up.
    pub crashes: Option<u32>,
}

/// What is done about failures that pass by themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outages {
    /// They are waited out, and count as no try.
    WaitedOut,
    /// They count as tries.
    Counted,
}

impl Lane {
    /// Every lane.
    pub const ALL: [Self; 3] = [Self::Control, Self::Forge, Self::Agent];

    /// The lane's word in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Control => "control",
            Self::Forge => "forge",
            Self::Agent => "agent",
        }
    }

    /// How failures are treated there.
    pub fn failures(self) -> Failures {
        match self {
            // A delivery is never given up for crashes: nobody would hear of it, and reading it again costs nothing.
            Self::Control => Failures {
                tries: FORGE_TRIES,
                outages: Outages::Counted,
                crashes: None,
            },
            Self::Forge => Failures {
                tries: FORGE_TRIES,
                outages: Outages::Counted,
                crashes: Some(CRASHES),
            },
            Self::Agent => Failures {
                tries: AGENT_TRIES,
                outages: Outages::WaitedOut,
                crashes: Some(CRASHES),
            },
        }
    }
}

impl FromStr for Lane {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut all = Self::ALL.into_iter();
        all.find(|lane| lane.as_str() == text)
            .ok_or_else(|| format!("{text:?} is no lane"))
    }
}
