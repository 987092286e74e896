//! Takes a claimed effect to its end: performs it while renewing its lease, then records the end and its consequences.

use crate::{
    engine::{
        Engine,
        apply::{ApplyError, ApplyOutcome, Fact},
        in_flight::Crash,
        ingest::home,
        job::{ApiWait, Done, EffectError, Job, LimitedBy, of_apply},
        own_thread::on_own_thread,
        perform,
        perform::give_up,
        shown_wait::{shown_wait, waits_on},
    },
    store::{
        Claimed, EffectWait, Fenced, Finish, Hold, Lane, Lease, Outcome, ParkCause, ParkTimes, StoreError, WaitsOn,
    },
};
use domain::{
    blocked::{Actor, Defect, Failure, FailureClass},
    effect::MOST_AGENT_TRIES,
    feature::event::Event,
    ids::{FeatureKey, Millis},
};
use std::{sync::Arc, time::Instant};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// The stored error of a panic. The panic's message is only in the log.
#[derive(Debug, thiserror::Error)]
#[error("AutoBuild panicked while it did this; see its log")]
struct Panicked;

/// How long an effect of a suspended installation waits before it is tried again, in milliseconds.
const SUSPENDED_MS: i64 = 600_000;

/// The moment before a claim. Counted from there, a lease never seems longer than it is, and no request to look again is
/// missed.
pub(super) struct BeforeClaim {
    at: Instant,
    looks: watch::Receiver<u64>,
}

impl Engine {
    pub(super) fn before_claim(&self) -> BeforeClaim {
        BeforeClaim { at: Instant::now(), looks: self.running.looks() }
    }

