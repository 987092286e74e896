//! Takes a claimed effect to its end: performs it while renewing its lease, then records the end and what follows from
//! it.

use crate::{
    engine::{
        Engine,
        apply::{Applied, ApplyError, Fact},
        in_flight::Crash,
        job::{ApiWait, Done, EffectError, Job, LimitedBy},
        own_thread::on_own_thread,
        perform,
        perform::give_up,
        schedule,
    },
    store::{Claimed, Fenced, Finish, Lane, Lease, NewEffect, Outcome, ParkCause, ParkTimes, StoreError},
};
use domain::{
    blocked::Defect,
    effect::Outages,
    ids::{FeatureKey, Millis},
};
use std::sync::Arc;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// The stored error of a panic, for operators. The panic's message is only in the log.
const PANICKED: &str = "AutoBuild panicked while it did this; see its log";

/// How long an effect of a suspended installation waits before it is tried again, in milliseconds.
const SUSPENDED_MS: i64 = 600_000;

impl Engine {
    /// Performs a claimed effect and stores how it ended.
    pub(super) async fn hold(self: Arc<Self>, claimed: Claimed, agents: CancellationToken) {
        let id = claimed.effect.id.clone();
        let cancel = self.running.begin(&id);
        let job = Arc::new(Job::new(claimed.effect, claimed.hold, cancel, self.settings.lease));
        if let Err(error) = self.hold_job(&job, &agents).await {
            tracing::error!(%id, %error, "how {id} ended could not be stored; its lease will run out");
        }
        self.running.end(&id);
    }

    /// Counts a panic as a crash of the effect. The effect is tried again and at last given up, as if its process had
    /// been killed. If the crash cannot be stored, its lease runs out.
    pub(super) async fn crashed(&self, crash: &Crash) {
        let id = &crash.hold.effect;
        tracing::error!(%id, "{id} panicked: {}", crash.message);
        self.running.end(id);
        let now = self.now();
        let at = now.plus(self.settings.backoff.after(crash.earlier, fifth()));
        match self.store.crash(&crash.hold, at, PANICKED, now).await {
            Ok(fenced) => written(fenced),
            Err(error) => {
                tracing::error!(%id, %error, "the crash of {id} could not be stored; its lease will run out")
            }
        }
    }

    async fn hold_job(self: &Arc<Self>, job: &Arc<Job>, agents: &CancellationToken) -> Result<(), StoreError> {
        // Subscribed before the first look, so that no request to look again is missed.
        let looks = self.running.looks();
        match self.store.look(&job.hold).await {
            Ok(Lease::Mine) => {}
            Ok(Lease::CancelRequested) => return self.end(job, &Outcome::Cancelled).await,
            Ok(Lease::Lost) => return Ok(()),
            Err(error) => return self.error(job, error.into()).await,
        }
        let most = job.effect.lane.failures().crashes;
        if let Some(most) = most.filter(|most| job.effect.crashes >= *most) {
            let why = EffectError::defect(Defect::CutOff { times: most });
            return self.give_up(job, &why).await;
        }
        let (lease, ended) = self.perform_held(job, agents, looks).await;
        match (lease, ended) {
            (Lease::Lost, _) => Ok(()),
            (_, Ok(done)) => self.done(job, done).await,
            (Lease::CancelRequested, Err(_)) => self.end(job, &Outcome::Cancelled).await,
            (Lease::Mine, Err(error)) => self.error(job, error).await,
        }
    }

    /// Performs the effect while its lease is renewed. Both futures end here: an unfinished renewal that is no longer
    /// polled would keep the store's only write connection.
    async fn perform_held(
        self: &Arc<Self>,
        job: &Arc<Job>,
        agents: &CancellationToken,
        looks: watch::Receiver<u64>,
    ) -> (Lease, Result<Done, EffectError>) {
        let (engine, held) = (Arc::clone(self), Arc::clone(job));
        let work = on_own_thread(async move { perform::perform(&engine, &held).await });
        tokio::pin!(work);
        let keep = self.keep(job, looks);
        tokio::pin!(keep);
        let mut lease = Lease::Mine;
        loop {
            tokio::select! {
                ended = &mut work => return (lease, ended),
                lost = &mut keep, if lease == Lease::Mine => {
                    lease = lost;
                    job.cancel.cancel();
                }
                () = agents.cancelled(), if job.effect.lane == Lane::Agent && !job.cancel.is_cancelled() => {
                    job.cancel.cancel();
                }
            }
        }
    }

