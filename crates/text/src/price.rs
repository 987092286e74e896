//! Estimates the cost of tokens if a program does not report it. Uses the dated table `prices.json`, and a rule for
//! models that are not in it.

use crate::usage::{Tokens, Usage};
use serde::Deserialize;
use std::sync::LazyLock;

/// The only source of prices.
const TABLE: &str = include_str!("prices.json");

static PRICES: LazyLock<Vec<Price>> =
    LazyLock::new(|| serde_json::from_str(TABLE).map_or_else(|_| Vec::new(), |table: Table| table.models));

#[derive(Deserialize)]
struct Table {
    models: Vec<Price>,
}

/// Prices in US dollars per million tokens, which equals millionths of a dollar per token.
#[derive(Deserialize)]
struct Price {
    prefix: String,
    input: f64,
    cached: f64,
    cache_write: f64,
    output: f64,
}

/// Adds an estimated cost to the usage if the program reported tokens but no cost. A model that is not in the table
/// costs as much as the most expensive one in it, so that an unknown price never lets a run exceed its limit.
pub fn priced(usage: Usage, model: Option<&str>) -> Usage {
    if usage.usd_micros.is_some() || usage.tokens.total() == 0 {
        return usage;
    }
    Usage { usd_micros: Some(estimate(&usage.tokens, model)), estimated: true, ..usage }
}

/// Returns the least and the most that calls of models cost by the table. For a model that is not in the table, these
/// are the prices of the cheapest and of the most expensive model.
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

/// Returns the price with the longest prefix that fits. A provider's own prefix (`openai/`, `us.anthropic.`) is
/// skipped. The rest of the name may be a variant but not a version number: `gpt-5.9` is not `gpt-5`.
fn price_of(model: &str) -> Option<&'static Price> {
    let name = model.to_lowercase();
    let starts = |before: &str| before.is_empty() || before.ends_with(['/', '.', ':']);
    let ends = |after: &str| !after.starts_with(|c: char| c.is_alphanumeric() || c == '.');
    let fits = |(before, after): (&str, &str)| starts(before) && ends(after);
    let fitting = PRICES.iter().filter(|price| name.split_once(&price.prefix).is_some_and(fits));
    fitting.max_by_key(|price| price.prefix.len())
}

impl Price {
    fn of(&self, tokens: &Tokens) -> u64 {
        let parts = [
            times(tokens.input, self.input),
            times(tokens.cached, self.cached),
            times(tokens.cache_write, self.cache_write),
            times(tokens.output, self.output),
        ];
        parts.into_iter().fold(0, u64::saturating_add)
    }
}

/// Returns the cost in millionths of a dollar, rounded up. The price is first rounded to thousandths.
fn times(count: u64, price: f64) -> u64 {
    let thousandths = format!("{:.0}", price * 1_000.0).parse::<u64>().unwrap_or(0);
    count.saturating_mul(thousandths).div_ceil(1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn price_of_million(model: Option<&str>) -> u64 {
        let usage =
            Usage { tokens: Tokens { input: 1_000_000, output: 100_000, ..Tokens::default() }, ..Usage::default() };
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
        assert_eq!(price_of_million(Some("gpt-5-codex-2026-01")), 2_250_000);
        assert_eq!(price_of_million(Some("openai/GPT-5-mini")), 450_000);
        assert_eq!(price_of_million(Some("us.anthropic.claude-haiku-9")), 1_500_000);
        assert_eq!(price_of_million(Some("claude-sonnet-5-5[1m]")), 3_000_000);
        assert_eq!(price_of_million(Some("claude-sonnet-5")), price_of_million(Some("claude-sonnet-5-5")));
    }

    #[test]
    fn an_unknown_model_costs_as_much_as_the_dearest() {
        for model in [None, Some(""), Some("mygpt-5"), Some("qwen"), Some("gpt-5.9"), Some("o30")] {
            assert_eq!(price_of_million(model), 48_000_000, "{model:?}");
        }
    }

    #[test]
    fn what_the_program_told_stands_and_no_tokens_are_no_price() {
        let told = Usage { usd_micros: Some(5), ..Usage::default() };
        assert_eq!(priced(told, Some("gpt-5")), told);
        assert_eq!(priced(Usage::default(), Some("gpt-5")), Usage::default());
    }
}
