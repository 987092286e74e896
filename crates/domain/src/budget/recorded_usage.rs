//! Decides which usage counts for an ended run if its program did not report everything.

use crate::budget::{CostReporting, Share};
use text::usage::{Tokens, Usage};

/// The extent to which a run's usage is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UsageCompleteness {
    /// Everything that its program usually reports.
    All,
    /// Not everything: its model worked, but the cost of that was not reported.
    Partial,
    /// The run was stopped because its share is used up.
    ShareUsedUp,
    /// It never reached its model, so it used nothing.
    Nothing,
}

/// Returns the usage that is recorded for a run.
///
/// If a program that usually reports its cost could not do so, for example after a crash, the run counts with its whole
/// share. So an unknown cost never exceeds the limit. A run that never reached its model costs nothing.
pub fn usage_to_record(
    usage: Usage,
    completeness: UsageCompleteness,
    cost_reporting: CostReporting,
    share: &Share,
) -> Usage {
    match (cost_reporting, completeness) {
        (CostReporting::Nothing, _) | (CostReporting::Cost, UsageCompleteness::All) => usage,
        (CostReporting::Cost, UsageCompleteness::Nothing) => {
            Usage { usd_micros: usage.usd_micros.or(Some(0)), ..usage }
        }
        (CostReporting::Cost, UsageCompleteness::Partial) => all_tokens(all_money(usage, share), share),
        // If the tokens of the share are used up, part of its money may be left.
        (CostReporting::Cost, UsageCompleteness::ShareUsedUp) => {
            if share.tokens.is_some_and(|share| usage.tokens.total() >= share) {
                usage
            } else {
                all_money(usage, share)
            }
        }
    }
}

/// Raises the cost to at least the share's money, even if the program reported less.
fn all_money(usage: Usage, share: &Share) -> Usage {
    match share.usd_micros {
        Some(share) if usage.usd_micros.is_none_or(|reported| reported < share) => {
            Usage { usd_micros: Some(share), estimated: true, ..usage }
        }
        Some(_) | None => usage,
    }
}

/// Raises the tokens to at least the share's tokens. Their kind is unknown, so they count as input.
fn all_tokens(usage: Usage, share: &Share) -> Usage {
    let missing = share.tokens.unwrap_or(0).saturating_sub(usage.tokens.total());
    let input = usage.tokens.input.saturating_add(missing);
    Usage { tokens: Tokens { input, ..usage.tokens }, estimated: usage.estimated || missing > 0, ..usage }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHARE: Share = Share { usd_micros: Some(50), most_usd_micros: Some(100), tokens: Some(1_000), ms: 60_000 };

    fn usage(usd_micros: Option<u64>, tokens: u64) -> Usage {
        Usage { usd_micros, tokens: Tokens { output: tokens, ..Tokens::default() }, ..Usage::default() }
    }

    #[test]
    fn unreported_usage_counts_as_the_whole_share() {
        // Reported money and tokens, the knowledge; then money, tokens, and if that is an estimate.
        let table = [
            (Some(7), 9, UsageCompleteness::All, (Some(7), 9, false)),
            (None, 0, UsageCompleteness::All, (None, 0, false)),
            (None, 0, UsageCompleteness::Partial, (Some(50), 1_000, true)),
            (Some(7), 9, UsageCompleteness::Partial, (Some(50), 1_000, true)),
            (Some(60), 2_000, UsageCompleteness::Partial, (Some(60), 2_000, false)),
            (Some(20), 9, UsageCompleteness::ShareUsedUp, (Some(50), 9, true)),
            (Some(60), 9, UsageCompleteness::ShareUsedUp, (Some(60), 9, false)),
            (Some(20), 1_000, UsageCompleteness::ShareUsedUp, (Some(20), 1_000, false)),
            (None, 0, UsageCompleteness::Nothing, (Some(0), 0, false)),
        ];
        for (usd_micros, tokens, known, expected) in table {
            let usage = usage_to_record(usage(usd_micros, tokens), known, CostReporting::Cost, &SHARE);
            let found = (usage.usd_micros, usage.tokens.total(), usage.estimated);
            assert_eq!(found, expected, "{usd_micros:?} {tokens} {known:?}");
        }
    }

    #[test]
    fn an_agent_that_never_reports_its_cost_has_an_unknown_cost() {
        for completeness in [
            UsageCompleteness::All,
            UsageCompleteness::Partial,
            UsageCompleteness::ShareUsedUp,
            UsageCompleteness::Nothing,
        ] {
            assert_eq!(usage_to_record(usage(None, 0), completeness, CostReporting::Nothing, &SHARE), usage(None, 0));
        }
    }

    #[test]
    fn without_a_limit_an_unknown_cost_stays_unknown() {
        let unlimited = Share { usd_micros: None, tokens: None, ..SHARE };
        let used = usage_to_record(usage(None, 0), UsageCompleteness::Partial, CostReporting::Cost, &unlimited);
        assert_eq!(used, usage(None, 0));
    }
}
