//! Claim, perform, record. Many effects at once, each held by a lease that is renewed while it runs.

use crate::domain::ids::Millis;
use crate::engine::Engine;
use crate::store::ClaimRequest;
use crate::store::Claimed;
use crate::store::Lane;
use crate::store::LaneLimits;
use crate::store::StoreError;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// The longest wait between two looks into the store: polling is the truth, wake-ups are hints.
const POLL: Duration = Duration::from_secs(5);

impl Engine {
    /// Takes back what an earlier process held, then works until `stop`; returns when everything has ended or was given
    /// back.
    pub async fn work(self: Arc<Self>, stop: CancellationToken) {
        if let Err(error) = self.store.take_back(self.now()).await {
            tracing::error!(%error, "what an earlier process held could not be taken back");
        }
        if let Err(error) = self.store.doubt_all_settings(self.now()).await {
            tracing::error!(%error, "what is known of settings could not be put in doubt");
        }
        let upkeep = tokio::spawn(self.clone().keep_up(stop.clone()));
        let agents = CancellationToken::new();
        let mut jobs: JoinSet<Lane> = JoinSet::new();
        let mut busy = Busy::default();
        let mut wakeups = self.store.wakeups();
        while !stop.is_cancelled() {
            let now = self.now();
            self.fill(&mut jobs, &mut busy, &agents).await;
            let due = self.until_due(now).await;
            tokio::select! {
                () = stop.cancelled() => {}
                () = wakeups.next() => {}
                () = tokio::time::sleep(due) => {}
                Some(ended) = jobs.join_next() => busy.ended(ended.ok()),
            }
        }
        self.drain(jobs, busy, agents).await;
        upkeep.abort();
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

    /// How long until the first effect that was not due at `now`.
    async fn until_due(&self, now: Millis) -> Duration {
        match self.store.next_due(now).await {
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
                    jobs.spawn(self.clone().hold(claimed, agents.clone()));
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
