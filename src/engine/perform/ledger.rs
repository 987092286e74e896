//! The bookkeeping around every agent run: reserves a share of the budget before it, records its usage after it.

use crate::{
    agents::{Backend, Record, RunError, ValidAnswer},
    config::{RepositorySettings, Role},
    engine::{
        job::{EffectError, LimitedBy},
        perform::{ask::AgentRequest, context::EffectContext, provider::provider_of},
        shown_wait::{shown_wait, waits_on},
    },
    store::{EffectWait, EndedRun, Fenced, NewEffect, NewPack, NewRun, RunRecord, StartOutcome},
};
use domain::{
    blocked::{Failure, FailureClass, NextStep},
    budget,
    budget::{Budget, Call, CostReporting, PurseLimits, Share, UsageCompleteness},
    complexity, cost,
    cost::{Estimate, Spending},
    ids::Millis,
    trace,
};
use std::time::Duration;
use text::{price, usage::Usage};

/// How far back the cost of a repository's earlier tasks counts for an estimate, in milliseconds: 90 days.
const HISTORY_MS: i64 = 90 * 24 * 3_600_000;

/// The end of a run, which is stored once its result is known.
pub(super) struct RunEnd {
    run: EndedRun,
    pub(super) opened: OpenedRun,
    after: AfterRun,
}

/// The further consequences of the end of a run.
enum AfterRun {
    /// Its model answered: work that waits for it is due.
    Served(Box<Record>),
    /// It failed. The living comment showed that it runs, and must not until the next event.
    Shown(Box<NewEffect>),
    Nothing,
}

/// A recorded run that may begin.
#[derive(Clone)]
pub(super) struct OpenedRun {
    pub id: String,
    pub share: Share,
    cost_reporting: CostReporting,
    pub kind: &'static str,
    /// The provider whose service it needs.
    pub provider: String,
    model: Option<String>,
    pub at: Millis,
}

