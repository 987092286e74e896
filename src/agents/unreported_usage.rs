//! Counts a run's usage by the calls that its proxy saw, not by the program's own report. A program may die before it
//! reports, its child processes may forge the report, and it does not know about calls of other processes. Also finds
//! the wait that the model's API asked for, and a silence of the API.

use crate::agents::{
    journal::plain,
    outcome,
    record::Record,
    run::{RunError, RunSpec, UncheckedRun},
};
use domain::{
    blocked::{AgentFault, Failure},
    isolation::Level,
    trace::TraceKind,
};
use sandbox::{Spec, egress::Door};
use std::time::Duration;
use text::{price, usage::Tokens};

/// The factor by which a reported cost may differ from our price table, in either direction, because real prices
/// differ.
const PRICES_DIFFER: u64 = 4;

/// An API that is silent for this long counts as not serving.
const SILENT: Duration = Duration::from_secs(30);

/// The most characters of an API's answer that are kept.
const MAX_WORDS: usize = 600;

/// The way in which a program reaches its model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Model {
    /// Only through our door, if the door leads to models.
    Ours,
    /// Perhaps in its own way.
    Perhaps,
}

/// Adds the calls that the door of `order` saw to a run's outcome. `reported` holds the tokens that the program reported,
/// if it reported more than the record contains.
pub(crate) async fn add_door_usage(
    outcome: Result<UncheckedRun, RunError>,
    model: Model,
    reported: Option<Tokens>,
    order: &Spec,
    spec: &RunSpec,
) -> Result<UncheckedRun, RunError> {
    let Some(door) = order.confine.door.as_ref() else {
        return outcome;
    };
    // Calls that were broken off by the program's end count too.
    door.close().await;
    let passed = door.tally().list();
    let count = |record: &mut Record| {
        let sees_all = sees_all(door, model, &passed, record.level);
        if sees_all {
            count(record, reported, &passed);
        }
        record_counted_usage(record, door.tally().first_request());
        sees_all
    };
    match outcome {
        Ok(mut printed) => {
            count(&mut printed.record);
            Ok(printed)
        }
        Err(RunError::Agent { failure, mut record }) => {
            let sees_all = count(&mut record);
            let failure = if sees_all { doubt_budget(failure, &passed, spec.usd_micros) } else { failure };
            let failure = if door.leads_to_models() { explained(failure, door) } else { failure };
            let failure = of_the_api(failure, door.tally().silence());
            let failure = in_full(failure, &plain(&spec.secrets, &door.tally().refusal_text(), MAX_WORDS));
            let failure = waiting(failure, door.tally().requested_wait());
            Err(RunError::Agent { failure, record })
        }
        Err(RunError::Cancelled { mut record }) => {
            count(&mut record);
            Err(RunError::Cancelled { record })
        }
        Err(error @ RunError::Host { .. }) => Err(error),
    }
}

/// `true` if the proxy sees every call of the run to a model. Otherwise, the program's own report is used.
fn sees_all(door: &Door, model: Model, passed: &[(String, Tokens)], level: Option<Level>) -> bool {
    let is_through_us = door.leads_to_models() && (model == Model::Ours || !passed.is_empty());
    // If the proxy is the only way out and let nothing through, the run called no model elsewhere.
    let stayed_inside = level >= Some(Level::L2) && !door.let_someone_out();
    is_through_us || stayed_inside
}

/// Counts the calls that passed the proxy. Keeps the program's own cost if it is about the same calls and fits the
/// price table. Otherwise uses the table's, which is an estimate. A run without calls costs nothing.
fn count(record: &mut Record, reported: Option<Tokens>, passed: &[(String, Tokens)]) {
    let mut all = Tokens::default();
    for (_, tokens) in passed {
        all += *tokens;
    }
    let usage = &mut record.usage;
    let same_calls = reported.unwrap_or(usage.tokens) == all;
    usage.tokens = all;
    let (least, most) = price::range(passed);
    let likely = least / PRICES_DIFFER..=most.saturating_mul(PRICES_DIFFER);
    match usage.usd_micros {
        Some(reported) if same_calls && likely.contains(&reported) => {}
        reported => {
            if let Some(reported) = reported.filter(|reported| !likely.contains(reported)) {
                tracing::warn!(reported, most, "a run reported a cost that its calls of models do not explain");
            }
            (usage.usd_micros, usage.estimated) = (Some(most), most > 0);
        }
    }
}

/// Replaces the program's own figures in the run's events by the counted ones.
fn record_counted_usage(record: &mut Record, first: Option<u64>) {
    let counted = record.usage;
    let events = record.events.iter_mut().rev();
    for event in events {
        if let TraceKind::Used { usage, first_request } = &mut event.kind {
            (*usage, *first_request) = (counted, first);
            return;
        }
    }
}

