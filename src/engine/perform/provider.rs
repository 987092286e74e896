//! The provider of a run's model: the effects that wait for it, their times, and the consequences of its failures. If
//! the fallback model was asked too, there are two failures to handle.

use crate::{
    agents::Record,
    config::Role,
    engine::{
        job::{ApiWait, EffectError, FailedRun},
        perform::{context::EffectContext, ledger::OpenedRun},
    },
    messages,
    store::Trouble,
};
use domain::{
    blocked::{Failure, Fallback, NextStep, StopReason},
    ids::{Millis, TaskId},
    routing,
    routing::{FailureHistory, Route, RunProgress},
};
use text::shorten;

/// The most characters of a failed agent's output that people see.
const MAX_PRINTED: usize = 4_000;

/// Returns the name of the service: the kind of agent, and the model if one is named. Its work waits together.
pub(super) fn provider_of(kind: &str, model: Option<&str>) -> String {
    model.map_or_else(|| kind.to_owned(), |model| format!("{kind}/{model}"))
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct ApiFailure {
    provider: String,
    failure: Failure,
}

struct RoutedFailure {
    refusal: ApiFailure,
    route: Route,
}

/// Returns the refusal that decides, and another one that must be recorded. `own` is that of the wanted model, `last`
/// that of the model asked last.
fn sorted(own: Option<ApiFailure>, last: ApiFailure) -> (ApiFailure, Option<ApiFailure>) {
    let Some(own) = own else {
        return (last, None);
    };
    let waits = own.failure.rule().next == NextStep::Wait;
    let rule = last.failure.rule();
    // A fallback model that does not exist changes nothing, nor does one that refuses a request which the wanted model
    // may accept.
    let is_no_help = matches!(last.failure, Failure::NoSuchModel { .. })
        || (waits && rule.next != NextStep::Wait && rule.fallback == Fallback::MayHelp);
    if is_no_help { (own, None) } else { (last, waits.then_some(own)) }
}

/// Orders two refusals: if both wait, the one whose provider is asked again sooner comes first.
fn sooner(one: RoutedFailure, other: RoutedFailure) -> (RoutedFailure, Option<RoutedFailure>) {
    match (one.route, other.route) {
        (Route::Park(first), Route::Park(second)) if second < first => (other, Some(one)),
        _ => (one, Some(other)),
    }
}

impl EffectContext<'_> {
    /// Returns the error that makes this effect wait, because the provider refused others. If it has waited too long in
    /// total, it is given up.
    pub(super) fn wait_with_others(&self, provider: String, until: Millis) -> EffectError {
        let waited = self.waited();
        if waited >= self.engine.settings.waits.in_all {
            let failure = Failure::Unavailable {
                message: messages::not_served_for(waited / 3_600_000),
                retry_after_seconds: None,
            };
            return EffectError::Permanent(failure.into());
        }
        let why = format!("{provider} does not serve others");
        let wait = ApiWait { provider, trouble: None, until };
        EffectError::Parked { wait, why }
    }

    /// Returns how long this effect has waited for a provider, in milliseconds.
    fn waited(&self) -> i64 {
        let now = self.engine.now();
        let since = self.job.effect.waits_for_provider_since().unwrap_or(now);
        now.0.saturating_sub(since.0).max(0)
    }

    /// Records that a run was answered: effects that wait for its model become due. If it ran on the fallback, effects
    /// for the replaced model must wait.
    pub(super) async fn served(&self, opened: &OpenedRun, record: &Record) -> Result<(), EffectError> {
        let (store, now) = (&self.engine.store, self.engine.now());
        let by = match &record.replaced {
            None => opened.provider.clone(),
            Some(replaced) => {
                let own = ApiFailure { provider: opened.provider.clone(), failure: replaced.failure.clone() };
                let own = self.routed_one(own, opened, RunProgress::Idle).await?;
                self.remember(&own).await?;
                provider_of(opened.kind, Some(&replaced.by))
            }
        };
        store.provider_served(&by, &self.job.effect.id, now).await?;
        Ok(())
    }

    /// Returns the error that follows from an agent's failure, or `Idle` if it may continue with the next share at
    /// once.
    pub(super) async fn routed(
        &self,
        opened: &OpenedRun,
        failure: Failure,
        record: &Record,
        task: Option<TaskId>,
    ) -> Result<Option<EffectError>, EffectError> {
        let progress = if record.shows_work() { RunProgress::Worked } else { RunProgress::Idle };
        let last = record.replaced.as_ref().map(|replaced| replaced.by.as_str());
        let own = record
            .replaced
            .as_ref()
            .map(|replaced| ApiFailure { provider: opened.provider.clone(), failure: replaced.failure.clone() });
        let provider = last.map_or_else(|| opened.provider.clone(), |by| provider_of(opened.kind, Some(by)));
        let (first, other) = sorted(own, ApiFailure { provider, failure });
        let mut first = self.routed_one(first, opened, progress).await?;
        if let Some(other) = other {
            let other = self.routed_one(other, opened, progress).await?;
            let (sooner, later) = sooner(first, other);
            first = sooner;
            if let Some(later) = later {
                self.remember(&later).await?;
            }
        }
        let RoutedFailure { refusal, route } = first;
        Ok(Some(match route {
            Route::NextShare => return Ok(None),
            Route::Retry => self.failed(refusal.failure, record, task).await?,
            Route::Park(wait) => self.parked(refusal, wait, opened.at),
            Route::Block => self.hopeless(refusal, record).await?,
        }))
    }

    /// Returns the error for a failed run. It is tried again. A run that reached its limit continues only once from
    /// where it was stopped, because it would reach the same limit again and again.
    async fn failed(
        &self,
        failure: Failure,
        record: &Record,
        task: Option<TaskId>,
    ) -> Result<EffectError, EffectError> {
        let rule = failure.rule();
        let failed = failed_run(failure, record);
        if rule.next != NextStep::Continue {
            return Ok(EffectError::Agent(failed));
        }
        let earlier = self.cuts(task).await?;
        // The ledger does not have the end of this run yet.
        let all = earlier.into_iter().chain([StopReason::from_word(rule.word)]);
        let met = all.filter(|cut| cut.is_limit()).count();
        Ok(if u32::try_from(met).is_ok_and(|met| met < rule.runs) {
            EffectError::Agent(failed)
        } else {
            EffectError::Permanent(failed)
        })
    }

    /// Returns the failures that ended the earlier runs of this effect, oldest first.
    pub(super) async fn cuts(&self, task: Option<TaskId>) -> Result<Vec<StopReason>, EffectError> {
        let effect = &self.job.effect;
        let runs = self.engine.store.runs_of(&self.feature.key, task).await?;
        let ours = runs.iter().filter(|run| run.effect == effect.id);
        let failures = ours.filter_map(|run| run.failure.as_deref());
        Ok(failures.map(StopReason::from_word).collect())
    }

    /// Returns the failure that ended the newest run of a task's Player.
    pub(super) async fn last_cut(&self, task: TaskId) -> Result<Option<StopReason>, EffectError> {
        let runs = self.engine.store.runs_of(&self.feature.key, Some(task)).await?;
        let last = runs.iter().rfind(|run| run.role == Role::Player.to_string() && run.failure.is_some());
        Ok(last.and_then(|run| run.failure.as_deref()).map(StopReason::from_word))
    }

    async fn routed_one(
        &self,
        refusal: ApiFailure,
        opened: &OpenedRun,
        progress: RunProgress,
    ) -> Result<RoutedFailure, EffectError> {
        let known = self.engine.store.provider_trouble(&refusal.provider).await?;
        let before = FailureHistory {
            failures: known.map_or(0, |known| known.failures),
            waited: self.waited(),
            share: opened.share.usd_micros.or(opened.share.tokens),
            progress,
        };
        let route = routing::route(&refusal.failure, &before, &self.engine.settings.waits, jitter());
        Ok(RoutedFailure { refusal, route })
    }

    /// Records that nobody may ask this provider before its time, although this effect does not wait for it.
    async fn remember(&self, routed: &RoutedFailure) -> Result<(), EffectError> {
        let (Route::Park(wait), Some(trouble)) = (routed.route, trouble(&routed.refusal.failure)) else {
            return Ok(());
        };
        let (provider, now) = (&routed.refusal.provider, self.engine.now());
        let said = routed.refusal.failure.to_string();
        let store = &self.engine.store;
        store.provider_refused(provider, trouble, &said, now, now.plus(wait)).await?;
        Ok(())
    }

    fn parked(&self, refusal: ApiFailure, wait: i64, asked: Millis) -> EffectError {
        EffectError::Parked {
            wait: ApiWait {
                provider: refusal.provider,
                trouble: Some((trouble(&refusal.failure).unwrap_or(Trouble::Unavailable), asked)),
                until: self.engine.now().plus(wait),
            },
            why: refusal.failure.to_string(),
        }
    }

    /// Returns the error for a final failure. A provider's message about credentials is only for operators.
    async fn hopeless(&self, refusal: ApiFailure, record: &Record) -> Result<EffectError, EffectError> {
        let ApiFailure { provider, failure } = refusal;
        let Failure::NotAuthorised { message: said } = failure else {
            return Ok(EffectError::Permanent(failed_run(failure, record)));
        };
        let now = self.engine.now();
        tracing::error!(%provider, "{provider} refuses the credentials or the account: {said}");
        let store = &self.engine.store;
        store.provider_refused(&provider, Trouble::NotAuthorised, &said, now, now).await?;
        let said = messages::answer_is_in_the_log();
        Ok(EffectError::Permanent(Failure::NotAuthorised { message: said }.into()))
    }
}

