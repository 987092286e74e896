//! Decides how much money, tokens and time the next run of an agent may use. The store counts; the engine asks.
//!
//! What is left of a limit is divided among the runs that may begin, so that parallel runs never spend the same money twice.
//! A run's share is half of its part. If its program goes on, the proxy stops it at the whole part. A program without the
//! proxy that does not report its use may exceed its share.

mod figures;
mod month;
mod settled;

pub use figures::{about_dollars, dollars, hours, tokens};
pub use month::Month;
pub use settled::{Known, settled};

use serde::{Deserialize, Serialize};
use std::ops::AddAssign;

/// The smallest share, in millionths of a US dollar: a useful run needs so much.
const LEAST_MICROS: u64 = 500_000;

/// The smallest share in tokens.
const LEAST_TOKENS: u64 = 100_000;

/// A run gets half of the rest: a run that is lost in a crash counts with its whole share, and must not use up everything.
const PART: u64 = 2;

/// No run starts with less time than this, in milliseconds.
const LEAST_MS: u64 = 1_000;

/// An amount of everything that is limited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Amount {
    /// Millionths of a US dollar.
    pub usd_micros: u64,
    /// Tokens of every kind.
    pub tokens: u64,
    /// Milliseconds that agents ran.
    pub ms: u64,
}

impl AddAssign for Amount {
    fn add_assign(&mut self, other: Self) {
        self.usd_micros = self.usd_micros.saturating_add(other.usd_micros);
        self.tokens = self.tokens.saturating_add(other.tokens);
        self.ms = self.ms.saturating_add(other.ms);
    }
}

/// Limits of one purse; `None` means no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Millionths of a US dollar.
    pub usd_micros: Option<u64>,
    /// Tokens of every kind.
    pub tokens: Option<u64>,
    /// Milliseconds that agents run.
    pub ms: Option<u64>,
}

/// Who pays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purse {
    /// One Task's.
    Task,
    /// One Feature's.
    Feature,
    /// An installation's in a calendar month.
    Installation,
    /// This server's in a calendar month.
    Server,
}

/// The limits of one purse, and how many runs may draw on it at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allowed {
    /// Its limits.
    pub limits: Limits,
    /// Runs at once.
    pub parallel: u32,
}

/// Everything that limits a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// For its Task.
    pub task: Allowed,
    /// For its Feature.
    pub feature: Allowed,
    /// For its installation, this month.
    pub installation: Allowed,
    /// For the server, this month.
    pub server: Allowed,
}

/// One purse as it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Account {
    /// Whose.
    pub purse: Purse,
    /// Its limits.
    pub allowed: Allowed,
    /// Used by runs that have ended; a lost run counts with its share.
    pub used: Amount,
    /// Reserved for runs that have not ended.
    pub reserved: Amount,
    /// The number of those runs.
    pub running: u32,
}

/// Whether a program reports its use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CostReporting {
    /// Money, or tokens that the price table knows.
    Cost,
    /// Nothing: its cost is unknown, and only its time counts.
    Nothing,
}

/// The run that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// Its time limit, in milliseconds.
    pub deadline_ms: u64,
    /// Whether it will report its use.
    pub cost_reporting: CostReporting,
}

/// The share of one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Millionths of a US dollar that the program is told to stay within; `None` without a limit.
    pub usd_micros: Option<u64>,
    /// Millionths of a US dollar at which the proxy passes no more calls of a program that does not stop by itself. They are
    /// reserved, so that runs together cannot exceed a limit. `None` without a limit.
    pub most_usd_micros: Option<u64>,
    /// Tokens; `None` without a limit.
    pub tokens: Option<u64>,
    /// Milliseconds.
    pub ms: u64,
}

/// Whether a run may begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Yes, with this share.
    Share(Share),
    /// The rest is reserved for runs that have not ended: ask again later.
    Wait,
    /// Nothing is left.
    Spent(Spent),
}

/// A unit of measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// In millionths of a US dollar.
    Money,
    /// Of every kind.
    Tokens,
    /// In milliseconds.
    Time,
}

/// A purse that is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    /// Whose.
    pub purse: Purse,
    /// The exhausted measure.
    pub measure: Measure,
    /// The amount used.
    pub used: u64,
    /// The limit.
    pub limit: u64,
    /// The month that the purses of installation and server are for.
    pub month: Month,
}

/// A spent budget.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum SpentBudget {
    /// The purse that is empty.
    Measured(Spent),
    /// The sentence that an older version stored.
    Stored {
        /// It.
        what: String,
    },
}

/// Decides whether a run may begin in `month`. Its share is the smallest that any purse offers.
pub fn share(accounts: &[Account], call: &Call, month: Month) -> Verdict {
    let mut share = Share {
        usd_micros: None,
        most_usd_micros: None,
        tokens: None,
        ms: call.deadline_ms,
    };
    let mut wait = false;
    for account in accounts {
        let (limits, used, reserved) = (account.allowed.limits, account.used, account.reserved);
        let free = u64::from(account.allowed.parallel.saturating_sub(account.running).max(1));
        let measures = [
            (
                Measure::Money,
                limits.usd_micros,
                used.usd_micros,
                reserved.usd_micros,
                1,
            ),
            (Measure::Tokens, limits.tokens, used.tokens, reserved.tokens, 1),
            (Measure::Time, limits.ms, used.ms, reserved.ms, LEAST_MS),
        ];
        for (measure, limit, used, reserved, least) in measures {
            let Some(limit) = limit else { continue };
            if limit.saturating_sub(used) < least {
                return Verdict::Spent(Spent {
                    purse: account.purse,
                    measure,
                    used,
                    limit,
                    month,
                });
            }
            let left = limit.saturating_sub(used).saturating_sub(reserved);
            wait |= left < least;
            match (measure, call.cost_reporting) {
                (Measure::Money, CostReporting::Cost) => {
                    least_of(&mut share.usd_micros, part(left / free, LEAST_MICROS));
                    least_of(&mut share.most_usd_micros, (left / free).max(1));
                }
                (Measure::Tokens, CostReporting::Cost) => least_of(&mut share.tokens, part(left / free, LEAST_TOKENS)),
                (Measure::Time, _) => share.ms = share.ms.min((left / free).max(LEAST_MS)),
                (Measure::Money | Measure::Tokens, CostReporting::Nothing) => {}
            }
        }
    }
    match wait {
        true => Verdict::Wait,
        false => Verdict::Share(share),
    }
}

/// The share of a run that may use `whole`.
fn part(whole: u64, least: u64) -> u64 {
    (whole / PART).max(least).min(whole).max(1)
}

fn least_of(share: &mut Option<u64>, other: u64) {
    *share = Some(share.map_or(other, |share| share.min(other)));
}

impl Spent {
    /// The setting that limits it.
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