/// Rejects the failure that the budget is used up if the calls cannot explain it.
fn doubt_budget(failure: Failure, passed: &[(String, Tokens)], share: Option<u64>) -> Failure {
    let most = price::range(passed).1.saturating_mul(PRICES_DIFFER);
    if failure == Failure::OutOfMoney && share.is_some_and(|share| most < share) {
        outcome::fault(AgentFault::UnspentShare)
    } else {
        failure
    }
}

/// Turns a timeout into a failure of the model's API if the API was silent for most of that time.
fn of_the_api(failure: Failure, silence: Duration) -> Failure {
    let (Failure::WentSilent { seconds } | Failure::TimedOut { seconds }) = failure else {
        return failure;
    };
    // A program that gives up on a call asks once more before its own time is up, so half the time is enough.
    let is_most = silence.saturating_mul(2) >= Duration::from_secs(seconds.max(1));
    if is_most {
        Failure::Unavailable {
            message: format!("no answer in {} seconds", silence.as_secs()),
            retry_after_seconds: None,
        }
    } else {
        failure
    }
}

/// Checks a failure against the calls that the proxy saw. Child processes can forge a program's messages, other runs also
/// have to wait after a refusal by the API, and operators replace a key that it refuses.
fn explained(mut failure: Failure, door: &Door) -> Failure {
    if let Failure::NotAuthorised { .. } = failure
        && !door.tally().has_accused()
    {
        return outcome::fault(AgentFault::UnseenOutage);
    }
    let is_seen = door.tally().has_failed() || door.tally().silence() >= SILENT;
    let Some(wait) = wait_of(&mut failure) else {
        return failure;
    };
    // The program may report a longer wait than the API asked for.
    let asked = door.tally().longest_wait();
    *wait = wait.map(|reported| reported.min(asked)).filter(|seconds| *seconds > 0);
    if is_seen {
        return failure;
    }
    outcome::fault(if matches!(failure, Failure::RateLimited { .. }) {
        AgentFault::UnseenLimit
    } else {
        AgentFault::UnseenOutage
    })
}

/// Returns the wait that the API asked for, in failures of an API that does not serve at present.
fn wait_of(failure: &mut Failure) -> Option<&mut Option<u64>> {
    if let Failure::RateLimited { retry_after_seconds, .. } | Failure::Unavailable { retry_after_seconds, .. } = failure
    {
        Some(retry_after_seconds)
    } else {
        None
    }
}

/// Adds the API's own answer to the failure, since some programs do not repeat it. Only operators read it. What they
/// read about credentials is the API's answer alone: they act on it, and a child process can forge the program's words.
fn in_full(mut failure: Failure, words: &str) -> Failure {
    if let Failure::NotAuthorised { message: said } = &mut failure
        && !words.is_empty()
    {
        words.clone_into(said);
    }
    if let Failure::RateLimited { message: said, .. }
    | Failure::Unavailable { message: said, .. }
    | Failure::NoSuchModel { message: said, .. }
    | Failure::RequestRefused { message: said, .. } = &mut failure
        && !words.is_empty()
        && !said.contains(words)
    {
        *said = format!("{said}; its API answered: {words}");
    }
    failure
}

/// Adds the wait that the API asked for, if the program did not pass it on.
fn waiting(mut failure: Failure, seconds: Option<u64>) -> Failure {
    if let Some(wait) = wait_of(&mut failure) {
        *wait = (*wait).max(seconds);
    }
    failure
}

#[cfg(test)]
mod tests {
    use super::{count, doubt_budget, in_full, of_the_api, waiting};
    use crate::agents::{Record, outcome};
    use domain::blocked::{AgentFault, Failure};
    use std::time::Duration;
    use text::usage::Tokens;

    fn tokens(input: u64, output: u64) -> Tokens {
        Tokens { input, output, ..Tokens::default() }
    }

    #[test]
    fn what_the_api_answered_is_added_where_operators_alone_read_it() {
        let reported = |said: &str| Failure::NotAuthorised { message: said.to_owned() };
        let unknown = |said: &str| Failure::NoSuchModel { model: "m".to_owned(), message: said.to_owned() };
        let full = in_full(unknown("HTTP 404"), "{\"message\": \"no\"}");
        assert_eq!(full, unknown("HTTP 404; its API answered: {\"message\": \"no\"}"));
        assert_eq!(in_full(full.clone(), "{\"message\": \"no\"}"), full);
        assert_eq!(in_full(unknown("HTTP 404"), ""), unknown("HTTP 404"));
        assert_eq!(in_full(reported("paste a new key"), "{\"message\": \"no\"}"), reported("{\"message\": \"no\"}"));
        let refused = Failure::ModelRefused { message: "no".to_owned() };
        assert_eq!(in_full(refused.clone(), "words"), refused, "people read that");
    }

