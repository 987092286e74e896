//! Sums of the tokens, money and time that agent runs used. The limits are in `budget`.

use serde::{Deserialize, Serialize};
use std::ops::AddAssign;

/// Numbers of tokens, by how they are priced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tokens {
    /// Tokens read at the full price.
    pub input: u64,
    /// Tokens read from the provider's cache.
    pub cached: u64,
    /// Tokens read and written to the provider's cache.
    pub cache_write: u64,
    /// Tokens written, including thinking.
    pub output: u64,
}

impl Tokens {
    /// Returns the sum of all kinds.
    pub fn total(&self) -> u64 {
        [self.input, self.cached, self.cache_write, self.output].into_iter().fold(0, u64::saturating_add)
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

/// The usage of one or more agent runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// The tokens that the program reported.
    pub tokens: Tokens,
    /// The cost in millionths of a US dollar; `None` if neither the program nor the price table knows it.
    pub usd_micros: Option<u64>,
    /// `true` if part of the cost is an estimate: by the program for a model that it does not know, or by our price
    /// table.
    pub estimated: bool,
    /// The time that the programs ran, in milliseconds.
    pub agent_ms: u64,
}

/// Returns the sum of the known values; `None` if neither is known.
pub fn known_sum(one: Option<u64>, two: Option<u64>) -> Option<u64> {
    let sum = one.zip(two).map(|(one, two)| one.saturating_add(two));
    sum.or(one).or(two)
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.tokens += other.tokens;
        self.usd_micros = known_sum(self.usd_micros, other.usd_micros);
        self.estimated |= other.estimated;
        self.agent_ms = self.agent_ms.saturating_add(other.agent_ms);
    }
}
