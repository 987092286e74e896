//! How many agents and Gates run at once.

use crate::config::server_parse::Parser;

/// The limits on agents and Gates that run at once. All but the first are exact over all processes on one database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Concurrency {
    /// In one process.
    pub per_process: u32,
    /// In all processes together; `None` for no limit.
    pub in_all: Option<u32>,
    pub per_installation: Option<u32>,
    pub per_repository: Option<u32>,
}

impl Default for Concurrency {
    fn default() -> Self {
        Self {
            per_process: 4,
            in_all: None,
            per_installation: Some(4),
            per_repository: None,
        }
    }
}

/// The most that anybody may set: a machine that runs more would run out of everything else.
const MOST: u32 = 1_000;

impl Parser {
    pub(super) fn concurrency(&mut self) -> Concurrency {
        let usual = Concurrency::default();
        Concurrency {
            per_process: self.parse("CONCURRENCY", at_least_one).unwrap_or(usual.per_process),
            in_all: self.parse("CONCURRENCY_IN_ALL", limit).unwrap_or(usual.in_all),
            per_installation: self
                .parse("CONCURRENCY_PER_INSTALLATION", limit)
                .unwrap_or(usual.per_installation),
            per_repository: self
                .parse("CONCURRENCY_PER_REPOSITORY", limit)
                .unwrap_or(usual.per_repository),
        }
    }
}

fn at_least_one(text: &str) -> Result<u32, String> {
    let count = text.parse().ok().filter(|count| (1..=MOST).contains(count));
    count.ok_or_else(|| format!("must be a whole number from 1 to {MOST}"))
}

fn limit(text: &str) -> Result<Option<u32>, String> {
    let count = text.parse::<u32>().ok().filter(|count| *count <= MOST);
    count
        .map(|count| (count > 0).then_some(count))
        .ok_or_else(|| format!("must be a whole number from 0 to {MOST}"))
}
