//! What the run's door saw going to its model past the program: calls of something that the program started, which it knows
//! nothing of, or that it did not live to tell; how long the model's API asked to be left alone; and whether it was the API
//! that said nothing.

use crate::agents::Printed;
use crate::agents::Record;
use crate::agents::RunError;
use crate::agents::journal::plain;
use crate::domain::blocked::AgentFailure;
use crate::domain::price;
use crate::domain::secret::Secrets;
use crate::domain::usage::Tokens;
use crate::sandbox::Spec;
use crate::sandbox::egress::Door;
use std::time::Duration;

/// What a program tells is believed up to so many times what was seen, as prices differ from our table's, and so much more.
const MOST_TIMES: u64 = 10;
const MOST_TOKENS: u64 = 1_000_000;
const MOST_MICROS: u64 = 5_000_000;
/// And down to one part of so many.
const LEAST_PART: u64 = 4;

/// An API that says nothing for so long does not serve.
const SILENT: Duration = Duration::from_secs(30);
/// What is said of a failure of the API that nobody but the program saw.
const UNSEEN: &str = "it says so, and no call of its model failed";

/// Most characters of an API's answer that are kept.
const MAX_WORDS: usize = 600;

/// The outcome of a run with what the door of `order` saw beside what the program told; `told` where it told more than
/// stands in the record.
pub(crate) async fn counted(
    outcome: Result<Printed, RunError>,
    told: Option<Tokens>,
    order: &Spec,
    secrets: &Secrets,
) -> Result<Printed, RunError> {
    let door = order.confine.door.as_ref();
    if let Some(door) = door {
        // What the end of the program has broken off counts too.
        door.close().await;
    }
    let passed = door.map(|door| door.used()).unwrap_or_default();
    let add = |record: &mut Record| {
        let more = add(record, told, &passed);
        if door.is_some_and(|door| door.leads_to_models()) {
            believe(record, &passed);
        }
        more
    };
    match outcome {
        Ok(mut printed) => {
            let more = add(&mut printed.record);
            if more > 0 {
                tracing::warn!(
                    tokens = more,
                    "a run called its model past its program: {more} tokens more than it told"
                );
            }
            Ok(printed)
        }
        Err(RunError::Agent { failure, mut record }) => {
            add(&mut record);
            let failure = match door.filter(|door| door.leads_to_models()) {
                Some(door) => explained(failure, door),
                None => failure,
            };
            let failure = of_the_api(failure, door.map(|door| door.silence()).unwrap_or_default());
            let words = door.map(|door| door.refused_with()).unwrap_or_default();
            let failure = in_full(failure, &plain(secrets, &words, MAX_WORDS));
            let failure = waiting(failure, door.and_then(|door| door.told_to_wait()));
            Err(RunError::Agent { failure, record })
        }
        Err(RunError::Cancelled { mut record }) => {
            add(&mut record);
            Err(RunError::Cancelled { record })
        }
        Err(error @ RunError::Host { .. }) => Err(error),
    }
}

/// The failure of the model's API where that was what said nothing, for most of the time that the program was waited for.
fn of_the_api(failure: AgentFailure, silence: Duration) -> AgentFailure {
    let (AgentFailure::WentSilent { seconds } | AgentFailure::TimedOut { seconds }) = failure else {
        return failure;
    };
    // A program that has enough of it asks once more before its own time is up.
    let is_most = silence.saturating_mul(2) >= Duration::from_secs(seconds.max(1));
    match is_most {
        true => AgentFailure::Unavailable {
            said: format!("it was asked and said nothing for {} seconds", silence.as_secs()),
            retry_after_seconds: None,
        },
        false => failure,
    }
}

/// The failure as far as the calls explain it that were seen. What a program says can be written by what it starts, and
/// others wait with whoever is refused.
fn explained(mut failure: AgentFailure, door: &Door) -> AgentFailure {
    let seen = door.was_not_served() || door.silence() >= SILENT;
    match &mut failure {
        AgentFailure::RateLimited { .. } | AgentFailure::Unavailable { .. } if !seen => AgentFailure::Failed {
            how: format!("{UNSEEN}: {failure}"),
        },
        AgentFailure::RateLimited {
            retry_after_seconds, ..
        }
        | AgentFailure::Unavailable {
            retry_after_seconds, ..
        } => {
            *retry_after_seconds = at_most(*retry_after_seconds, door.longest_wait());
            failure
        }
        _ => failure,
    }
}

/// A wait that the program told, where the API asked for any.
fn at_most(told: Option<u64>, asked: u64) -> Option<u64> {
    told.map(|told| told.min(asked)).filter(|seconds| *seconds > 0)
}