    /// Performs a claimed effect and stores how it ended.
    pub(super) async fn hold(self: Arc<Self>, claimed: Claimed, before: BeforeClaim, agents: CancellationToken) {
        let id = claimed.effect.id.clone();
        let cancel = self.running.begin(&id);
        let put_off = self.put_off.take(&id);
        let job = Arc::new(Job::new(claimed, cancel, self.may_speak_until(before.at), put_off));
        if let Err(error) = self.hold_job(&job, before.looks, &agents).await {
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
        match self.store.crash(&crash.hold, at, &Panicked.to_string(), now).await {
            Ok(fenced) => self.written(&crash.hold, fenced).await,
            Err(error) => {
                tracing::error!(%id, %error, "the crash of {id} could not be stored; its lease will run out")
            }
        }
    }

    async fn hold_job(
        self: &Arc<Self>,
        job: &Arc<Job>,
        looks: watch::Receiver<u64>,
        agents: &CancellationToken,
    ) -> Result<(), ApplyError> {
        let (lease, ended) = match self.cut_off(job).or_else(|| self.no_room(job)) {
            Some(error) => (Lease::Mine, Err(error)),
            None => self.perform_held(job, agents, looks).await,
        };
        let ended = if is_refused(&ended) { self.unless_it_left(job, ended).await } else { ended };
        self.keep_end(job, lease, &ended).await
    }

    /// Gives an effect back whose Feature left the installation that GitHub refused. The next try uses the new one.
    async fn unless_it_left(&self, job: &Job, refused: Result<Done, EffectError>) -> Result<Done, EffectError> {
        let Some(key) = &job.effect.feature else {
            return refused;
        };
        match home::has_left(self, key, job.effect.installation).await {
            Ok(true) => Err(EffectError::Stopped),
            Err(error) if error.passes() => Err(error),
            Err(error @ (EffectError::Limited { .. } | EffectError::Suspended)) => Err(error),
            Ok(false) | Err(_) => refused,
        }
    }

    /// Returns the error for an effect during which the service ended too often.
    fn cut_off(&self, job: &Job) -> Option<EffectError> {
        let most = job.effect.lane.most_crashes()?;
        (job.effect.crashes >= most).then(|| EffectError::defect(Defect::CutOff { times: most }))
    }

    /// Returns the error for an agent or Gates that the disk has no room for.
    fn no_room(&self, job: &Job) -> Option<EffectError> {
        let room = (job.effect.lane == Lane::Agent).then(|| self.full_disk())??;
        let message = room.to_string();
        Some(Failure::DiskFull { message }.into())
    }

    /// Stores how the effect ended. While the database fails, this is repeated and the lease is renewed: the result may
    /// be that of an agent's run, which should not be paid twice.
    async fn keep_end(&self, job: &Job, lease: Lease, ended: &Result<Done, EffectError>) -> Result<(), ApplyError> {
        let mut tries = 0;
        loop {
            let error = match self.end_held(job, lease, ended).await {
                Err(error) if is_passing(&error) => error,
                stored => return stored,
            };
            tracing::warn!(%error, id = %job.effect.id, "the end of {} is not stored yet", job.effect.id);
            tokio::time::sleep(self.settings.pause_to_store(tries)).await;
            tries = tries.saturating_add(1);
            self.renew(job).await;
        }
    }

    /// Renews the lease; `None` if the database fails. Then this process takes back no effects for the time of a lease,
    /// since its own would look abandoned once the database can be written again.
    async fn renew(&self, job: &Job) -> Option<Lease> {
        let end = self.now().plus(self.lease_ms());
        match self.store.renew(&job.hold, end).await {
            Ok(lease) => Some(lease),
            Err(error) => {
                self.lease_clock.lose_contact();
                tracing::warn!(%error, id = %job.effect.id, "the lease of {} was not renewed", job.effect.id);
                None
            }
        }
    }

    async fn end_held(&self, job: &Job, lease: Lease, ended: &Result<Done, EffectError>) -> Result<(), ApplyError> {
        match (lease, ended) {
            (Lease::Lost, _) => {
                self.written(&job.hold, Fenced::Lost).await;
                Ok(())
            }
            (Lease::Mine | Lease::CancelRequested, Ok(done)) => self.record_done(job, done).await,
            (Lease::CancelRequested, Err(_)) => Ok(self.end(job, &Outcome::Cancelled).await?),
            (Lease::Mine, Err(error)) => self.error(job, error).await,
        }
    }

    /// Returns the time until which a worker may push and post whose lease was asked for at `asked`.
    fn may_speak_until(&self, asked: Instant) -> Instant {
        asked + self.settings.lease * 2 / 3
    }

    pub(super) fn lease_ms(&self) -> i64 {
        i64::try_from(self.settings.lease.as_millis()).unwrap_or(60_000)
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
            let asked = Instant::now();
            match self.renew(job).await {
                Some(Lease::Mine) => job.renewed(self.may_speak_until(asked)),
                Some(lost) => return lost,
                None => {}
            }
        }
    }

    async fn record_done(&self, job: &Job, done: &Done) -> Result<(), ApplyError> {
        match done {
            Done::Nothing => {}
            Done::FollowUp(effects) => self.store.add_effects(effects).await?,
            Done::Fact(key, fact) => match self.end_with(job, &Outcome::Done, key, (**fact).clone()).await {
                Ok(true) => return Ok(()),
                Ok(false) => {}
                Err(error) if is_passing(&error) => return Err(error),
                Err(error) => return self.error(job, &error.into()).await,
            },
        }
        Ok(self.end(job, &Outcome::Done).await?)
    }

    /// Ends the effect together with its fact. Returns `false` if there is no Feature for the fact.
    async fn end_with(&self, job: &Job, outcome: &Outcome, key: &FeatureKey, fact: Fact) -> Result<bool, ApplyError> {
        let finish = Finish { hold: job.hold.clone(), outcome: outcome.clone() };
        Ok(match self.apply(key, fact, Some(finish)).await? {
            ApplyOutcome::Done | ApplyOutcome::Known => true,
            ApplyOutcome::LostFence => {
                self.written(&job.hold, Fenced::Lost).await;
                true
            }
            ApplyOutcome::NoFeature | ApplyOutcome::RunExists => false,
        })
    }

