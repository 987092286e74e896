//! What follows from the failure of an agent that is not its verdict: wait, try again, go on, or stop. Pure: times are told.

use crate::blocked::{AgentFailure, FailureClass};

/// How long work waits for a model's API, in milliseconds.
#[derive(Clone, Copy, Debug)]
pub struct Waits {
    /// After the first failure in a row; it doubles from there.
    pub first: i64,
    /// At most, where the API does not ask for more.
    pub most: i64,
    /// At most, whatever the API asks for.
    pub longest: i64,
    /// In all: after that a person is asked.
    pub in_all: i64,
    /// Between two pieces of work that waited for the same API.
    pub spacing: i64,
}

impl Waits {
    /// The product's.
    pub const PRODUCT: Self = Self {
        first: 60_000,
        most: 15 * 60_000,
        longest: 6 * 3_600_000,
        in_all: 24 * 3_600_000,
        spacing: 60_000,
    };
}

/// An API that names a time is believed so many times in a row.
const AS_TOLD: u32 = 3;

/// How long it went on before this failure.
#[derive(Clone, Copy, Debug, Default)]
pub struct Before {
    /// Failures of this API in a row.
    pub failures: u32,
    /// How long this work has waited for it already, in milliseconds.
    pub waited: i64,
    /// What the run was allowed, in millionths of a dollar or in tokens; none without a limit.
    pub share: Option<u64>,
    /// How far the run got.
    pub got: Got,
}

/// How far a run got before it failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Got {
    /// Its model did nothing: the next run would ask for the very same.
    #[default]
    Nowhere,
    /// Its model worked. The next run begins with less to read, and with what a Player had done.
    ToWork,
}

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// It waits in the database for so many milliseconds, and counts as nothing.
    Park(i64),
    /// It is tried again with backoff, and counts as one of the tries.
    Retry,
    /// The share is used up, perhaps not the budget: it goes on with the next share.
    NextShare,
    /// A person must act first.
    Block,
}

/// Decides; `jitter` (0 to 1) spreads what would else come back at the same moment.
pub fn route(failure: &AgentFailure, before: &Before, waits: &Waits, jitter: f64) -> Route {
    match failure.class() {
        FailureClass::Closed => park(asked_seconds(failure), before, waits, jitter),
        FailureClass::Spent => match before.share {
            Some(_) => Route::NextShare,
            None => Route::Retry,
        },
        FailureClass::Unfit => match before.got {
            Got::Nowhere => Route::Block,
            Got::ToWork => Route::Retry,
        },
        FailureClass::Unusable | FailureClass::NoModel | FailureClass::Refused => Route::Block,
        FailureClass::NoProgram | FailureClass::Limit | FailureClass::Run => Route::Retry,
    }
}

fn asked_seconds(failure: &AgentFailure) -> Option<u64> {
    let (AgentFailure::RateLimited {
        retry_after_seconds, ..
    }
    | AgentFailure::Unavailable {
        retry_after_seconds, ..
    }) = failure
    else {
        return None;
    };
    *retry_after_seconds
}

fn park(asked_seconds: Option<u64>, before: &Before, waits: &Waits, jitter: f64) -> Route {
    if before.waited >= waits.in_all {
        return Route::Block;
    }
    let wait = match asked_seconds {
        Some(seconds) => told(i64::try_from(seconds).unwrap_or(i64::MAX), before.failures, waits.most),
        None => doubled(waits.first, before.failures).min(waits.most),
    };
    let wait = wait.min(waits.longest);
    // Never earlier than was asked for.
    Route::Park(wait.saturating_add(fifth(wait, jitter)))
}

/// The wait in milliseconds where an API says after how many seconds it may be asked again: that, also where it is
/// short. Whoever is refused again and again all the same asks ever less often, up to every `most` milliseconds.
pub fn told(seconds: i64, failures: u32, most: i64) -> i64 {
    let asked = seconds.max(1).saturating_mul(1_000);
    let patient = doubled(asked, failures.saturating_sub(AS_TOLD - 1));
    asked.max(patient.min(most))
}

