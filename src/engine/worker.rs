//! Claim, perform, record. Many effects at once, each held by a lease that is renewed while it runs.

use crate::domain::ids::Millis;
use crate::engine::Engine;
use crate::engine::apply::Applied;
use crate::engine::job::Done;
use crate::engine::job::Job;
use crate::engine::job::Undone;
use crate::engine::perform;
use crate::engine::perform::give_up;
use crate::store::ClaimRequest;
use crate::store::Claimed;
use crate::store::Fenced;
use crate::store::Finish;
use crate::store::Lane;
use crate::store::LaneLimits;
use crate::store::Lease;
use crate::store::Outcome;
use crate::store::StoreError;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// A worker that vanished this often while it held an effect is no accident: the effect is given up.
const CRASHES: u32 = 3;

/// The longest wait between two looks into the store: polling is the truth, wake-ups are hints.
const POLL: Duration = Duration::from_secs(5);

impl Engine {
    /// Takes back what an earlier process held, then works until `stop`; returns when everything has ended or was given
    /// back.
    pub async fn work(self: Arc<Self>, stop: CancellationToken) {
        if let Err(error) = self.store.take_back(self.now()).await {
            tracing::error!(%error, "what an earlier process held could not be taken back");
        }
        let reaper = tokio::spawn(self.clone().reap(stop.clone()));
        let agents = CancellationToken::new();
        let mut jobs: JoinSet<Lane> = JoinSet::new();
        let mut busy = Busy::default();
        let mut wakeups = self.store.wakeups();
        while !stop.is_cancelled() {
            self.fill(&mut jobs, &mut busy, &agents).await;
            let due = self.until_due().await;
            tokio::select! {
                () = stop.cancelled() => {}
                () = wakeups.next() => {}
                () = tokio::time::sleep(due) => {}
                Some(ended) = jobs.join_next() => busy.ended(ended.ok()),
            }
        }
        self.drain(jobs, busy, agents).await;
        reaper.abort();
    }

    /// Lets calls to the forge end, gives agents their grace, then gives back what is left.
    async fn drain(&self, mut jobs: JoinSet<Lane>, mut busy: Busy, agents: CancellationToken) {
        let grace = tokio::time::sleep(self.settings.grace);
        tokio::pin!(grace);
        loop {
            tokio::select! {
                ended = jobs.join_next() => match ended {
                    Some(ended) => busy.ended(ended.ok()),
                    None => return,
                },
                () = &mut grace, if !agents.is_cancelled() => agents.cancel(),
            }
        }
    }