    async fn error(&self, job: &Job, error: &EffectError) -> Result<(), ApplyError> {
        let id = &job.effect.id;
        let store = &self.store;
        let fenced = match error {
            EffectError::Stopped => store.release(&job.hold).await?,
            EffectError::Suspended => {
                let until = self.now().plus(SUSPENDED_MS);
                store.postpone(&job.hold, until, &error.to_string()).await?
            }
            EffectError::Limited { by, until } => {
                if let LimitedBy::GitHub(_) = by {
                    self.spacing.hold(job.effect.installation, *until);
                }
                if job.is_untouched() {
                    self.put_off.remember(id.clone(), job.effect.fence);
                }
                tracing::info!(%id, "{id} waits: {by}");
                store.postpone(&job.hold, *until, &by.to_string()).await?
            }
            EffectError::Waiting { until } => {
                tracing::debug!(%id, "{id} waits for others");
                store.postpone(&job.hold, *until, &error.to_string()).await?
            }
            EffectError::Parked { wait, why } => return Ok(self.park(job, wait, why).await?),
            EffectError::Permanent(_) | EffectError::Spent(_) => return self.give_up(job, error).await,
            EffectError::Agent(_) => return self.try_again(job, error).await,
            EffectError::Failed { failure, not_before } => {
                let Some(on) = waits_on(failure) else {
                    return self.give_up(job, error).await;
                };
                if on == WaitsOn::Unknown && self.has_tried_enough(job).await? {
                    return self.give_up(job, error).await;
                }
                return Ok(self.wait_out(job, failure, &on, *not_before).await?);
            }
        };
        self.written(&job.hold, fenced).await;
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
        let parked = self.store.park(&job.hold, &wait.provider, &cause, &times, shown.as_slice());
        let fenced = parked.await?;
        self.written(&job.hold, fenced).await;
        Ok(())
    }

    /// Returns `true` if the effect has waited for this for a day.
    pub(super) fn has_waited_long(&self, job: &Job, on: &WaitsOn) -> bool {
        let since = job.effect.waits_since(on);
        since.is_some_and(|since| self.now().0.saturating_sub(since.0) >= self.settings.waits.unknown)
    }

    /// Returns `true` if an effect whose failure may last was tried for long enough. Agents get few tries, as each
    /// costs.
    async fn has_tried_enough(&self, job: &Job) -> Result<bool, StoreError> {
        if self.has_waited_long(job, &WaitsOn::Unknown) {
            return Ok(true);
        }
        let (Lane::Agent, Some(key)) = (job.effect.lane, job.effect.feature) else {
            return Ok(false);
        };
        let runs = self.store.runs_of(&key, None).await?;
        let own = runs.iter().filter(|run| run.effect == job.effect.id).count();
        Ok(u32::try_from(own).unwrap_or(u32::MAX) >= MOST_AGENT_TRIES)
    }

    /// Stores the wait for the end of a failure, and an effect that shows it to people. This counts as no try.
    async fn wait_out(
        &self,
        job: &Job,
        failure: &Failure,
        on: &WaitsOn,
        not_before: Option<Millis>,
    ) -> Result<(), StoreError> {
        let (id, now) = (&job.effect.id, self.now());
        let begun = job.effect.waits_since(on);
        let waited = begun.map_or(0, |begun| now.0.saturating_sub(begun.0));
        let wait = self.settings.backoff.after_waiting(waited, fifth());
        tracing::warn!(%id, "{id} waits: {failure}");
        // The wait is shown once. When the effect continues, its own result is shown.
        let shown = begun.is_none().then(|| shown_wait(job, now)).flatten();
        let until = now.plus(wait).max(not_before.unwrap_or(now));
        if matches!(failure, Failure::DiskFull { .. }) {
            self.last_full_disk.record();
        }
        let wait = EffectWait { on, why: &failure.to_string(), now, until };
        let fenced = self.store.wait_out(&job.hold, &wait, shown.as_slice()).await?;
        self.written(&job.hold, fenced).await;
        Ok(())
    }

