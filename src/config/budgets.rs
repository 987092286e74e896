//! The limits on spending: the repository's and the server's, in the units that `domain` counts.

use crate::config::server_parse::Parser;
use domain::budget::Limits;
use serde::{Deserialize, Serialize};

/// A repository's spending limits; 0 means no limit but the server's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Budget {
    pub usd_per_task: f64,
    pub usd_per_feature: f64,
    pub tokens_per_task: u64,
    pub tokens_per_feature: u64,
    pub hours_per_task: f64,
    /// Hours of agent run time for one Feature.
    pub hours_per_feature: f64,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            usd_per_task: 5.0,
            usd_per_feature: 50.0,
            tokens_per_task: 0,
            tokens_per_feature: 0,
            hours_per_task: 0.0,
            hours_per_feature: 0.0,
        }
    }
}

impl Budget {
    pub const UNLIMITED: Self = Self {
        usd_per_task: 0.0,
        usd_per_feature: 0.0,
        tokens_per_task: 0,
        tokens_per_feature: 0,
        hours_per_task: 0.0,
        hours_per_feature: 0.0,
    };

    pub fn of_task(&self) -> Limits {
        limits(self.usd_per_task, self.tokens_per_task, self.hours_per_task)
    }

    pub fn of_feature(&self) -> Limits {
        limits(self.usd_per_feature, self.tokens_per_feature, self.hours_per_feature)
    }
}

impl Parser {
    /// Reads the limits of all installations together for a calendar month in UTC; mistakes are collected.
    pub(crate) fn server_month(&mut self) -> Limits {
        limits(
            self.parse("BUDGET_USD_PER_MONTH", amount).unwrap_or(2_000.0),
            self.parse("BUDGET_TOKENS_PER_MONTH", whole).unwrap_or(0),
            self.parse("BUDGET_HOURS_PER_MONTH", amount).unwrap_or(2_000.0),
        )
    }

    /// Reads the limits of one installation for a calendar month in UTC; mistakes are collected.
    pub(crate) fn installation_month(&mut self) -> Limits {
        limits(
            self.parse("BUDGET_USD_PER_INSTALLATION_MONTH", amount).unwrap_or(500.0),
            self.parse("BUDGET_TOKENS_PER_INSTALLATION_MONTH", whole).unwrap_or(0),
            self.parse("BUDGET_HOURS_PER_INSTALLATION_MONTH", amount)
                .unwrap_or(500.0),
        )
    }

    /// Reads the largest limits that a repository may set; mistakes are collected.
    pub(crate) fn most_budget(&mut self, usual: Budget) -> Budget {
        Budget {
            usd_per_task: self.parse("MAX_USD_PER_TASK", amount).unwrap_or(usual.usd_per_task),
            usd_per_feature: self
                .parse("MAX_USD_PER_FEATURE", amount)
                .unwrap_or(usual.usd_per_feature),
            tokens_per_task: self
                .parse("MAX_TOKENS_PER_TASK", whole)
                .unwrap_or(usual.tokens_per_task),
            tokens_per_feature: self
                .parse("MAX_TOKENS_PER_FEATURE", whole)
                .unwrap_or(usual.tokens_per_feature),
            hours_per_task: self.parse("MAX_HOURS_PER_TASK", amount).unwrap_or(usual.hours_per_task),
            hours_per_feature: self
                .parse("MAX_HOURS_PER_FEATURE", amount)
                .unwrap_or(usual.hours_per_feature),
        }
    }
}

/// The largest amount of money or hours that is accepted.
const MOST: f64 = 10_000_000.0;

fn amount(text: &str) -> Result<f64, &'static str> {
    match text.parse::<f64>() {
        Ok(amount) if (0.0..=MOST).contains(&amount) => Ok(amount),
        _ => Err("must be a number from 0 to 10000000; 0 means no limit"),
    }
}

fn whole(text: &str) -> Result<u64, &'static str> {
    match text.parse::<u64>() {
        Ok(count) if count <= 1 << 48 => Ok(count),
        _ => Err("must be a whole number; 0 means no limit"),
    }
}

fn limits(usd: f64, tokens: u64, hours: f64) -> Limits {
    Limits {
        usd_micros: scaled(usd, 1_000_000.0),
        tokens: Some(tokens).filter(|tokens| *tokens > 0),
        ms: scaled(hours, 3_600_000.0),
    }
}

/// Converts a limit to whole small units, at least 1; only an amount of 0 means no limit.
fn scaled(amount: f64, units: f64) -> Option<u64> {
    if amount <= 0.0 {
        return None;
    }
    let rounded = format!("{:.0}", (amount * units).min(1e18)).parse::<u64>();
    Some(rounded.unwrap_or(0).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_is_no_limit_and_little_is_little() {
        let budget = Budget {
            usd_per_task: 0.0,
            usd_per_feature: 0.000_000_1,
            hours_per_task: 1.5,
            tokens_per_feature: 7,
            ..Budget::default()
        };
        let (task, feature) = (budget.of_task(), budget.of_feature());
        assert_eq!((task.usd_micros, task.tokens, task.ms), (None, None, Some(5_400_000)));
        assert_eq!(
            (feature.usd_micros, feature.tokens, feature.ms),
            (Some(1), Some(7), None)
        );
        assert_eq!(Budget::default().of_task().usd_micros, Some(5_000_000));
    }

    #[test]
    fn what_is_no_amount_is_refused() {
        for text in ["-1", "nan", "inf", "1e9", "five", ""] {
            assert!(amount(text).is_err(), "{text}");
        }
        assert_eq!(amount("12.5"), Ok(12.5));
        assert!(whole("1.5").is_err() && whole("-1").is_err());
    }
}
