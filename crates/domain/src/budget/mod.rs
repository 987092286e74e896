//! Decides how much money, tokens and time the next run of an agent may use. The store keeps the sums, and the engine
//! asks for a share.
//!
//! The rest of a limit is divided among the runs that may begin, so that parallel runs never spend the same money twice.
//! A run's share is half of its part. If its program continues, the proxy stops it at the whole part. A program without
//! the proxy that does not report its use may exceed its share.

mod figures;
mod month;
mod recorded_usage;

pub use figures::{about_dollars, dollars, hours, tokens};
pub use month::Month;
pub use recorded_usage::{UsageCompleteness, usage_to_record};

use serde::{Deserialize, Serialize};
use std::ops::AddAssign;

/// The smallest share, in millionths of a US dollar: less is not enough for a useful run. It is smaller only if less is
/// left.
const LEAST_MICROS: u64 = 500_000;

/// The same in tokens.
const LEAST_TOKENS: u64 = 100_000;

/// A run gets one part in this many of the remaining budget. A run that is lost in a crash counts with its whole share,
/// and one crash must not use up the budget.
const PART: u64 = 2;

/// No run starts with less time than this, in milliseconds.
const LEAST_MS: u64 = 1_000;

/// An amount of everything that has a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Amount {
    /// Millionths of a US dollar.
    pub usd_micros: u64,
    /// Tokens of every kind.
    pub tokens: u64,
    /// The time that agents ran, in milliseconds.
    pub ms: u64,
}

impl AddAssign for Amount {
    fn add_assign(&mut self, other: Self) {
        self.usd_micros = self.usd_micros.saturating_add(other.usd_micros);
        self.tokens = self.tokens.saturating_add(other.tokens);
        self.ms = self.ms.saturating_add(other.ms);
    }
}

/// The limits of one purse; `None` means no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Millionths of a US dollar.
    pub usd_micros: Option<u64>,
    /// Tokens of every kind.
    pub tokens: Option<u64>,
    /// The time that agents may run, in milliseconds.
    pub ms: Option<u64>,
}

/// The account that a run is charged to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purse {
    Task,
    Feature,
    /// An installation's purse for a calendar month.
    Installation,
    /// This server's purse for a calendar month.
    Server,
}

/// The limits of one purse, and how many of its runs may be active at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PurseLimits {
    pub limits: Limits,
    /// The number of runs at once.
    pub parallel: u32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    pub task: PurseLimits,
    pub feature: PurseLimits,
    /// The limits of its installation, this month.
    pub installation: PurseLimits,
    /// The limits of the server, this month.
    pub server: PurseLimits,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PurseStatus {
    pub purse: Purse,
    pub allowed: PurseLimits,
    /// The amount used by runs that have ended; a lost run counts with its share.
    pub used: Amount,
    /// The amount reserved for runs that have not ended.
    pub reserved: Amount,
    /// The number of runs that have not ended.
    pub running: u32,
}

/// The usage that a program reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CostReporting {
    /// It reports its cost, or tokens that the price table can convert.
    Cost,
    /// It reports nothing: its cost is unknown, and only its time counts.
    Nothing,
}

/// A request for a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// The run's time limit, in milliseconds.
    pub deadline_ms: u64,
    pub cost_reporting: CostReporting,
}

/// The share of the budget that one run gets. A run whose end nobody saw counts with its share, though it may have used
/// up to the reserved amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// The spending limit that the program gets, in millionths of a US dollar; `None` without a limit.
    pub usd_micros: Option<u64>,
    /// Millionths of a US dollar after which the proxy refuses the calls of a program that does not stop by itself.
    /// They are reserved, so that parallel runs together cannot exceed a limit. `None` without a limit.
    pub most_usd_micros: Option<u64>,
    /// Tokens; `None` without a limit.
    pub tokens: Option<u64>,
    /// Milliseconds.
    pub ms: u64,
}

/// The answer to a request for a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShareOutcome {
    Share(Share),
    /// The rest is reserved for runs that have not ended. Ask again later.
    Wait,
    /// A purse is used up.
    Spent(Spent),
}

/// The kind of amount that a limit is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Money, in millionths of a US dollar.
    Money,
    /// Tokens of every kind.
    Tokens,
    /// Time, in milliseconds.
    Time,
}

