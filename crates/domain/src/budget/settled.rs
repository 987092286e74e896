//! What an ended run is counted with, where its program did not tell all of it.

use crate::{
    budget::{CostReporting, Share},
    usage::{Tokens, Usage},
};

/// What is known of what a run used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// All of it, as far as its program tells such things.
    All,
    /// Not all: it worked, and could not tell what that cost.
    Part,
    /// It was ended because its share is used up.
    Spent,
    /// It never reached its model.
    Nothing,
}

/// The usage that is written down of a run. A program that usually tells its cost and this time could not (it was
/// killed, it crashed, its model's API stopped serving it) is counted with its whole share: no run costs more than was
/// allowed, whatever is unknown. One that never reached its model used nothing.
pub fn settled(usage: Usage, known: Known, cost_reporting: CostReporting, share: &Share) -> Usage {
    match (cost_reporting, known) {
        (CostReporting::Nothing, _) | (CostReporting::Cost, Known::All) => usage,
        (CostReporting::Cost, Known::Nothing) => Usage {
            usd_micros: usage.usd_micros.or(Some(0)),
            ..usage
        },
        (CostReporting::Cost, Known::Part) => all_tokens(all_money(usage, share), share),
        // Where the tokens are gone, the money may be there.
        (CostReporting::Cost, Known::Spent) => match share.tokens.is_some_and(|least| usage.tokens.total() >= least) {
            true => usage,
            false => all_money(usage, share),
        },
    }
}

/// At least the share's money, even if the program's own sum falls short.
fn all_money(usage: Usage, share: &Share) -> Usage {
    match share.usd_micros {
        Some(least) if usage.usd_micros.is_none_or(|told| told < least) => Usage {
            usd_micros: Some(least),
            estimated: true,
            ..usage
        },
        Some(_) | None => usage,
    }
}

/// At least the share's tokens; of which kind they were is not known.
fn all_tokens(usage: Usage, share: &Share) -> Usage {
    let missing = share.tokens.unwrap_or(0).saturating_sub(usage.tokens.total());
    let input = usage.tokens.input.saturating_add(missing);
    Usage {
        tokens: Tokens { input, ..usage.tokens },
        estimated: usage.estimated || missing > 0,
        ..usage
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHARE: Share = Share {
        usd_micros: Some(50),
        most_usd_micros: Some(100),
        tokens: Some(1_000),
        ms: 60_000,
    };

    fn told(usd_micros: Option<u64>, tokens: u64) -> Usage {
        Usage {
            usd_micros,
            tokens: Tokens {
                output: tokens,
                ..Tokens::default()
            },
            ..Usage::default()
        }
    }

    #[test]
    fn what_is_told_counts_and_what_is_not_told_counts_as_the_share() {
        // Money and tokens told, what is known; then money, tokens and whether that is an estimate.
        let table = [
            (Some(7), 9, Known::All, (Some(7), 9, false)),
            (None, 0, Known::All, (None, 0, false)),
            (None, 0, Known::Part, (Some(50), 1_000, true)),
            (Some(7), 9, Known::Part, (Some(50), 1_000, true)),
            (Some(60), 2_000, Known::Part, (Some(60), 2_000, false)),
            (Some(20), 9, Known::Spent, (Some(50), 9, true)),
            (Some(60), 9, Known::Spent, (Some(60), 9, false)),
            (Some(20), 1_000, Known::Spent, (Some(20), 1_000, false)),
            (None, 0, Known::Nothing, (Some(0), 0, false)),
        ];
        for (usd_micros, tokens, known, expected) in table {
            let usage = settled(told(usd_micros, tokens), known, CostReporting::Cost, &SHARE);
            let found = (usage.usd_micros, usage.tokens.total(), usage.estimated);
            assert_eq!(found, expected, "{usd_micros:?} {tokens} {known:?}");
        }
    }

    #[test]
    fn who_never_tells_is_unknown_and_without_a_limit_nothing_is_made_up() {
        for known in [Known::All, Known::Part, Known::Spent, Known::Nothing] {
            assert_eq!(
                settled(told(None, 0), known, CostReporting::Nothing, &SHARE),
                told(None, 0)
            );
        }
        let unlimited = Share {
            usd_micros: None,
            tokens: None,
            ..SHARE
        };
        assert_eq!(
            settled(told(None, 0), Known::Part, CostReporting::Cost, &unlimited),
            told(None, 0)
        );
    }
}
