//! What work cost so far, with what is not known about it.

use crate::domain::usage::Tokens;
use serde::Deserialize;
use serde::Serialize;
use std::ops::AddAssign;

/// What runs of agents cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cost {
    /// Runs of agents, failed ones too.
    pub agent_runs: u32,
    /// Time that agents ran, in milliseconds.
    pub agent_ms: u64,
    /// Money in millionths of a US dollar, as far as it is known; `None` where no run's is.
    pub usd_micros: Option<u64>,
    /// Runs whose money is an estimate: of a price table, or the whole share of a run that could not tell.
    pub estimated_runs: u32,
    /// Ended runs whose money nobody knows.
    pub unknown_runs: u32,
    /// Runs that have not ended.
    pub open_runs: u32,
    /// Tokens, where they were told.
    pub tokens: Tokens,
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        self.agent_runs = self.agent_runs.saturating_add(other.agent_runs);
        self.agent_ms = self.agent_ms.saturating_add(other.agent_ms);
        self.usd_micros = match (self.usd_micros, other.usd_micros) {
            (Some(one), Some(two)) => Some(one.saturating_add(two)),
            (one, two) => one.or(two),
        };
        self.estimated_runs = self.estimated_runs.saturating_add(other.estimated_runs);
        self.unknown_runs = self.unknown_runs.saturating_add(other.unknown_runs);
        self.open_runs = self.open_runs.saturating_add(other.open_runs);
        self.tokens += other.tokens;
    }
}
