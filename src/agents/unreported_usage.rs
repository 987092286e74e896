//! Counts a run by the calls that its proxy saw, whatever the program tells: a program may die before it tells, what it
//! starts may forge its words, and it knows nothing of calls that something else made. Also: how long the model's API asked
//! to be left alone, and whether it was the API that said nothing.

use crate::agents::{
    journal::plain,
    record::Record,
    run::{Printed, RunError, RunSpec},
};
use domain::{blocked::AgentFailure, isolation::Level, price, trace::TraceKind, usage::Tokens};
use sandbox::{Spec, egress::Door};
use std::time::Duration;

/// A cost that a program tells is believed from one part of so many of what the price table says of its calls, to so many
/// times that: prices differ from our table's.
const PRICES_DIFFER: u64 = 4;

/// An API that says nothing for so long does not serve.
const SILENT: Duration = Duration::from_secs(30);

/// Said of a run that claims a used-up share without the calls for it.
const UNSPENT: &str =
    "it says that its share of the budget is used up, and its calls of models have not used that much";

/// Most characters of an API's answer that are kept.
const MAX_WORDS: usize = 600;

/// Whose model a program uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Model {
    /// One that it reaches through our door alone, where the door leads to models.
    Ours,
    /// Perhaps one of its own.
    Perhaps,
}

/// How much of a run's model calls the proxy sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum View {
    /// Every one.
    All,
    /// Perhaps there were others: the program's own word is all there is.
    Part,
}

/// The outcome of a run with what the door of `order` saw; `told` are the tokens that the program told, where it told more
/// than stands in the record.
pub(crate) async fn counted(
    outcome: Result<Printed, RunError>,
    model: Model,
    told: Option<Tokens>,
    order: &Spec,
    spec: &RunSpec,
) -> Result<Printed, RunError> {
    let Some(door) = order.confine.door.as_ref() else {
        return outcome;
    };
    // A call that the program's end broke off counts too.
    door.close().await;
    let passed = door.used();
    let count = |record: &mut Record| {
        match view(door, model, &passed, record.level) {
            View::All => count(record, told, &passed),
            View::Part => {}
        }
        tell(record, door.first_request());
    };
    match outcome {
        Ok(mut printed) => {
            count(&mut printed.record);
            Ok(printed)
        }
        Err(RunError::Agent { failure, mut record }) => {
            count(&mut record);
            let failure = match view(door, model, &passed, record.level) {
                View::All => spent(failure, &passed, spec.usd_micros),
                View::Part => failure,
            };
            let failure = match door.leads_to_models() {
                true => explained(failure, door),
                false => failure,
            };
            let failure = of_the_api(failure, door.silence());
            let failure = in_full(failure, &plain(&spec.secrets, &door.refused_with(), MAX_WORDS));
            let failure = waiting(failure, door.told_to_wait());
            Err(RunError::Agent { failure, record })
        }
        Err(RunError::Cancelled { mut record }) => {
            count(&mut record);
            Err(RunError::Cancelled { record })
        }
        Err(error @ RunError::Host { .. }) => Err(error),
    }
}

fn view(door: &Door, model: Model, passed: &[(String, Tokens)], level: Option<Level>) -> View {
    let is_through_us = door.leads_to_models() && (model == Model::Ours || !passed.is_empty());
    // If the proxy is the only way out and let nobody out, the run called nobody.
    let stayed_inside = level >= Some(Level::L2) && !door.let_someone_out();
    match is_through_us || stayed_inside {
        true => View::All,
        false => View::Part,
    }
}

/// Counts what passed. The program's own price is taken if it tells of the very same calls and the price table does not
/// contradict it; else the table's, which is an estimate. Who called nothing costs nothing.
fn count(record: &mut Record, told: Option<Tokens>, passed: &[(String, Tokens)]) {
    let mut all = Tokens::default();
    for (_, tokens) in passed {
        all += *tokens;
    }
    let usage = &mut record.usage;
    let same_calls = told.unwrap_or(usage.tokens) == all;
    usage.tokens = all;
    let (least, most) = price::range(passed);
    let likely = least / PRICES_DIFFER..=most.saturating_mul(PRICES_DIFFER);
    match usage.usd_micros {
        Some(told) if same_calls && likely.contains(&told) => {}
        told => {
            if let Some(told) = told.filter(|told| !likely.contains(told)) {
                tracing::warn!(
                    told,
                    most,
                    "a run told of a cost that its calls of models do not explain"
                );
            }
            (usage.usd_micros, usage.estimated) = (Some(most), most > 0);
        }
    }
}

/// Puts what is counted into the run's events, in place of what the program told.
fn tell(record: &mut Record, first: Option<u64>) {
    let counted = record.usage;
    let events = record.events.iter_mut().rev();
    for event in events {
        if let TraceKind::Used { usage, first_request } = &mut event.kind {
            (*usage, *first_request) = (counted, first);
            return;
        }
    }
}

