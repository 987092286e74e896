//! The limits on spending, the repository's and the server's, in the units of `domain`.

use domain::budget::Limits;
use serde::{Deserialize, Serialize};

/// A repository's spending limits; 0 means that only the server's limit applies.
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

pub(super) fn limits(usd: f64, tokens: u64, hours: f64) -> Limits {
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
        assert_eq!((feature.usd_micros, feature.tokens, feature.ms), (Some(1), Some(7), None));
        assert_eq!(Budget::default().of_task().usd_micros, Some(5_000_000));
    }
}
