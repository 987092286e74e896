//! What running agents used: tokens, money, time. Sums only; what may be used stands with the budgets.

use serde::{Deserialize, Serialize};
use std::ops::AddAssign;

/// Tokens by how they are priced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tokens {
    /// Read at the full price.
    pub input: u64,
    /// Read from the provider's cache.
    pub cached: u64,
    /// Read and written to the provider's cache.
    pub cache_write: u64,
    /// Written, thinking included.
    pub output: u64,
}

impl Tokens {
    /// All of them.
    pub fn total(&self) -> u64 {
        [self.input, self.cached, self.cache_write, self.output]
            .into_iter()
            .fold(0, u64::saturating_add)
    }
}

impl AddAssign for Tokens {
    fn add_assign(&mut self, other: Self) {
        self.input = self.input.saturating_add(other.input);
        self.cached = self.cached.saturating_add(other.cached);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
        self.output = self.output.saturating_add(other.output);
    }
}

/// What one or more runs of agents used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens, where the program told them.
    pub tokens: Tokens,
    /// Money in millionths of a US dollar; `None` where neither the program nor the price table knows.
    pub usd_micros: Option<u64>,
    /// Whether some of the money is a guess: of the program for a model that it does not know, or of our price table.
    pub estimated: bool,
    /// How long the programs ran, in milliseconds.
    pub agent_ms: u64,
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.tokens += other.tokens;
        self.usd_micros = match (self.usd_micros, other.usd_micros) {
            (Some(one), Some(two)) => Some(one.saturating_add(two)),
            (one, two) => one.or(two),
        };
        self.estimated |= other.estimated;
        self.agent_ms = self.agent_ms.saturating_add(other.agent_ms);
    }
}