    /// Renews the lease until it is lost or the effect is no longer wanted.
    async fn keep(&self, job: &Job, mut looks: watch::Receiver<u64>) -> Lease {
        loop {
            tokio::select! {
                () = tokio::time::sleep(self.settings.renew) => {}
                _ = looks.changed() => {}
            }
            let lease_ms = i64::try_from(self.settings.lease.as_millis()).unwrap_or(60_000);
            match self.store.renew(&job.hold, self.now().plus(lease_ms)).await {
                Ok(Lease::Mine) => job.renewed(self.settings.lease),
                Ok(lost) => return lost,
                Err(error) => {
                    tracing::warn!(%error, id = %job.effect.id, "the lease of {} was not renewed", job.effect.id)
                }
            }
        }
    }

    async fn done(&self, job: &Job, done: Done) -> Result<(), StoreError> {
        match done {
            Done::Nothing => self.end(job, &Outcome::Done).await,
            Done::FollowUp(effects) => {
                self.store.add_effects(&effects).await?;
                self.end(job, &Outcome::Done).await
            }
            Done::Fact(key, fact) => match self.end_with(job, &Outcome::Done, &key, *fact).await {
                Ok(true) => Ok(()),
                Ok(false) => self.end(job, &Outcome::Done).await,
                Err(error) => self.error(job, error.into()).await,
            },
        }
    }

    /// Ends the effect together with its fact. Returns `false` if no Feature takes the fact.
    async fn end_with(&self, job: &Job, outcome: &Outcome, key: &FeatureKey, fact: Fact) -> Result<bool, ApplyError> {
        let finish = Finish {
            hold: job.hold.clone(),
            outcome: outcome.clone(),
        };
        Ok(match self.apply(key, fact, Some(finish)).await? {
            Applied::Done | Applied::Known | Applied::LostFence => true,
            Applied::NoFeature | Applied::RunExists => false,
        })
    }

    async fn error(&self, job: &Job, error: EffectError) -> Result<(), StoreError> {
        let id = &job.effect.id;
        let store = &self.store;
        let fenced = match &error {
            EffectError::Stopped => store.release(&job.hold).await?,
            EffectError::Suspended => {
                let until = self.now().plus(SUSPENDED_MS);
                store.postpone(&job.hold, until, &error.to_string()).await?
            }
            EffectError::Limited { by, until, why } => {
                if *by == LimitedBy::GitHub {
                    self.spacing.hold(job.installation(), *until);
                }
                tracing::info!(%id, "{id} waits: {why}");
                store.postpone(&job.hold, *until, why).await?
            }
            EffectError::Waiting { until } => {
                tracing::debug!(%id, "{id} waits for others");
                store.postpone(&job.hold, *until, &error.to_string()).await?
            }
            EffectError::Parked { wait, why } => return self.park(job, wait, why).await,
            EffectError::Failed(_) | EffectError::Hopeless(_) | EffectError::Spent(_) => {
                return self.give_up(job, &error).await;
            }
            EffectError::Later { fault, not_before }
                if job.effect.lane.failures().outages == Outages::WaitedOut && fault.passes_by_itself() =>
            {
                return self.wait_out(job, &error, not_before.unwrap_or(Millis(0))).await;
            }
            EffectError::Later { .. } | EffectError::Agent(_) => return self.later(job, &error).await,
        };
        written(fenced);
        Ok(())
    }

    /// Stores the wait for the model's API, which frees the worker, and an effect that shows people the wait.
    async fn park(&self, job: &Job, wait: &ApiWait, why: &str) -> Result<(), StoreError> {
        let id = &job.effect.id;
        tracing::warn!(%id, provider = %wait.provider, "{id} waits for the model's API: {why}");
        let cause = match wait.trouble {
            Some((cause, _)) => ParkCause::Refused { cause, said: why },
            None => ParkCause::Closed,
        };
        let times = ParkTimes {
            now: self.now(),
            until: wait.until,
            spacing: self.settings.waits.spacing,
            lease: wait.trouble.map(|(_, asked)| asked.plus(self.settings.waits.spacing)),
        };
        let shown = shown_wait(job, times.now);
        let parked = self
            .store
            .park(&job.hold, &wait.provider, &cause, &times, shown.as_slice());
        written(parked.await?);
        Ok(())
    }

