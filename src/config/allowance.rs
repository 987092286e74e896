//! The limits of the repositories of one installation.

use crate::config::{
    budgets::{Budget, limits},
    concurrency::limited,
    models::ModelWords,
    network::NetworkSettings,
    server_parse::Parser,
    shapes::{LARGEST_AMOUNT, Offer, seconds},
};
use domain::{budget::Limits, ids::InstallationId};
use std::collections::BTreeMap;

/// The largest numbers that a repository may set; 0 means no limit.
#[derive(Clone, Debug, PartialEq)]
pub struct LargestValues {
    pub turns: u32,
    pub tasks: u32,
    pub parallel_tasks: u32,
    pub agent_turns: u32,
    /// The longest set-up, in seconds.
    pub setup_timeout: u64,
    /// The longest run of the tests, in seconds.
    pub test_timeout: u64,
    pub budget: Budget,
}

impl Default for LargestValues {
    /// No limit.
    fn default() -> Self {
        Self {
            turns: 0,
            tasks: 0,
            parallel_tasks: 0,
            agent_turns: 0,
            setup_timeout: 0,
            test_timeout: 0,
            budget: Budget::UNLIMITED,
        }
    }
}

impl LargestValues {
    /// The server's own limits: ten times the default of a repository, but at most a day for one task, and hours for a
    /// command that runs in each turn.
    pub const SERVER: Self = Self {
        turns: 50,
        tasks: 200,
        parallel_tasks: 20,
        agent_turns: 300,
        setup_timeout: 2 * 3_600,
        test_timeout: 4 * 3_600,
        budget: Budget {
            usd_per_task: 50.0,
            usd_per_feature: 500.0,
            hours_per_task: 24.0,
            hours_per_feature: 240.0,
            ..Budget::UNLIMITED
        },
    };
}

/// The hosts, models, numbers and money that the repositories of one installation may use. By default these are the
/// public registries without limits; a server without settings uses [`LargestValues::SERVER`].
#[derive(Clone, Debug, Default)]
pub struct Allowance {
    /// The hosts that their programs may reach, and the addresses of internal ones.
    pub network: NetworkSettings,
    /// The models that they may name.
    pub models: ModelWords,
    pub most: LargestValues,
    /// The spending limits of the installation for a calendar month in UTC.
    pub month: Limits,
}

impl Allowance {
    /// Returns the agents and models that a repository may name on a server with these agents.
    pub fn offer(&self, agents: impl IntoIterator<Item = String>) -> Offer {
        Offer { agents: agents.into_iter().collect(), models: self.models.allowed.clone() }
    }
}

/// The allowance of every installation. Installations have numbers, because names of organisations change hands.
#[derive(Clone, Debug, Default)]
pub struct Allowances {
    /// The allowance of an installation that has none of its own.
    pub usual: Allowance,
    pub own: BTreeMap<InstallationId, Allowance>,
}

impl Allowances {
    pub fn of(&self, installation: InstallationId) -> &Allowance {
        self.own.get(&installation).unwrap_or(&self.usual)
    }
}

impl Parser {
    /// Reads the allowances of installations. A setting that an installation's table leaves out has the server's value.
    pub(crate) fn allowances(&mut self) -> Allowances {
        Allowances { usual: self.allowance(), own: self.by_installation(Self::allowance) }
    }

    fn allowance(&mut self) -> Allowance {
        Allowance {
            network: self.network(),
            models: self.model_words(),
            most: self.most(),
            month: self.installation_month(),
        }
    }

    fn most(&mut self) -> LargestValues {
        let usual = LargestValues::SERVER;
        LargestValues {
            turns: self.parse("MAX_TURNS", limited).unwrap_or(usual.turns),
            tasks: self.parse("MAX_TASKS", limited).unwrap_or(usual.tasks),
            parallel_tasks: self.parse("MAX_PARALLEL_TASKS", limited).unwrap_or(usual.parallel_tasks),
            agent_turns: self.parse("MAX_AGENT_TURNS", limited).unwrap_or(usual.agent_turns),
            setup_timeout: self.parse("MAX_SETUP_TIME", longest_time).unwrap_or(usual.setup_timeout),
            test_timeout: self.parse("MAX_TEST_TIME", longest_time).unwrap_or(usual.test_timeout),
            budget: self.most_budget(usual.budget),
        }
    }

    /// Reads the limits of all installations together for a calendar month in UTC; mistakes are collected.
    pub(crate) fn server_month(&mut self) -> Limits {
        limits(
            self.parse("BUDGET_USD_PER_MONTH", amount).unwrap_or(2_000.0),
            self.parse("BUDGET_TOKENS_PER_MONTH", whole).unwrap_or(0),
            self.parse("BUDGET_HOURS_PER_MONTH", amount).unwrap_or(2_000.0),
        )
    }

    /// Reads the limits of one installation for a calendar month in UTC; mistakes are collected.
    fn installation_month(&mut self) -> Limits {
        limits(
            self.parse("BUDGET_USD_PER_INSTALLATION_MONTH", amount).unwrap_or(500.0),
            self.parse("BUDGET_TOKENS_PER_INSTALLATION_MONTH", whole).unwrap_or(0),
            self.parse("BUDGET_HOURS_PER_INSTALLATION_MONTH", amount).unwrap_or(500.0),
        )
    }

    /// Reads the largest limits that a repository may set; mistakes are collected.
    fn most_budget(&mut self, usual: Budget) -> Budget {
        Budget {
            usd_per_task: self.parse("MAX_USD_PER_TASK", amount).unwrap_or(usual.usd_per_task),
            usd_per_feature: self.parse("MAX_USD_PER_FEATURE", amount).unwrap_or(usual.usd_per_feature),
            tokens_per_task: self.parse("MAX_TOKENS_PER_TASK", whole).unwrap_or(usual.tokens_per_task),
            tokens_per_feature: self.parse("MAX_TOKENS_PER_FEATURE", whole).unwrap_or(usual.tokens_per_feature),
            hours_per_task: self.parse("MAX_HOURS_PER_TASK", amount).unwrap_or(usual.hours_per_task),
            hours_per_feature: self.parse("MAX_HOURS_PER_FEATURE", amount).unwrap_or(usual.hours_per_feature),
        }
    }
}

fn amount(text: &str) -> Result<f64, &'static str> {
    match text.parse::<f64>() {
        Ok(amount) if (0.0..=LARGEST_AMOUNT).contains(&amount) => Ok(amount),
        _ => Err("must be a number from 0 to 10000000; 0 means no limit"),
    }
}

/// Reads a time limit, in seconds.
fn longest_time(text: &str) -> Result<u64, &'static str> {
    let seconds = seconds(text).and_then(|seconds| u64::try_from(seconds).ok());
    seconds.filter(|seconds| (1..=24 * 3_600).contains(seconds)).ok_or("is not a time from 1s to 24h, such as 90m")
}

fn whole(text: &str) -> Result<u64, &'static str> {
    match text.parse::<u64>() {
        Ok(count) if count <= 1 << 48 => Ok(count),
        _ => Err("must be a whole number; 0 means no limit"),
    }
}

#[cfg(test)]
mod tests {
    use super::{amount, whole};

    #[test]
    fn what_is_no_amount_is_refused() {
        for text in ["-1", "nan", "inf", "1e9", "five", ""] {
            assert!(amount(text).is_err(), "{text}");
        }
        assert_eq!(amount("12.5"), Ok(12.5));
        assert!(whole("1.5").is_err() && whole("-1").is_err());
    }
}