impl EffectContext<'_> {
    /// Reserves a share of every budget, or returns why no run may begin.
    pub(super) async fn open_run(
        &self,
        settings: &RepositorySettings,
        agent: &Backend,
        model: Option<&str>,
        question: &AgentRequest<'_>,
        deadline: Duration,
    ) -> Result<OpenedRun, EffectError> {
        let waits = &self.engine.settings.waits;
        let kind = agent.kind();
        let provider = provider_of(kind, model);
        let new = NewRun {
            installation: self.job.effect.installation,
            feature: self.feature.key,
            task: question.task,
            turn: question.turn,
            role: question.role.word().to_owned(),
            agent: kind.to_owned(),
            model: model.map(str::to_owned),
            prompt_chars: question.prompt.chars(),
            provider: provider.clone(),
            spacing: waits.spacing,
            at: self.engine.now(),
        };
        let call = Call {
            // Doubled, because an unusable answer is asked for once more.
            deadline_ms: u64::try_from(deadline.saturating_mul(2).as_millis()).unwrap_or(u64::MAX),
            cost_reporting: agent.cost_reporting(),
        };
        let budget = self.budget(settings);
        let (store, hold) = (&self.engine.store, &self.job.hold);
        let started = store.start_run(hold, &new, &budget, &call).await?;
        match started {
            StartOutcome::Run { id, share } => Ok(OpenedRun {
                id,
                share,
                cost_reporting: call.cost_reporting,
                kind,
                provider,
                model: new.model,
                at: new.at,
            }),
            StartOutcome::Spent(spent) => Err(EffectError::Spent(spent)),
            StartOutcome::Held => {
                Err(EffectError::Limited { by: LimitedBy::OtherRuns, until: new.at.plus(waits.spacing) })
            }
            StartOutcome::Waits { until } => Err(self.wait_with_others(provider, until)),
            StartOutcome::Lost => Err(EffectError::Stopped),
        }
    }

    fn budget(&self, settings: &RepositorySettings) -> Budget {
        let engine = &self.engine.settings;
        let slots = u32::try_from(engine.slots.agent).unwrap_or(u32::MAX);
        let in_all = engine.concurrency.in_all.unwrap_or(slots);
        let allowed = |limits, parallel| PurseLimits { limits, parallel };
        Budget {
            task: allowed(settings.budget.of_task(), 1),
            feature: allowed(settings.budget.of_feature(), self.feature.rules.max_parallel_tasks.min(in_all)),
            installation: allowed(self.allowance().month, engine.concurrency.per_installation.unwrap_or(in_all)),
            server: allowed(engine.month, in_all),
        }
    }

    /// Returns the record of a run that has just ended.
    pub(super) fn run_end<T>(
        &self,
        opened: OpenedRun,
        over: Option<NewEffect>,
        ended: &Result<ValidAnswer<T>, RunError>,
    ) -> RunEnd {
        let (record, known, word) = match ended {
            Ok(answered) => (Some(&answered.record), usage_completeness(&answered.record), None),
            Err(RunError::Agent { failure, record }) => {
                let known = match (failure.rule().next, record.usage.usd_micros) {
                    (NextStep::NextShare, _) => UsageCompleteness::ShareUsedUp,
                    (_, None) if !record.has_unreported_usage => UsageCompleteness::Nothing,
                    _ => usage_completeness(record),
                };
                (Some(&**record), known, Some(failure.rule().word))
            }
            Err(RunError::Cancelled { record }) => (Some(&**record), usage_completeness(record), Some("cancelled")),
            Err(RunError::Host { .. }) => (None, UsageCompleteness::Nothing, Some("not_started")),
        };
        let at = self.engine.now();
        let run = EndedRun {
            id: opened.id.clone(),
            level: record.and_then(|record| record.level),
            usage: opened.usage(record, known, at),
            runs: record.map_or(1, |record| record.runs),
            failure: word.map(str::to_owned),
            events: record
                .map(|record| record.trace_events(ended))
                .filter(|events| !events.is_empty())
                .map(|events| trace::lines(&events, &self.engine.secrets)),
            model: record.and_then(|record| record.model.clone()),
            at,
        };
        let after = match (ended, over) {
            (Ok(answered), _) => AfterRun::Served(Box::new(answered.record.clone())),
            (Err(_), Some(over)) => AfterRun::Shown(Box::new(over)),
            (Err(_), None) => AfterRun::Nothing,
        };
        RunEnd { run, opened, after }
    }

    /// Stores the end of a run. This is tried again until it is stored.
    pub(super) async fn close_run(&self, end: &RunEnd) -> Result<(), EffectError> {
        let store = &self.engine.store;
        self.patiently(|| async { Ok(store.end_run(&end.run).await?) }).await?;
        self.after_run(end).await
    }

    /// Stores the result of a run, with its end unless that is stored. This is tried again until it is stored, since the run
    /// was paid for. Fails with [`EffectError::Stopped`] if another worker has the effect.
    pub(super) async fn store_result(
        &self,
        result: &str,
        pack: Option<&NewPack>,
        end: Option<&RunEnd>,
    ) -> Result<(), EffectError> {
        let (store, hold) = (&self.engine.store, &self.job.hold);
        let record = RunRecord { hold, result, pack };
        let ended = end.map(|end| &end.run);
        let stored = self.patiently(|| async { Ok(store.store_result(&record, ended).await?) });
        match stored.await? {
            Fenced::Written => {}
            Fenced::Lost => return Err(EffectError::Stopped),
        }
        match end {
            Some(end) => self.after_run(end).await,
            None => Ok(()),
        }
    }

    async fn after_run(&self, end: &RunEnd) -> Result<(), EffectError> {
        let store = &self.engine.store;
        match &end.after {
            AfterRun::Served(record) => self.patiently(|| self.served(&end.opened, record)).await,
            AfterRun::Shown(over) => {
                let effects = std::slice::from_ref(&**over);
                self.patiently(|| async { Ok(store.add_effects(effects).await?) }).await
            }
            AfterRun::Nothing => Ok(()),
        }
    }

    /// Repeats a write or a push for a run that was paid for, as long as that may help and this worker holds the effect.
    pub(super) async fn patiently<T, F: Future<Output = Result<T, EffectError>>>(
        &self,
        attempt: impl Fn() -> F,
    ) -> Result<T, EffectError> {
        let (settings, began) = (&self.engine.settings, self.engine.now());
        for tries in 0_u32.. {
            let failure = match attempt().await {
                Err(EffectError::Failed { failure, .. }) => failure,
                made => return made,
            };
            let waited = self.engine.now().0.saturating_sub(began.0);
            let may_pass = match failure.rule().class {
                FailureClass::Passes => true,
                FailureClass::Unknown => waited < settings.waits.unknown,
                FailureClass::Lasts => false,
            };
            if !may_pass {
                return Err(failure.into());
            }
            let id = &self.job.effect.id;
            tracing::warn!(%id, %failure, "what a run of {id} made is neither stored nor pushed yet; this is tried again");
            let pause = settings.pause_to_store(tries);
            self.show_stall(&failure, pause, tries).await;
            self.job.sleep(pause).await?;
        }
        Err(EffectError::Stopped)
    }

    /// Shows people that the effect waits with what a run made, unless the database fails too.
    async fn show_stall(&self, failure: &Failure, pause: Duration, tries: u32) {
        let (engine, now) = (self.engine, self.engine.now());
        let Some(on) = waits_on(failure) else { return };
        let until = now.plus(i64::try_from(pause.as_millis()).unwrap_or(0));
        let wait = EffectWait { on: &on, why: &failure.to_string(), now, until };
        let shown = if tries == 0 { shown_wait(self.job, now) } else { None };
        if let Err(error) = engine.store.stall(&self.job.hold, &wait, shown.as_slice()).await {
            tracing::debug!(%error, "the wait of {} is not shown", self.job.effect.id);
        }
    }
}

