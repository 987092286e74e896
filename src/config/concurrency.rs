//! The limits on concurrent work.

use crate::config::{
    server_parse::{Parser, whole_number},
    server_sandbox::size,
};
use std::{ops::RangeInclusive, time::Duration};

/// The limits on agents and Gates that run at once. All but the first are exact over all processes on one database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Concurrency {
    pub per_process: u32,
    /// In all processes together; `None` for no limit.
    pub in_all: Option<u32>,
    pub per_installation: Option<u32>,
    pub per_repository: Option<u32>,
    /// For each Feature, beside the repository's own `max_parallel_tasks`.
    pub per_feature: Option<u32>,
}

/// The limits on other concurrent work of one process, and its own times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessLimits {
    /// Deliveries that are read, and their answers.
    pub control_slots: u32,
    /// Effects that call GitHub.
    pub forge_slots: u32,
    /// Connections to the database.
    pub connections: u32,
    /// How long agents may continue after the process is asked to stop.
    pub grace: Duration,
    /// How long an effect still belongs to a process that no longer renews its lease.
    pub lease: Duration,
    /// The wait after the first failure of an effect, which then grows.
    pub backoff: Duration,
    /// The largest pack of a commit that the database keeps, in bytes.
    pub pack_size: usize,
}

impl ProcessLimits {
    /// The largest pack that may be set, in bytes.
    pub const MOST_PACK: usize = 512 << 20;
}

impl Default for Concurrency {
    fn default() -> Self {
        Self { per_process: 4, in_all: None, per_installation: Some(4), per_repository: None, per_feature: None }
    }
}

impl Default for ProcessLimits {
    fn default() -> Self {
        Self {
            control_slots: 4,
            forge_slots: 8,
            connections: 8,
            grace: Duration::from_secs(30),
            lease: Duration::from_secs(60),
            backoff: Duration::from_secs(10),
            pack_size: 64 << 20,
        }
    }
}

/// The highest value that may be set: with more, a machine would run out of other resources.
const MOST: u32 = 1_000;

impl Parser {
    pub(super) fn concurrency(&mut self) -> Concurrency {
        let usual = Concurrency::default();
        Concurrency {
            per_process: self.parse("CONCURRENCY", at_least_one).unwrap_or(usual.per_process),
            in_all: self.parse("CONCURRENCY_IN_ALL", limit).unwrap_or(usual.in_all),
            per_installation: self.parse("CONCURRENCY_PER_INSTALLATION", limit).unwrap_or(usual.per_installation),
            per_repository: self.parse("CONCURRENCY_PER_REPOSITORY", limit).unwrap_or(usual.per_repository),
            per_feature: self.parse("CONCURRENCY_PER_FEATURE", limit).unwrap_or(usual.per_feature),
        }
    }

    fn seconds(&mut self, name: &'static str, allowed: RangeInclusive<u64>, usual: Duration) -> Duration {
        let read = |text: &str| whole_number(text, allowed.clone(), " of seconds");
        self.parse(name, read).map_or(usual, Duration::from_secs)
    }

    pub(super) fn process_limits(&mut self) -> ProcessLimits {
        let usual = ProcessLimits::default();
        ProcessLimits {
            control_slots: self.parse("SLOTS_CONTROL", at_least_one).unwrap_or(usual.control_slots),
            forge_slots: self.parse("SLOTS_FORGE", at_least_one).unwrap_or(usual.forge_slots),
            connections: self.parse("DATABASE_CONNECTIONS", enough_connections).unwrap_or(usual.connections),
            grace: self.seconds("GRACE_SECONDS", 0..=86_400, usual.grace),
            lease: self.seconds("LEASE_SECONDS", 2..=600, usual.lease),
            backoff: self.seconds("BACKOFF_SECONDS", 1..=900, usual.backoff),
            pack_size: self.parse("PACK_SIZE", pack_size).unwrap_or(usual.pack_size),
        }
    }
}

fn pack_size(text: &str) -> Result<usize, &'static str> {
    if text == "0" {
        return Ok(0);
    }
    let bytes = size(text).ok().and_then(|bytes| usize::try_from(bytes).ok());
    let fitting = bytes.filter(|bytes| *bytes <= ProcessLimits::MOST_PACK);
    fitting.ok_or("must be a size from 1MiB to 512MiB, or 0 to keep none")
}

fn at_least_one(text: &str) -> Result<u32, String> {
    whole_number(text, 1..=MOST, "")
}

/// One connection listens for other processes' hints, so with a single connection none would be left for the work.
fn enough_connections(text: &str) -> Result<u32, String> {
    at_least_one(text).and_then(|count| if count < 2 { Err("must be at least 2".to_owned()) } else { Ok(count) })
}

/// Reads a limit that a repository cannot exceed; 0 means none.
pub(super) fn limited(text: &str) -> Result<u32, String> {
    limit(text).map(Option::unwrap_or_default)
}

fn limit(text: &str) -> Result<Option<u32>, String> {
    whole_number(text, 0..=MOST, "").map(|count| (count > 0).then_some(count))
}
