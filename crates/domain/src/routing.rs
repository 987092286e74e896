//! Decides the consequence of an agent's failure: wait, try again, continue, or block. Its inputs include the times, so
//! it needs no clock.

use crate::blocked::{Failure, NextStep};

/// The waits for a model's API, in milliseconds.
#[derive(Clone, Copy, Debug)]
pub struct ApiWaits {
    /// The wait after the first failure in a row. It doubles with each further failure.
    pub first: i64,
    /// The longest wait if the API does not ask for more.
    pub most: i64,
    /// The longest wait, even if the API asks for more.
    pub longest: i64,
    /// The longest total wait; after it, the work blocks.
    pub in_all: i64,
    /// How long a failure is retried if it is unknown whether it passes.
    pub unknown: i64,
    /// The time between the restarts of two pieces of work that waited for the same API.
    pub spacing: i64,
}

impl ApiWaits {
    pub const PRODUCT: Self = Self {
        first: 60_000,
        most: 15 * 60_000,
        longest: 6 * 3_600_000,
        in_all: 24 * 3_600_000,
        unknown: 24 * 3_600_000,
        spacing: 60_000,
    };
}

/// The number of failures in a row for which an API's own wait is used unchanged.
const EXACT_WAITS: u32 = 3;

/// The history before this failure.
#[derive(Clone, Copy, Debug, Default)]
pub struct FailureHistory {
    /// The number of earlier failures of this API in a row.
    pub failures: u32,
    /// The time that this work has already waited for the API, in milliseconds.
    pub waited: i64,
    /// The run's share, in millionths of a dollar or in tokens; `Idle` without a limit.
    pub share: Option<u64>,
    pub progress: RunProgress,
}

/// The progress of a run before it failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RunProgress {
    /// Its model did nothing, so the next run would send the same request.
    #[default]
    Idle,
    /// Its model worked. The next run starts with less to read, and with the Player's changes so far.
    Worked,
}

/// The next step after a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// Waits in the database for so many milliseconds; the failed run does not count as a try.
    Park(i64),
    /// Tries again with backoff; the failed run counts as a try.
    Retry,
    /// Continues with the next share: this share is used up, but perhaps not the budget.
    NextShare,
    /// Blocks until a person acts.
    Block,
}

/// Decides the next step. `jitter` (0 to 1) spreads work that would otherwise come back at the same time.
pub fn route(failure: &Failure, before: &FailureHistory, waits: &ApiWaits, jitter: f64) -> Route {
    match failure.rule().next {
        NextStep::Wait => park(asked_seconds(failure), before, waits, jitter),
        NextStep::NextShare => match before.share {
            Some(_) => Route::NextShare,
            None => Route::Retry,
        },
        NextStep::AgainIfModelWorked => match before.progress {
            RunProgress::Idle => Route::Block,
            RunProgress::Worked => Route::Retry,
        },
        NextStep::Person => Route::Block,
        NextStep::Again | NextStep::Continue => Route::Retry,
    }
}

fn asked_seconds(failure: &Failure) -> Option<u64> {
    let (Failure::RateLimited { retry_after_seconds, .. } | Failure::Unavailable { retry_after_seconds, .. }) = failure
    else {
        return None;
    };
    *retry_after_seconds
}

fn park(asked_seconds: Option<u64>, before: &FailureHistory, waits: &ApiWaits, jitter: f64) -> Route {
    if before.waited >= waits.in_all {
        return Route::Block;
    }
    let wait = match asked_seconds {
        Some(seconds) => wait_as_asked(i64::try_from(seconds).unwrap_or(i64::MAX), before.failures, waits.most),
        None => doubled(waits.first, before.failures).min(waits.most),
    };
    let wait = wait.min(waits.longest);
    // The jitter only adds, so the wait is never shorter than the API asked for.
    Route::Park(wait.saturating_add(fifth(wait, jitter)))
}

/// Returns the wait in milliseconds if an API says after how many seconds it may be called again. The first three
/// failures in a row wait exactly so long, even if that is short. Further failures double the wait, up to `most`
/// milliseconds.
pub fn wait_as_asked(seconds: i64, failures: u32, most: i64) -> i64 {
    let asked = seconds.max(1).saturating_mul(1_000);
    let patient = doubled(asked, failures.saturating_sub(EXACT_WAITS - 1));
    asked.max(patient.min(most))
}

fn doubled(first: i64, times: u32) -> i64 {
    first.saturating_mul(2_i64.saturating_pow(times.min(16)))
}

fn fifth(wait: i64, jitter: f64) -> i64 {
    let thousandths = format!("{:.0}", jitter.clamp(0.0, 1.0) * 1_000.0).parse::<i64>().unwrap_or(0);
    (wait / 5).saturating_mul(thousandths) / 1_000
}

#[cfg(test)]
#[expect(clippy::wildcard_enum_match_arm, reason = "a test names what it is about")]
mod tests {
    use super::*;
    use crate::blocked::StartDifference;

    fn limited(retry_after_seconds: Option<u64>) -> Failure {
        Failure::RateLimited { message: String::new(), retry_after_seconds }
    }

    fn parked(failure: &Failure, failures: u32, jitter: f64) -> i64 {
        let before = FailureHistory { failures, ..FailureHistory::default() };
        match route(failure, &before, &ApiWaits::PRODUCT, jitter) {
            Route::Park(wait) => wait / 1_000,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_limit_is_waited_for_as_long_as_it_asks_and_longer_each_time() {
        let unavailable = |retry_after_seconds| Failure::Unavailable { message: String::new(), retry_after_seconds };
        assert_eq!([0, 1, 2, 3, 4, 60].map(|n| parked(&unavailable(None), n, 0.0)), [60, 120, 240, 480, 900, 900]);
        assert_eq!(parked(&unavailable(Some(1_800)), 0, 0.0), 1_800, "overload may name a time too");
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
        let before = FailureHistory { waited: 24 * 3_600_000, ..FailureHistory::default() };
        assert_eq!(route(&limited(None), &before, &ApiWaits::PRODUCT, 0.5), Route::Block);
    }

    #[test]
    fn what_no_try_can_mend_stops_at_once_and_the_rest_is_tried_again() {
        let said = String::new;
        let table = [
            (Failure::NotAuthorised { message: said() }, Route::Block),
            (Failure::ModelRefused { message: said() }, Route::Block),
            (Failure::NotAsAsked { differences: StartDifference::Silent }, Route::Block),
            (Failure::TimedOut { seconds: 1 }, Route::Retry),
            (Failure::OutOfAgentTurns { turns: 30 }, Route::Retry),
            (Failure::ReportMissing, Route::Block),
            (Failure::OutputLimit, Route::Retry),
            (Failure::OutOfMoney, Route::Retry),
        ];
        for (failure, expected) in table {
            assert_eq!(route(&failure, &FailureHistory::default(), &ApiWaits::PRODUCT, 0.0), expected, "{failure}");
        }
        let too_long = |progress| {
            let before = FailureHistory { progress, ..FailureHistory::default() };
            route(&Failure::PromptTooLong, &before, &ApiWaits::PRODUCT, 0.0)
        };
        assert_eq!(too_long(RunProgress::Idle), Route::Block, "the same prompt gets the same answer");
        assert_eq!(too_long(RunProgress::Worked), Route::Retry);
        let shared = FailureHistory { share: Some(1), ..FailureHistory::default() };
        let next = route(&Failure::OutOfMoney, &shared, &ApiWaits::PRODUCT, 0.0);
        assert_eq!(next, Route::NextShare);
    }
}