    /// Stores the wait for GitHub, which frees the worker, and an effect that shows people the wait. This counts as no
    /// try: tries are few, but an outage is waited out for up to `waits.in_all` (a day).
    async fn wait_out(&self, job: &Job, error: &EffectError, not_before: Millis) -> Result<(), StoreError> {
        let (id, now) = (&job.effect.id, self.now());
        let begun = job.effect.waits_for_forge_since();
        let waited = now.0.saturating_sub(begun.unwrap_or(now).0);
        if waited >= self.settings.waits.in_all {
            return self.give_up(job, error).await;
        }
        let wait = self.settings.backoff.after_waiting(waited, fifth());
        tracing::warn!(%id, "{id} waits for GitHub: {error}");
        // The wait is shown once. When the effect continues, its own result is shown.
        let shown = begun.is_none().then(|| shown_wait(job, now)).flatten();
        let until = now.plus(wait).max(not_before);
        let why = error.to_string();
        let waits = self.store.wait_for_forge(&job.hold, &why, now, until, shown.as_slice());
        written(waits.await?);
        Ok(())
    }

    async fn later(&self, job: &Job, error: &EffectError) -> Result<(), StoreError> {
        let id = &job.effect.id;
        let tries = job.effect.lane.failures().tries;
        if job.effect.attempt.saturating_add(1) >= tries {
            return self.give_up(job, error).await;
        }
        let (now, backoff) = (self.now(), &self.settings.backoff);
        let at = if let EffectError::Later {
            not_before: Some(at), ..
        } = error
        {
            now.plus(backoff.after_limit(job.effect.attempt, at.0.saturating_sub(now.0)))
        } else {
            now.plus(backoff.after(job.effect.attempt, fifth()))
        };
        tracing::warn!(%id, attempt = job.effect.attempt, "{id} is tried again: {error}");
        written(self.store.fail_attempt(&job.hold, at, &error.to_string()).await?);
        Ok(())
    }

    /// Ends the effect as failed, and gives its Feature the event for that, if the Feature waits for the effect.
    async fn give_up(&self, job: &Job, error: &EffectError) -> Result<(), StoreError> {
        let id = &job.effect.id;
        tracing::warn!(%id, "{id} is given up: {error}");
        self.store
            .add_effects(&give_up::answers(self, job, error).await?)
            .await?;
        let outcome = Outcome::Failed {
            error: error.to_string(),
        };
        if let Some((key, fact)) = give_up::fact(self, job, error).await {
            match self.end_with(job, &outcome, &key, fact).await {
                Ok(true) => return Ok(()),
                Ok(false) => {}
                Err(error) => tracing::error!(%error, %id, "the Feature could not be told that {id} is given up"),
            }
        }
        self.end(job, &outcome).await
    }

    async fn end(&self, job: &Job, outcome: &Outcome) -> Result<(), StoreError> {
        written(self.store.finish(&job.hold, outcome).await?);
        Ok(())
    }
}

/// Returns the effect that shows people that the job's effect waits, if it belongs to a Feature.
fn shown_wait(job: &Job, now: Millis) -> Option<NewEffect> {
    let id = format!("{}/waits/{}", job.effect.id, job.effect.fence);
    job.effect.feature.map(|key| schedule::shown_again(job, key, id, now))
}

fn written(fenced: Fenced) {
    match fenced {
        Fenced::Written => {}
        Fenced::Lost => tracing::info!("an effect was taken over by another worker"),
    }
}

/// Returns a random number from -0.2 to 0.2, so that effects that failed together are not retried together.
fn fifth() -> f64 {
    let random = getrandom::u32().unwrap_or(u32::MAX / 2);
    f64::from(random) / f64::from(u32::MAX) * 0.4 - 0.2
}