/// The failure with what the API answered, where programs keep that to themselves and operators alone read it.
fn in_full(mut failure: AgentFailure, words: &str) -> AgentFailure {
    let said = match &mut failure {
        AgentFailure::RateLimited { said, .. }
        | AgentFailure::Unavailable { said, .. }
        | AgentFailure::NotAuthorised { said }
        | AgentFailure::NoSuchModel { said, .. }
        | AgentFailure::RequestRefused { said, .. } => said,
        _ => return failure,
    };
    if !words.is_empty() && !said.contains(words) {
        *said = format!("{said}; its API answered: {words}");
    }
    failure
}

/// The failure with the time to wait that the API told, where the program did not pass it on.
fn waiting(failure: AgentFailure, seconds: Option<u64>) -> AgentFailure {
    match failure {
        AgentFailure::RateLimited {
            said,
            retry_after_seconds,
        } => AgentFailure::RateLimited {
            said,
            retry_after_seconds: retry_after_seconds.max(seconds),
        },
        AgentFailure::Unavailable {
            said,
            retry_after_seconds,
        } => AgentFailure::Unavailable {
            said,
            retry_after_seconds: retry_after_seconds.max(seconds),
        },
        other => other,
    }
}

/// Adds what the program did not tell; gives how many tokens that is.
fn add(record: &mut Record, told: Option<Tokens>, passed: &[(String, Tokens)]) -> u64 {
    let told = told.unwrap_or(record.usage.tokens);
    let mut all = Tokens::default();
    for (_, tokens) in passed {
        all += *tokens;
    }
    if all.total() <= told.total() {
        return 0;
    }
    let more = Tokens {
        input: all.input.saturating_sub(told.input),
        cached: all.cached.saturating_sub(told.cached),
        cache_write: all.cache_write.saturating_sub(told.cache_write),
        output: all.output.saturating_sub(told.output),
    };
    let cost = |(model, _): &(String, Tokens)| price::range(&[(model.clone(), more)]).1;
    let dearest = passed.iter().map(cost).max().unwrap_or(0);
    record.usage.tokens += more;
    match &mut record.usage.usd_micros {
        Some(usd_micros) => *usd_micros = usd_micros.saturating_add(dearest),
        // Each of several models at its own price.
        none => *none = Some(price::range(passed).1),
    }
    record.usage.estimated = true;
    more.total()
}

/// Takes back what a program told that no calls of its models explain: what it starts can write into its words.
fn believe(record: &mut Record, passed: &[(String, Tokens)]) {
    let mut all = Tokens::default();
    for (_, tokens) in passed {
        all += *tokens;
    }
    let usage = &mut record.usage;
    if usage.tokens.total() > all.total().saturating_mul(MOST_TIMES).saturating_add(MOST_TOKENS) {
        tracing::warn!("a run told of more tokens than it can have used");
        (usage.tokens, usage.estimated) = (all, true);
    }
    let (least, most) = price::range(passed);
    let Some(told) = usage.usd_micros else { return };
    let believed = match told {
        told if told > most.saturating_mul(MOST_TIMES).saturating_add(MOST_MICROS) => most,
        told if told < least / LEAST_PART => least,
        _ => return,
    };
    tracing::warn!(
        told,
        believed,
        "a run told of a cost that its calls of models do not explain"
    );
    (usage.usd_micros, usage.estimated) = (Some(believed), true);
}

#[cfg(test)]
mod tests {
    use super::add;
    use super::believe;
    use super::in_full;
    use super::of_the_api;
    use super::waiting;
    use crate::agents::Record;
    use crate::domain::blocked::AgentFailure;
    use crate::domain::usage::Tokens;
    use crate::domain::usage::Usage;
    use std::time::Duration;

    fn tokens(input: u64, output: u64) -> Tokens {
        Tokens {
            input,
            output,
            ..Tokens::default()
        }
    }

    fn after(told: Option<Tokens>, passed: &[(String, Tokens)]) -> Usage {
        let usage = Usage {
            tokens: tokens(1_000, 100),
            usd_micros: Some(5_000),
            ..Usage::default()
        };
        let mut record = Record {
            usage,
            ..Record::default()
        };
        add(&mut record, told, passed);
        record.usage
    }

    #[test]
    fn what_the_api_answered_is_added_where_operators_alone_read_it() {
        let told = |said: &str| AgentFailure::NotAuthorised { said: said.to_owned() };
        let full = in_full(told("HTTP 401"), "{\"message\": \"no\"}");
        assert_eq!(full, told("HTTP 401; its API answered: {\"message\": \"no\"}"));
        assert_eq!(in_full(full.clone(), "{\"message\": \"no\"}"), full);
        assert_eq!(in_full(told("HTTP 401"), ""), told("HTTP 401"));
        let refused = AgentFailure::ModelRefused { said: "no".to_owned() };
        assert_eq!(in_full(refused.clone(), "words"), refused, "people read that");
    }