/// A share that is used up, as far as the calls explain it.
fn spent(failure: AgentFailure, passed: &[(String, Tokens)], share: Option<u64>) -> AgentFailure {
    let most = price::range(passed).1.saturating_mul(PRICES_DIFFER);
    match failure == AgentFailure::OutOfMoney && share.is_some_and(|share| most < share) {
        true => AgentFailure::Failed {
            how: UNSPENT.to_owned(),
        },
        false => failure,
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
    let is_seen = door.was_not_served() || door.silence() >= SILENT;
    let Some(wait) = wait_of(&mut failure) else {
        return failure;
    };
    *wait = at_most(*wait, door.longest_wait());
    if is_seen {
        return failure;
    }
    let claimed = match matches!(failure, AgentFailure::RateLimited { .. }) {
        true => "limits the rate",
        false => "is not available",
    };
    AgentFailure::Failed {
        how: format!("it says that the model's API {claimed}, but no call of it failed"),
    }
}

/// How long the API asked to be left alone, in the failures of an API that does not serve now.
fn wait_of(failure: &mut AgentFailure) -> Option<&mut Option<u64>> {
    if let AgentFailure::RateLimited {
        retry_after_seconds, ..
    }
    | AgentFailure::Unavailable {
        retry_after_seconds, ..
    } = failure
    {
        Some(retry_after_seconds)
    } else {
        None
    }
}

/// A wait that the program told, where the API asked for any.
fn at_most(told: Option<u64>, asked: u64) -> Option<u64> {
    told.map(|told| told.min(asked)).filter(|seconds| *seconds > 0)
}

/// The failure with what the API answered, where programs keep that to themselves and operators alone read it.
fn in_full(mut failure: AgentFailure, words: &str) -> AgentFailure {
    if let AgentFailure::RateLimited { said, .. }
    | AgentFailure::Unavailable { said, .. }
    | AgentFailure::NotAuthorised { said }
    | AgentFailure::NoSuchModel { said, .. }
    | AgentFailure::RequestRefused { said, .. } = &mut failure
        && !words.is_empty()
        && !said.contains(words)
    {
        *said = format!("{said}; its API answered: {words}");
    }
    failure
}

/// The failure with the time to wait that the API told, where the program did not pass it on.
fn waiting(mut failure: AgentFailure, seconds: Option<u64>) -> AgentFailure {
    if let Some(wait) = wait_of(&mut failure) {
        *wait = (*wait).max(seconds);
    }
    failure
}

#[cfg(test)]
mod tests {
    use super::{count, in_full, of_the_api, spent, waiting};
    use crate::agents::Record;
    use domain::{blocked::AgentFailure, usage::Tokens};
    use std::time::Duration;

    fn tokens(input: u64, output: u64) -> Tokens {
        Tokens {
            input,
            output,
            ..Tokens::default()
        }
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

    /// The counted money and input of a run that told this cost and input, and whether they are an estimate.
    fn counted(told: Option<u64>, input: u64, passed: &[(&str, u64)]) -> (Option<u64>, u64, bool) {
        let passed: Vec<(String, Tokens)> = passed
            .iter()
            .map(|(model, input)| ((*model).to_owned(), tokens(*input, 0)))
            .collect();
        let mut record = Record::default();
        (record.usage.usd_micros, record.usage.tokens) = (told, tokens(input, 0));
        count(&mut record, None, &passed);
        let usage = record.usage;
        (usage.usd_micros, usage.tokens.input, usage.estimated)
    }

    #[test]
    fn who_called_nothing_costs_nothing_whatever_it_tells() {
        for told in [None, Some(0), Some(1), Some(4_000_000), Some(u64::MAX)] {
            for input in [0, 1, 1_000_000, u64::MAX] {
                assert_eq!(counted(told, input, &[]), (Some(0), 0, false), "{told:?} {input}");
            }
        }
    }

    #[test]
    fn a_program_is_believed_about_the_price_of_the_calls_that_passed() {
        // The table's price of these is two dollars.
        let seen = [("claude-sonnet-5", 1_000_000)];
        for told in [500_000, 2_000_000, 8_000_000] {
            assert_eq!(counted(Some(told), 1_000_000, &seen), (Some(told), 1_000_000, false));
        }
        for told in [None, Some(0), Some(499_999), Some(8_000_001), Some(u64::MAX)] {
            assert_eq!(counted(told, 1_000_000, &seen), (Some(2_000_000), 1_000_000, true));
        }
        // Something called the model past the program, or words were written into its own.
        for input in [0, 999_999, 1_000_001, u64::MAX] {
            assert_eq!(
                counted(Some(2_000_001), input, &seen),
                (Some(2_000_000), 1_000_000, true)
            );
        }
        // Nobody knows what this one costs.
        let unknown = [("new", 1_000_000)];
        for told in [100_000, 30_000_000] {
            assert_eq!(counted(Some(told), 1_000_000, &unknown), (Some(told), 1_000_000, false));
        }
    }

    #[test]
    fn models_are_each_counted_at_their_own_price() {
        let passed = [("claude-opus-4-8", 1_000_000), ("claude-haiku-4-5", 2_000_000)];
        assert_eq!(counted(None, 0, &passed), (Some(7_000_000), 3_000_000, true));
    }

    #[test]
    fn a_share_is_used_up_only_by_calls() {
        let two_dollars = [("claude-sonnet-5".to_owned(), tokens(1_000_000, 0))];
        let ended = |passed, share| spent(AgentFailure::OutOfMoney, passed, share);
        assert_eq!(ended(&two_dollars, Some(2_000_000)), AgentFailure::OutOfMoney);
        assert_eq!(ended(&two_dollars, Some(8_000_000)), AgentFailure::OutOfMoney);
        assert_eq!(ended(&[], None), AgentFailure::OutOfMoney);
        for forged in [ended(&two_dollars, Some(8_000_001)), ended(&[], Some(1))] {
            assert!(matches!(forged, AgentFailure::Failed { .. }), "{forged:?}");
        }
        assert_eq!(
            spent(AgentFailure::OutputLimit, &[], Some(1)),
            AgentFailure::OutputLimit
        );
    }
}
