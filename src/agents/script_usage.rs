//! What a prepared step says that it used, and how it says that a model failed it.

use domain::{blocked::AgentFailure, node::Node, usage::Usage};

/// What `usage` may hold.
pub(crate) const KEYS: &str = "usd, input, cached, cache_write, output, ms";

/// Reads `usage`: money in US dollars, tokens, milliseconds.
pub(crate) fn usage(node: &Node) -> Result<Usage, (&Node, String)> {
    let wrong = |node| (node, format!("`usage` is a table of numbers from 0; valid: {KEYS}"));
    let Some(entries) = node.entries() else {
        return Err(wrong(node));
    };
    let mut usage = Usage::default();
    for (key, value) in entries {
        let whole = || {
            let count = value.whole().and_then(|count| u64::try_from(count).ok());
            count.ok_or_else(|| wrong(value))
        };
        match key.name.as_str() {
            "usd" => usage.usd_micros = Some(micros(value).ok_or_else(|| wrong(value))?),
            "input" => usage.tokens.input = whole()?,
            "cached" => usage.tokens.cached = whole()?,
            "cache_write" => usage.tokens.cache_write = whole()?,
            "output" => usage.tokens.output = whole()?,
            "ms" => usage.agent_ms = whole()?,
            _ => return Err(wrong(node)),
        }
    }
    Ok(usage)
}

fn micros(value: &Node) -> Option<u64> {
    let usd = value.number()?;
    (0.0..=1e9)
        .contains(&usd)
        .then(|| format!("{:.0}", usd * 1e6).parse().ok())?
}

/// The failures of a model that a step may name.
pub(crate) const FAILURES: &str = "rate_limited, unavailable, not_authorised, no_such_model, model_refused, \
                                   request_refused, prompt_too_long, output_limit, out_of_agent_turns, out_of_money";

/// The failure of that name.
pub(crate) fn failure(word: &str, retry_after_seconds: Option<u64>) -> Option<AgentFailure> {
    let said = "as scripted".to_owned();
    Some(match word {
        "rate_limited" => AgentFailure::RateLimited {
            said,
            retry_after_seconds,
        },
        "unavailable" => AgentFailure::Unavailable {
            said,
            retry_after_seconds,
        },
        "not_authorised" => AgentFailure::NotAuthorised { said },
        "no_such_model" => AgentFailure::NoSuchModel {
            model: "scripted".to_owned(),
            said,
        },
        "model_refused" => AgentFailure::ModelRefused { said },
        "request_refused" => AgentFailure::RequestRefused { status: 400, said },
        "prompt_too_long" => AgentFailure::PromptTooLong,
        "output_limit" => AgentFailure::OutputLimit,
        "out_of_agent_turns" => AgentFailure::OutOfAgentTurns { turns: 1 },
        "out_of_money" => AgentFailure::OutOfMoney,
        _ => return None,
    })
}