    #[test]
    fn a_program_that_waits_for_its_api_is_not_what_is_silent() {
        let silent = |seconds| AgentFailure::WentSilent { seconds };
        let late = AgentFailure::TimedOut { seconds: 300 };
        let of_the_api = |failure: &AgentFailure, silence| of_the_api(failure.clone(), Duration::from_secs(silence));
        for (failure, silence) in [
            (silent(330), 300),
            (silent(330), 165),
            (silent(0), 1),
            (late.clone(), 200),
        ] {
            let said = format!("it was asked and said nothing for {silence} seconds");
            let expected = AgentFailure::Unavailable {
                said,
                retry_after_seconds: None,
            };
            assert_eq!(of_the_api(&failure, silence), expected, "{failure}");
        }
        for (failure, silence) in [
            (silent(330), 164),
            (silent(0), 0),
            (late, 60),
            (AgentFailure::OutputLimit, 900),
        ] {
            assert_eq!(of_the_api(&failure, silence), failure);
        }
    }

    #[test]
    fn the_longest_wait_that_anybody_was_told_counts() {
        let limited = |retry_after_seconds| AgentFailure::RateLimited {
            said: String::new(),
            retry_after_seconds,
        };
        for (told, seen, expected) in [
            (None, Some(3_600), Some(3_600)),
            (Some(9), Some(5), Some(9)),
            (Some(9), None, Some(9)),
        ] {
            assert_eq!(waiting(limited(told), seen), limited(expected));
            let unavailable = |retry_after_seconds| AgentFailure::Unavailable {
                said: String::new(),
                retry_after_seconds,
            };
            assert_eq!(waiting(unavailable(told), seen), unavailable(expected));
        }
        assert_eq!(waiting(AgentFailure::OutputLimit, Some(5)), AgentFailure::OutputLimit);
    }

    #[test]
    fn what_no_calls_explain_is_not_believed() {
        let seen = [("claude-sonnet-5".to_owned(), tokens(1_000_000, 0))];
        let believed = |usd_micros, told, passed: &[(String, Tokens)]| {
            let usage = Usage {
                tokens: tokens(told, 0),
                usd_micros,
                ..Usage::default()
            };
            let mut record = Record {
                usage,
                ..Record::default()
            };
            believe(&mut record, passed);
            let usage = record.usage;
            (usage.usd_micros, usage.tokens.input, usage.estimated)
        };
        // The table's price of what was seen is two dollars.
        for told in [Some(500_000), Some(2_000_000), Some(25_000_000), None] {
            assert_eq!(believed(told, 1_000_000, &seen), (told, 1_000_000, false));
        }
        for told in [Some(0), Some(499_999), Some(25_000_001), Some(u64::MAX)] {
            assert_eq!(believed(told, 1_000_000, &seen), (Some(2_000_000), 1_000_000, true));
        }
        assert_eq!(believed(None, u64::MAX, &seen), (None, 1_000_000, true));
        assert_eq!(
            believed(Some(u64::MAX), u64::MAX, &[]),
            (Some(0), 0, true),
            "none was called"
        );
        let unknown = [("new".to_owned(), tokens(1_000_000, 0))];
        assert_eq!(
            believed(Some(100_000), 1_000_000, &unknown),
            (Some(100_000), 1_000_000, false)
        );
        assert_eq!(
            believed(Some(300_000_000), 1_000_000, &unknown),
            (Some(300_000_000), 1_000_000, false)
        );
    }

    #[test]
    fn models_that_nobody_told_the_cost_of_are_each_counted_at_their_own_price() {
        let passed = [("claude-opus-4-8", 1_000_000), ("claude-haiku-4-5", 2_000_000)]
            .map(|(model, input)| (model.to_owned(), tokens(input, 0)));
        let mut record = Record::default();
        add(&mut record, None, &passed);
        assert_eq!(
            (record.usage.usd_micros, record.usage.estimated),
            (Some(7_000_000), true)
        );
    }

    #[test]
    fn what_a_run_spent_past_its_program_is_counted() {
        let passed = |input, output| [("claude-sonnet-5".to_owned(), tokens(input, output))];
        let honest = after(None, &passed(1_000, 100));
        assert_eq!((honest.usd_micros, honest.estimated), (Some(5_000), false));
        assert_eq!(after(Some(tokens(3_000, 300)), &passed(3_000, 300)), honest);
        assert_eq!(after(None, &[]), honest);
        let past = after(None, &passed(1_001_000, 100));
        assert_eq!(past.tokens, tokens(1_001_000, 100));
        assert!(
            past.estimated && past.usd_micros.is_some_and(|micros| micros > 1_000_000),
            "{past:?}"
        );
    }
}