    /// Tries an agent again, unless it was tried often enough: each try is paid for.
    async fn try_again(&self, job: &Job, error: &EffectError) -> Result<(), ApplyError> {
        let id = &job.effect.id;
        if job.effect.attempt.saturating_add(1) >= MOST_AGENT_TRIES {
            return self.give_up(job, error).await;
        }
        let at = self.now().plus(self.settings.backoff.after(job.effect.attempt, fifth()));
        tracing::warn!(%id, attempt = job.effect.attempt, "{id} is tried again: {error}");
        let fenced = self.store.fail_attempt(&job.hold, at, &error.to_string()).await?;
        self.written(&job.hold, fenced).await;
        Ok(())
    }

    /// Ends the effect as failed together with the event for its Feature, if the Feature waits for the effect.
    async fn give_up(&self, job: &Job, error: &EffectError) -> Result<(), ApplyError> {
        let id = &job.effect.id;
        if let EffectError::Failed { failure, .. } = error
            && failure.rule().actor == Actor::Operator
        {
            tracing::error!(%id, "{id} is given up: {error}");
        } else {
            tracing::warn!(%id, "{id} is given up: {error}");
        }
        self.store.add_effects(&give_up::answers(self, job, error).await?).await?;
        let outcome = Outcome::Failed { error: error.to_string() };
        if let Some((key, fact)) = give_up::fact(self, job, error) {
            match self.end_with(job, &outcome, &key, fact).await {
                Ok(true) => return Ok(()),
                Ok(false) => {}
                Err(error) if is_passing(&error) => return Err(error),
                // The Feature waits for the event, so the effect stays.
                Err(error) => {
                    tracing::error!(%error, %id, "the Feature could not be told that {id} is given up");
                    let failure = of_apply(&error);
                    return Ok(self.wait_out(job, &failure, &WaitsOn::Unknown, None).await?);
                }
            }
        }
        Ok(self.end(job, &outcome).await?)
    }

    /// Handles the store's answer to a write of an effect's holder. If another worker has the effect, the result of
    /// this one is lost, and the ledger shows that.
    async fn written(&self, hold: &Hold, fenced: Fenced) {
        let id = &hold.effect;
        match fenced {
            Fenced::Written => return,
            Fenced::Lost => tracing::info!(%id, "{id} was taken over by another worker"),
        }
        if let Err(error) = self.store.lose_results(hold).await {
            tracing::warn!(%error, %id, "that what a run of {id} made is lost could not be written down");
        }
    }

    async fn end(&self, job: &Job, outcome: &Outcome) -> Result<(), StoreError> {
        let fenced = self.store.finish(&job.hold, outcome).await?;
        self.written(&job.hold, fenced).await;
        Ok(())
    }
}

/// Returns `true` if GitHub refused what the effect asked for, also if the Feature goes on without it.
fn is_refused(ended: &Result<Done, EffectError>) -> bool {
    match ended {
        Ok(Done::Fact(_, fact)) => matches!(fact.event, Event::FailedAct(_)),
        Ok(Done::Nothing | Done::FollowUp(_)) => false,
        Err(error) => error.is_refusal(),
    }
}

/// Returns `true` if the store's failure passes. A store that this process has closed stays closed.
fn is_passing(error: &ApplyError) -> bool {
    let is_closed = matches!(error, ApplyError::Store(StoreError::Closed));
    !is_closed && of_apply(error).rule().class == FailureClass::Passes
}

/// Returns a random number from -0.2 to 0.2, so that effects that failed together are not retried together.
fn fifth() -> f64 {
    let random = getrandom::u32().unwrap_or(u32::MAX / 2);
    f64::from(random) / f64::from(u32::MAX) * 0.4 - 0.2
}
