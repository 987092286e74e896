//! The worker: claims effects, performs them and records their ends. Many run at once, each under a renewed lease.

use crate::{
    engine::{
        Engine,
        in_flight::{EffectEnd, InFlight},
    },
    store::{ClaimRequest, Claimed, Lane, LaneLimits, StoreError},
};
use futures_util::FutureExt;
use std::{sync::Arc, time::Duration};
use tokio::time::Instant;
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

/// The longest wait between two reads of the queue. Wake-ups are only hints and may be lost.
const POLL: Duration = Duration::from_secs(5);

/// How long a shutdown waits for agents after their grace period. Killing one takes up to 5 seconds; then its work is
/// stored.
const LAST_STEPS: Duration = Duration::from_secs(15);

impl Engine {
    /// Takes back the effects of an earlier process, then works until `stop`, and until all effects have ended.
    pub async fn work(self: Arc<Self>, stop: CancellationToken) {
        if let Err(error) = self.store.take_back(self.now()).await {
            tracing::error!(%error, "what an earlier process held could not be taken back");
        }
        if let Err(error) = self.store.doubt_all_settings(self.now()).await {
            tracing::error!(%error, "what is known of settings could not be put in doubt");
        }
        let maintenance = AbortOnDropHandle::new(tokio::spawn(self.clone().run_maintenance(stop.clone())));
        let replays = AbortOnDropHandle::new(tokio::spawn(self.clone().always_replay(stop.clone())));
        let sweeps = AbortOnDropHandle::new(tokio::spawn(self.clone().always_sweep(stop.clone())));
        let agents = CancellationToken::new();
        let mut jobs = InFlight::default();
        let mut wakeups = self.store.wakeups();
        while !stop.is_cancelled() {
            self.heartbeat.beat();
            let due = self.fill(&mut jobs, &agents).await;
            tokio::select! {
                () = stop.cancelled() => {}
                () = wakeups.next() => {}
                () = tokio::time::sleep(due) => {}
                Some(ended) = jobs.next() => self.handle_end(ended).await,
            }
            // The end of an effect wakes this loop twice, by its commit and by its task. Yielding lets one read serve
            // both.
            tokio::task::yield_now().await;
            while let Some(Some(ended)) = jobs.next().now_or_never() {
                self.handle_end(ended).await;
            }
            wakeups.skip();
        }
        self.drain(jobs, agents).await;
        drop((maintenance, replays, sweeps));
    }

    async fn handle_end(&self, ended: EffectEnd) {
        match ended {
            EffectEnd::Itself => {}
            EffectEnd::Crashed(crash) => self.crashed(&crash).await,
        }
    }

    /// Waits until every effect has ended. Agents that still run after the grace period are stopped and given back. An
    /// effect that does not end even then is left behind, and done again once its lease has ended.
    async fn drain(&self, mut jobs: InFlight, agents: CancellationToken) {
        self.end_within(self.settings.grace, &mut jobs).await;
        agents.cancel();
        self.end_within(LAST_STEPS, &mut jobs).await;
        for id in jobs.ids() {
            tracing::warn!(%id, "{id} does not end and is left behind");
        }
    }

    async fn end_within(&self, most: Duration, jobs: &mut InFlight) {
        let over = Instant::now() + most;
        while let Some(ended) = jobs.next_until(over).await {
            self.handle_end(ended).await;
        }
    }

    /// Begins all effects that may be claimed. Returns the time until the next one becomes due, at most 5 seconds.
    async fn fill(self: &Arc<Self>, jobs: &mut InFlight, agents: &CancellationToken) -> Duration {
        let ready = match self.store.ready(self.now()).await {
            Ok(ready) => ready,
            Err(error) => {
                tracing::warn!(%error, "the store could not be asked for work");
                return Duration::from_secs(1);
            }
        };
        loop {
            let before = self.before_claim();
            match self.claim(jobs, &ready.lanes).await {
                Ok(Some(claimed)) => {
                    jobs.begin(&claimed.clone(), self.clone().hold(claimed, before, agents.clone()));
                }
                Ok(None) => break,
                Err(error) => {
                    tracing::warn!(%error, "no work could be claimed");
                    break;
                }
            }
        }
        ready.next_due.map_or(POLL, |due| {
            let wait = due.0.saturating_sub(self.now().0).max(1);
            Duration::from_millis(u64::try_from(wait).unwrap_or(1)).min(POLL)
        })
    }

    async fn claim(&self, jobs: &InFlight, ready: &[Lane]) -> Result<Option<Claimed>, StoreError> {
        // A process that has the database to itself takes agents and Gates also if its disk is nearly full, so that the
        // Feature shows the reason why they wait.
        // Calls to GitHub are left to others for a moment only, since most of them need no disk.
        let leaves_to_others = |lane| match lane {
            Lane::Control => false,
            Lane::Forge => self.store.is_shared() && self.last_full_disk.is_recent(),
            Lane::Agent => self.store.is_shared() && (self.last_full_disk.is_recent() || self.full_disk().is_some()),
        };
        let (slots, limits) = (self.settings.slots, self.settings.concurrency);
        let lanes: Vec<LaneLimits> =
            [(Lane::Control, slots.control), (Lane::Forge, slots.forge), (Lane::Agent, slots.agent)]
                .into_iter()
                .filter(|(lane, slots)| ready.contains(lane) && jobs.busy(*lane) < *slots)
                .filter(|(lane, _)| !leaves_to_others(*lane))
                .map(|(lane, _)| LaneLimits {
                    per_installation: limits.per_installation.filter(|_| lane == Lane::Agent),
                    per_repository: limits.per_repository.filter(|_| lane == Lane::Agent),
                    per_feature: limits.per_feature.filter(|_| lane == Lane::Agent),
                    in_all: limits.in_all.filter(|_| lane == Lane::Agent),
                    lane,
                })
                .collect();
        if lanes.is_empty() {
            return Ok(None);
        }
        let now = self.now();
        let request = ClaimRequest {
            worker: &self.settings.worker,
            lanes: &lanes,
            others: &self.settings.others.all(),
            now,
            lease_until: now.plus(self.lease_ms()),
        };
        self.store.claim(&request).await
    }
}