    async fn reap(self: Arc<Self>, stop: CancellationToken) {
        while !stop.is_cancelled() {
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(self.settings.reap) => {}
            }
            match self.store.reap(self.now()).await {
                Ok(taken) => taken
                    .iter()
                    .for_each(|effect| tracing::warn!(id = %effect.id, "the lease of {} ran out", effect.id)),
                Err(error) => tracing::warn!(%error, "lost work could not be taken back"),
            }
        }
    }

    async fn until_due(&self) -> Duration {
        match self.store.next_due(self.now()).await {
            Ok(Some(due)) => {
                let wait = due.0.saturating_sub(self.now().0).clamp(1, 5_000);
                Duration::from_millis(u64::try_from(wait).unwrap_or(1))
            }
            Ok(None) => POLL,
            Err(error) => {
                tracing::warn!(%error, "the store could not be asked for work");
                Duration::from_secs(1)
            }
        }
    }

    async fn fill(self: &Arc<Self>, jobs: &mut JoinSet<Lane>, busy: &mut Busy, agents: &CancellationToken) {
        loop {
            match self.claim(busy).await {
                Ok(Some(claimed)) => {
                    busy.began(claimed.effect.lane);
                    jobs.spawn(self.clone().run(claimed, agents.clone()));
                }
                Ok(None) => return,
                Err(error) => {
                    tracing::warn!(%error, "no work could be claimed");
                    return;
                }
            }
        }
    }

    async fn claim(&self, busy: &Busy) -> Result<Option<Claimed>, StoreError> {
        let slots = self.settings.slots;
        let lanes: Vec<LaneLimits> = [
            (Lane::Control, slots.control, busy.control),
            (Lane::Forge, slots.forge, busy.forge),
            (Lane::Agent, slots.agent, busy.agent),
        ]
        .into_iter()
        .filter(|(_, slots, busy)| busy < slots)
        .map(|(lane, ..)| LaneLimits {
            per_installation: (lane == Lane::Agent).then_some(self.settings.agents_per_installation),
            ..LaneLimits::none(lane)
        })
        .collect();
        if lanes.is_empty() {
            return Ok(None);
        }
        let lease_ms = i64::try_from(self.settings.lease.as_millis()).unwrap_or(60_000);
        let request = ClaimRequest {
            worker: &self.settings.worker,
            lanes: &lanes,
            now: self.now(),
            lease_ms,
        };
        self.store.claim(&request).await
    }

    async fn run(self: Arc<Self>, claimed: Claimed, agents: CancellationToken) -> Lane {
        let lane = claimed.effect.lane;
        let id = claimed.effect.id.clone();
        let cancel = self.running.begin(&id);
        let job = Job::new(claimed.effect, claimed.hold, cancel, self.settings.lease);
        if let Err(error) = self.run_job(&job, &agents).await {
            tracing::error!(%id, %error, "how {id} ended could not be stored; its lease will run out");
        }
        self.running.end(&id);
        lane
    }

    async fn run_job(&self, job: &Job, agents: &CancellationToken) -> Result<(), StoreError> {
        if job.effect.crashes >= CRASHES {
            let why = Undone::Refused {
                why: format!("the service ended {CRASHES} times while it did this"),
            };
            return self.give_up(job, &why).await;
        }
        let (lease, ended) = self.perform_held(job, agents).await;
        match (lease, ended) {
            (Lease::Lost, _) => Ok(()),
            (_, Ok(done)) => self.done(job, done).await,
            (Lease::CancelRequested, Err(_)) => self.end(job, &Outcome::Cancelled).await,
            (Lease::Mine, Err(undone)) => self.undone(job, undone).await,
        }
    }

    /// Performs the effect while its lease is renewed. Both end here: a renewal that nobody polls any more would hold the
    /// store's one connection for writing.
    async fn perform_held(&self, job: &Job, agents: &CancellationToken) -> (Lease, Result<Done, Undone>) {
        let work = perform::perform(self, job);
        tokio::pin!(work);
        let keep = self.keep(job);
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
    async fn keep(&self, job: &Job) -> Lease {
        let mut looks = self.running.looks();
        looks.mark_unchanged();
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
        let outcome = Outcome::Done { external_id: None };
        match done {
            Done::Nothing => self.end(job, &outcome).await,
            Done::FollowUp(effects) => {
                self.store.add_effects(&effects).await?;
                self.end(job, &outcome).await
            }
            Done::Fact(key, fact) => {
                let finish = Finish {
                    hold: job.hold.clone(),
                    outcome: outcome.clone(),
                };
                match self.apply(&key, *fact, Some(finish)).await {
                    Ok(Applied::Done | Applied::Known | Applied::LostFence) => Ok(()),
                    Ok(Applied::NoFeature | Applied::RunExists) => self.end(job, &outcome).await,
                    Err(error) => self.undone(job, error.into()).await,
                }
            }
        }
    }

    async fn undone(&self, job: &Job, undone: Undone) -> Result<(), StoreError> {
        let id = &job.effect.id;
        match &undone {
            Undone::Stopped => written(self.store.release(&job.hold).await?),
            Undone::Limited { until, why } => {
                tracing::info!(%id, "{id} waits: {why}");
                written(self.store.postpone(&job.hold, *until, why).await?);
            }
            Undone::Refused { .. } => return self.give_up(job, &undone).await,
            Undone::Later { .. } | Undone::Agent(_) => return self.later(job, &undone).await,
        }
        Ok(())
    }

    async fn later(&self, job: &Job, undone: &Undone) -> Result<(), StoreError> {
        let id = &job.effect.id;
        let tries = give_up::tries(job.effect.lane);
        if job.effect.attempt.saturating_add(1) >= tries {
            return self.give_up(job, undone).await;
        }
        let wait = self.settings.backoff.after(job.effect.attempt, fifth());
        let not_before = match undone {
            Undone::Later {
                not_before: Some(at), ..
            } => *at,
            _ => Millis(0),
        };
        let at = self.now().plus(wait).max(not_before);
        tracing::warn!(%id, attempt = job.effect.attempt, "{id} is tried again: {undone}");
        written(self.store.fail_attempt(&job.hold, at, &undone.to_string()).await?);
        Ok(())
    }

    /// Ends the effect as failed, and tells its Feature what waits for it in vain.
    async fn give_up(&self, job: &Job, undone: &Undone) -> Result<(), StoreError> {
        let id = &job.effect.id;
        tracing::error!(%id, "{id} is given up: {undone}");
        let outcome = Outcome::Failed {
            error: undone.to_string(),
        };
        if let Some((key, fact)) = give_up::fact(self, job, undone).await {
            let finish = Finish {
                hold: job.hold.clone(),
                outcome: outcome.clone(),
            };
            match self.apply(&key, fact, Some(finish)).await {
                Ok(Applied::Done | Applied::Known | Applied::LostFence) => return Ok(()),
                Ok(Applied::NoFeature | Applied::RunExists) => {}
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

/// Running effects of this process, by lane.
#[derive(Clone, Copy, Debug, Default)]
struct Busy {
    control: usize,
    forge: usize,
    agent: usize,
}

impl Busy {
    fn slot(&mut self, lane: Lane) -> &mut usize {
        match lane {
            Lane::Control => &mut self.control,
            Lane::Forge => &mut self.forge,
            Lane::Agent => &mut self.agent,
        }
    }

    fn began(&mut self, lane: Lane) {
        *self.slot(lane) += 1;
    }

    fn ended(&mut self, lane: Option<Lane>) {
        if let Some(lane) = lane {
            let slot = self.slot(lane);
            *slot = slot.saturating_sub(1);
        }
    }
}

fn written(fenced: Fenced) {
    match fenced {
        Fenced::Written => {}
        Fenced::Lost => tracing::info!("an effect was taken over by another worker"),
    }
}

/// A random fifth, so that what failed together is not tried again together.
fn fifth() -> f64 {
    let random = getrandom::u32().unwrap_or(u32::MAX / 2);
    f64::from(random) / f64::from(u32::MAX) * 0.4 - 0.2
}