/// A purse whose limit is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    pub purse: Purse,
    /// The measure that is used up.
    pub measure: Measure,
    pub used: u64,
    pub limit: u64,
    /// The month, for the purses of an installation and of the server.
    pub month: Month,
}

/// Decides if a run may begin in `month`. Its share is the smallest that any of its purses offers.
pub fn share(accounts: &[PurseStatus], call: &Call, month: Month) -> ShareOutcome {
    let mut share = Share { usd_micros: None, most_usd_micros: None, tokens: None, ms: call.deadline_ms };
    let mut wait = false;
    for account in accounts {
        let free = u64::from(account.allowed.parallel.saturating_sub(account.running).max(1));
        for (measure, limit, used, reserved, least) in measures(account) {
            let Some(limit) = limit else { continue };
            if limit.saturating_sub(used) < least {
                return ShareOutcome::Spent(Spent { purse: account.purse, measure, used, limit, month });
            }
            let left = limit.saturating_sub(used).saturating_sub(reserved);
            wait |= left < least;
            match (measure, call.cost_reporting) {
                (Measure::Money, CostReporting::Cost) => {
                    let part = part(left / free, LEAST_MICROS);
                    lower_to(&mut share.usd_micros, part);
                    let most = match account.purse {
                        Purse::Task | Purse::Feature | Purse::Installation => (left / free).max(1),
                        // Other replicas draw on it too, and the number of their runs is unknown.
                        Purse::Server => part,
                    };
                    lower_to(&mut share.most_usd_micros, most);
                }
                (Measure::Tokens, CostReporting::Cost) => lower_to(&mut share.tokens, part(left / free, LEAST_TOKENS)),
                (Measure::Time, _) => share.ms = share.ms.min((left / free).max(LEAST_MS)),
                (Measure::Money | Measure::Tokens, CostReporting::Nothing) => {}
            }
        }
    }
    if wait { ShareOutcome::Wait } else { ShareOutcome::Share(share) }
}

/// Returns each measure with its limit, the amounts used and reserved, and the least amount with which a run may begin.
fn measures(account: &PurseStatus) -> [(Measure, Option<u64>, u64, u64, u64); 3] {
    let (limits, used, kept) = (account.allowed.limits, account.used, account.reserved);
    [
        (Measure::Money, limits.usd_micros, used.usd_micros, kept.usd_micros, 1),
        (Measure::Tokens, limits.tokens, used.tokens, kept.tokens, 1),
        (Measure::Time, limits.ms, used.ms, kept.ms, LEAST_MS),
    ]
}

/// Returns the part of `whole` that one run gets.
fn part(whole: u64, least: u64) -> u64 {
    (whole / PART).max(least).min(whole).max(1)
}

fn lower_to(share: &mut Option<u64>, other: u64) {
    *share = Some(share.map_or(other, |share| share.min(other)));
}

impl Spent {
    /// Returns the name of the setting that sets the limit.
    pub fn setting(&self) -> &'static str {
        match (self.purse, self.measure) {
            (Purse::Task, Measure::Money) => "usd_per_task",
            (Purse::Task, Measure::Tokens) => "tokens_per_task",
            (Purse::Task, Measure::Time) => "hours_per_task",
            (Purse::Feature, Measure::Money) => "usd_per_feature",
            (Purse::Feature, Measure::Tokens) => "tokens_per_feature",
            (Purse::Feature, Measure::Time) => "hours_per_feature",
            (Purse::Installation, Measure::Money) => "AUTOBUILD_BUDGET_USD_PER_INSTALLATION_MONTH",
            (Purse::Installation, Measure::Tokens) => "AUTOBUILD_BUDGET_TOKENS_PER_INSTALLATION_MONTH",
            (Purse::Installation, Measure::Time) => "AUTOBUILD_BUDGET_HOURS_PER_INSTALLATION_MONTH",
            (Purse::Server, Measure::Money) => "AUTOBUILD_BUDGET_USD_PER_MONTH",
            (Purse::Server, Measure::Tokens) => "AUTOBUILD_BUDGET_TOKENS_PER_MONTH",
            (Purse::Server, Measure::Time) => "AUTOBUILD_BUDGET_HOURS_PER_MONTH",
        }
    }
}

#[cfg(test)]
#[expect(clippy::wildcard_enum_match_arm, reason = "a test names what it is about")]
mod tests;