fn doubled(first: i64, times: u32) -> i64 {
    first.saturating_mul(2_i64.saturating_pow(times.min(16)))
}

/// Up to a fifth of a wait.
fn fifth(wait: i64, jitter: f64) -> i64 {
    let thousandths = format!("{:.0}", jitter.clamp(0.0, 1.0) * 1_000.0)
        .parse::<i64>()
        .unwrap_or(0);
    (wait / 5).saturating_mul(thousandths) / 1_000
}

#[cfg(test)]
#[expect(clippy::wildcard_enum_match_arm, reason = "a test names what it is about")]
mod tests {
    use super::*;

    fn limited(retry_after_seconds: Option<u64>) -> AgentFailure {
        AgentFailure::RateLimited {
            said: String::new(),
            retry_after_seconds,
        }
    }

    fn parked(failure: &AgentFailure, failures: u32, jitter: f64) -> i64 {
        let before = Before {
            failures,
            ..Before::default()
        };
        match route(failure, &before, &Waits::PRODUCT, jitter) {
            Route::Park(wait) => wait / 1_000,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_limit_is_waited_for_as_long_as_it_asks_and_longer_each_time() {
        let unavailable = |retry_after_seconds| AgentFailure::Unavailable {
            said: String::new(),
            retry_after_seconds,
        };
        assert_eq!(
            [0, 1, 2, 3, 4, 60].map(|n| parked(&unavailable(None), n, 0.0)),
            [60, 120, 240, 480, 900, 900]
        );
        assert_eq!(
            parked(&unavailable(Some(1_800)), 0, 0.0),
            1_800,
            "overload may name a time too"
        );
        assert_eq!(parked(&limited(Some(3_600)), 0, 0.0), 3_600);
        assert_eq!(
            [0, 1, 2, 3, 4, 8, 20].map(|n| parked(&limited(Some(2)), n, 0.0)),
            [2, 2, 2, 4, 8, 128, 900],
            "as short as it asks, and longer only where that did not help"
        );
        assert_eq!(parked(&unavailable(Some(2)), 0, 1.0), 2, "2.4 seconds");
        assert_eq!(parked(&limited(Some(0)), 0, 0.0), 1);
        assert_eq!(parked(&limited(Some(u64::MAX)), 0, 0.0), 6 * 3_600);
        assert_eq!(parked(&limited(Some(100)), 0, 1.0), 120, "jitter only makes it later");
    }

    #[test]
    fn after_a_day_a_person_is_asked() {
        let before = Before {
            waited: 24 * 3_600_000,
            ..Before::default()
        };
        assert_eq!(route(&limited(None), &before, &Waits::PRODUCT, 0.5), Route::Block);
    }

    #[test]
    fn what_no_try_can_mend_stops_at_once_and_the_rest_is_tried_again() {
        let said = String::new;
        let table = [
            (AgentFailure::NotAuthorised { said: said() }, Route::Block),
            (AgentFailure::ModelRefused { said: said() }, Route::Block),
            (AgentFailure::NotAsAsked { what: said() }, Route::Block),
            (AgentFailure::TimedOut { seconds: 1 }, Route::Retry),
            (AgentFailure::OutOfAgentTurns { turns: 30 }, Route::Retry),
            (AgentFailure::ReportMissing, Route::Retry),
            (AgentFailure::OutOfMoney, Route::Retry),
        ];
        for (failure, expected) in table {
            assert_eq!(
                route(&failure, &Before::default(), &Waits::PRODUCT, 0.0),
                expected,
                "{failure}"
            );
        }
        let too_long = |got| {
            let before = Before {
                got,
                ..Before::default()
            };
            route(&AgentFailure::PromptTooLong, &before, &Waits::PRODUCT, 0.0)
        };
        assert_eq!(
            too_long(Got::Nowhere),
            Route::Block,
            "the same prompt gets the same answer"
        );
        assert_eq!(too_long(Got::ToWork), Route::Retry);
        let shared = Before {
            share: Some(1),
            ..Before::default()
        };
        let next = route(&AgentFailure::OutOfMoney, &shared, &Waits::PRODUCT, 0.0);
        assert_eq!(next, Route::NextShare);
    }
}
