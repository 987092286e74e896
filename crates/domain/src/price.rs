//! What tokens cost where the program does not say: the table `prices.json`, with its date, and a rule for names that it
//! does not know. Everything that comes of it is an estimate.

use crate::usage::{Tokens, Usage};
use serde::Deserialize;
use std::sync::LazyLock;

/// The one place where prices stand.
const TABLE: &str = include_str!("prices.json");

static PRICES: LazyLock<Vec<Price>> =
    LazyLock::new(|| serde_json::from_str(TABLE).map_or_else(|_| Vec::new(), |table: Table| table.models));

#[derive(Deserialize)]
struct Table {
    models: Vec<Price>,
}

/// US dollars per million tokens, which are millionths of a dollar per token.
#[derive(Deserialize)]
struct Price {
    prefix: String,
    input: f64,
    cached: f64,
    cache_write: f64,
    output: f64,
}

/// The usage with an estimate of its money, where the program told tokens and no money. A model that the table does not
/// know costs as much as the dearest in it: nothing ever costs more than was allowed because its price is unknown.
pub fn priced(usage: Usage, model: Option<&str>) -> Usage {
    if usage.usd_micros.is_some() || usage.tokens.total() == 0 {
        return usage;
    }
    Usage {
        usd_micros: Some(estimate(&usage.tokens, model)),
        estimated: true,
        ..usage
    }
}

/// The least and the most that calls of models cost by the table, each at its own price. A model that the table does not
/// know costs as much as the cheapest in it, or as the dearest.
pub fn range(used: &[(String, Tokens)]) -> (u64, u64) {
    let of = |(model, tokens): &(String, Tokens)| {
        let cheapest = || PRICES.iter().map(|price| price.of(tokens)).min().unwrap_or(0);
        let least = price_of(model).map_or_else(cheapest, |price| price.of(tokens));
        (least, estimate(tokens, Some(model)))
    };
    let sum = |(least, most): (u64, u64), (low, high)| (least.saturating_add(low), most.saturating_add(high));
    used.iter().map(of).fold((0, 0), sum)
}

fn estimate(tokens: &Tokens, model: Option<&str>) -> u64 {
    let known = model.and_then(price_of).map(|price| price.of(tokens));
    known.unwrap_or_else(|| PRICES.iter().map(|price| price.of(tokens)).max().unwrap_or(0))
}

/// The longest prefix that fits; a provider's own prefix (`openai/`, `us.anthropic.`) is left out. What follows it names
/// a variant, never another version: `gpt-5.9` is no `gpt-5`.
fn price_of(model: &str) -> Option<&'static Price> {
    let name = model.to_lowercase();
    let fits = |price: &&Price| {
        let (before, after) = name.split_once(&price.prefix)?;
        let starts = before.is_empty() || before.ends_with(['/', '.', ':']);
        (starts && !after.starts_with(|c: char| c.is_alphanumeric() || c == '.')).then_some(())
    };
    let fitting = PRICES.iter().filter(|price| fits(price).is_some());
    fitting.max_by_key(|price| price.prefix.len())
}

impl Price {
    fn of(&self, tokens: &Tokens) -> u64 {
        [
            (tokens.input, self.input),
            (tokens.cached, self.cached),
            (tokens.cache_write, self.cache_write),
            (tokens.output, self.output),
        ]
        .into_iter()
        .map(|(count, price)| times(count, price))
        .fold(0, u64::saturating_add)
    }
}

/// Rounded up to whole millionths, in whole thousandths of a price.
fn times(count: u64, price: f64) -> u64 {
    let thousandths = format!("{:.0}", price * 1_000.0).parse::<u64>().unwrap_or(0);
    count.saturating_mul(thousandths).div_ceil(1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(model: Option<&str>) -> u64 {
        let usage = Usage {
            tokens: Tokens {
                input: 1_000_000,
                output: 100_000,
                ..Tokens::default()
            },
            ..Usage::default()
        };
        let priced = priced(usage, model);
        assert!(priced.estimated);
        priced.usd_micros.unwrap()
    }

    #[test]
    fn the_table_is_readable_dated_and_without_doubles() {
        let table: serde_json::Value = serde_json::from_str(TABLE).unwrap();
        assert!(table["as_of"].as_str().unwrap().len() == 10 && table["source"].is_string());
        let mut names: Vec<&str> = PRICES.iter().map(|price| price.prefix.as_str()).collect();
        assert_eq!(names.len(), table["models"].as_array().unwrap().len());
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), PRICES.len());
    }

    #[test]
    fn a_model_is_found_by_the_longest_prefix_of_its_name() {
        assert_eq!(used(Some("gpt-5-codex-2026-01")), 2_250_000);
        assert_eq!(used(Some("openai/GPT-5-mini")), 450_000);
        assert_eq!(used(Some("us.anthropic.claude-haiku-9")), 1_500_000);
        assert_eq!(used(Some("claude-sonnet-5-5[1m]")), 3_000_000);
        assert_eq!(used(Some("claude-sonnet-5")), used(Some("claude-sonnet-5-5")));
    }

    #[test]
    fn an_unknown_model_costs_as_much_as_the_dearest() {
        for model in [
            None,
            Some(""),
            Some("mygpt-5"),
            Some("qwen"),
            Some("gpt-5.9"),
            Some("o30"),
        ] {
            assert_eq!(used(model), 48_000_000, "{model:?}");
        }
    }

    #[test]
    fn what_the_program_told_stands_and_no_tokens_are_no_price() {
        let told = Usage {
            usd_micros: Some(5),
            ..Usage::default()
        };
        assert_eq!(priced(told, Some("gpt-5")), told);
        assert_eq!(priced(Usage::default(), Some("gpt-5")), Usage::default());
    }
}