    #[test]
    fn a_program_that_waits_for_its_api_is_not_what_is_silent() {
        let silent = |seconds| Failure::WentSilent { seconds };
        let late = Failure::TimedOut { seconds: 300 };
        let of_the_api = |failure: &Failure, silence| of_the_api(failure.clone(), Duration::from_secs(silence));
        for (failure, silence) in [(silent(330), 300), (silent(330), 165), (silent(0), 1), (late.clone(), 200)] {
            let said = format!("no answer in {silence} seconds");
            let expected = Failure::Unavailable { message: said, retry_after_seconds: None };
            assert_eq!(of_the_api(&failure, silence), expected, "{failure}");
        }
        for (failure, silence) in [(silent(330), 164), (silent(0), 0), (late, 60), (Failure::OutputLimit, 900)] {
            assert_eq!(of_the_api(&failure, silence), failure);
        }
    }

    #[test]
    fn the_longest_wait_that_anybody_was_told_counts() {
        let limited = |retry_after_seconds| Failure::RateLimited { message: String::new(), retry_after_seconds };
        for (reported, seen, expected) in
            [(None, Some(3_600), Some(3_600)), (Some(9), Some(5), Some(9)), (Some(9), None, Some(9))]
        {
            assert_eq!(waiting(limited(reported), seen), limited(expected));
            let unavailable =
                |retry_after_seconds| Failure::Unavailable { message: String::new(), retry_after_seconds };
            assert_eq!(waiting(unavailable(reported), seen), unavailable(expected));
        }
        assert_eq!(waiting(Failure::OutputLimit, Some(5)), Failure::OutputLimit);
    }

    /// Counts a run that reported this cost and input. Returns the counted cost and input, and if they are an estimate.
    fn count_run(reported: Option<u64>, input: u64, passed: &[(&str, u64)]) -> (Option<u64>, u64, bool) {
        let passed: Vec<(String, Tokens)> =
            passed.iter().map(|(model, input)| ((*model).to_owned(), tokens(*input, 0))).collect();
        let mut record = Record::default();
        (record.usage.usd_micros, record.usage.tokens) = (reported, tokens(input, 0));
        count(&mut record, None, &passed);
        let usage = record.usage;
        (usage.usd_micros, usage.tokens.input, usage.estimated)
    }

    #[test]
    fn who_called_nothing_costs_nothing_whatever_it_tells() {
        for reported in [None, Some(0), Some(1), Some(4_000_000), Some(u64::MAX)] {
            for input in [0, 1, 1_000_000, u64::MAX] {
                assert_eq!(count_run(reported, input, &[]), (Some(0), 0, false), "{reported:?} {input}");
            }
        }
    }

    #[test]
    fn a_program_is_believed_about_the_price_of_the_calls_that_passed() {
        // The price table says two dollars for these.
        let seen = [("claude-sonnet-5", 1_000_000)];
        for reported in [500_000, 2_000_000, 8_000_000] {
            assert_eq!(count_run(Some(reported), 1_000_000, &seen), (Some(reported), 1_000_000, false));
        }
        for reported in [None, Some(0), Some(499_999), Some(8_000_001), Some(u64::MAX)] {
            assert_eq!(count_run(reported, 1_000_000, &seen), (Some(2_000_000), 1_000_000, true));
        }
        // A process called the model besides the program, or forged its report.
        for input in [0, 999_999, 1_000_001, u64::MAX] {
            assert_eq!(count_run(Some(2_000_001), input, &seen), (Some(2_000_000), 1_000_000, true));
        }
        // This model has no known price.
        let unknown = [("new", 1_000_000)];
        for reported in [100_000, 30_000_000] {
            assert_eq!(count_run(Some(reported), 1_000_000, &unknown), (Some(reported), 1_000_000, false));
        }
    }

    #[test]
    fn models_are_each_counted_at_their_own_price() {
        let passed = [("claude-opus-4-8", 1_000_000), ("claude-haiku-4-5", 2_000_000)];
        assert_eq!(count_run(None, 0, &passed), (Some(7_000_000), 3_000_000, true));
    }

    #[test]
    fn a_share_is_used_up_only_by_calls() {
        let two_dollars = [("claude-sonnet-5".to_owned(), tokens(1_000_000, 0))];
        let ended = |passed, share| doubt_budget(Failure::OutOfMoney, passed, share);
        assert_eq!(ended(&two_dollars, Some(2_000_000)), Failure::OutOfMoney);
        assert_eq!(ended(&two_dollars, Some(8_000_000)), Failure::OutOfMoney);
        assert_eq!(ended(&[], None), Failure::OutOfMoney);
        for forged in [ended(&two_dollars, Some(8_000_001)), ended(&[], Some(1))] {
            assert_eq!(forged, outcome::fault(AgentFault::UnspentShare));
        }
        assert_eq!(doubt_budget(Failure::OutputLimit, &[], Some(1)), Failure::OutputLimit);
    }
}