impl EffectContext<'_> {
    /// Returns the Feature's cost so far, its estimate, and its waits for a model's API or GitHub.
    pub(super) async fn spending(&self) -> Result<Spending, EffectError> {
        Ok(Spending { estimate: self.estimate().await?, ..self.engine.spending_so_far(&self.feature.key).await? })
    }

    /// Returns the plan's spending limits; `None` without a plan, or if the Player's agent does not report its cost.
    async fn estimate(&self) -> Result<Option<Estimate>, EffectError> {
        let settings = self.settings();
        let player = self.engine.agents.agent(Role::Player, &settings)?;
        let (Some(version), CostReporting::Cost) = (&self.feature.plan, player.cost_reporting()) else {
            return Ok(None);
        };
        let since = self.engine.now().plus(-HISTORY_MS);
        let earlier = self.engine.store.usual_cost(self.feature.key.repo, since).await?;
        let complexities: Vec<u8> = version.plan.tasks.iter().map(complexity::task).collect();
        let limit = settings.budget.of_task().usd_micros;
        Ok(cost::estimate(&complexities, settings.max_turns, earlier, limit))
    }
}

impl OpenedRun {
    /// Returns the usage to record, with an estimate if the agent reported no cost.
    fn usage(&self, record: Option<&Record>, known: UsageCompleteness, at: Millis) -> Usage {
        let model = record.and_then(|record| record.model.as_deref()).or(self.model.as_deref());
        let mut usage = record.map_or_else(Usage::default, |record| price::priced(record.usage, model));
        if usage.agent_ms == 0 {
            usage.agent_ms = u64::try_from(at.0.saturating_sub(self.at.0)).unwrap_or(0);
        }
        budget::usage_to_record(usage, known, self.cost_reporting, &self.share)
    }
}

/// Returns how complete the reported usage of a run is.
fn usage_completeness(record: &Record) -> UsageCompleteness {
    if record.has_unreported_usage { UsageCompleteness::Partial } else { UsageCompleteness::All }
}