/// Returns a failure with the program's output, shortened, if people may see that.
fn failed_run(failure: Failure, record: &Record) -> FailedRun {
    let printed = if failure.shows_output() { shorten::middle(&record.log, MAX_PRINTED) } else { String::new() };
    FailedRun { failure, printed, role: None }
}

/// Returns the cause for which a provider is left alone for a while, if the failure has one.
fn trouble(failure: &Failure) -> Option<Trouble> {
    if let Failure::RateLimited { .. } = failure {
        return Some(Trouble::RateLimited);
    }
    matches!(failure, Failure::Unavailable { .. }).then_some(Trouble::Unavailable)
}

/// Returns a random number from 0 to 1, so that effects that were refused together do not return together.
fn jitter() -> f64 {
    f64::from(getrandom::u32().unwrap_or(u32::MAX / 2)) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(provider: &str, failure: &Failure) -> ApiFailure {
        ApiFailure { provider: provider.to_owned(), failure: failure.clone() }
    }

    #[test]
    fn what_the_fallback_says_counts_only_where_it_says_more() {
        let said = String::new;
        let limited = Failure::RateLimited { message: said(), retry_after_seconds: None };
        let unavailable = Failure::Unavailable { message: said(), retry_after_seconds: None };
        let no_model = Failure::NoSuchModel { model: said(), message: said() };
        let refused = Failure::ModelRefused { message: said() };
        let no_key = Failure::NotAuthorised { message: said() };
        // The wanted model's failure, the fallback's failure, the one that decides, and whether the other is recorded.
        let table = [
            (&limited, &unavailable, "fallback", true),
            (&limited, &no_model, "own", false),
            (&limited, &refused, "own", false),
            (&limited, &Failure::PromptTooLong, "own", false),
            (&limited, &no_key, "fallback", true),
            (&no_model, &limited, "fallback", false),
            (&no_model, &no_model, "own", false),
            (&refused, &refused, "fallback", false),
            (&limited, &Failure::ReportMissing, "fallback", true),
        ];
        for (own, last, decides, remembered) in table {
            let (first, other) = sorted(Some(refusal("own", own)), refusal("fallback", last));
            assert_eq!((first.provider.as_str(), other.is_some()), (decides, remembered), "{own}, then {last}");
        }
        assert_eq!(sorted(None, refusal("own", &limited)), (refusal("own", &limited), None));
    }

    #[test]
    fn of_two_waits_the_shorter_one_is_waited_for() {
        let failure = Failure::ReportMissing;
        let routed = |provider: &str, route| RoutedFailure { refusal: refusal(provider, &failure), route };
        let first = |one, other| sooner(routed("one", one), routed("other", other)).0.refusal.provider;
        assert_eq!(first(Route::Park(5), Route::Park(4)), "other");
        assert_eq!(first(Route::Park(4), Route::Park(5)), "one");
        assert_eq!(first(Route::Block, Route::Park(4)), "one");
    }
}
