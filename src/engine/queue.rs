//! The queue for the dashboard: why and until when each step waits. Also retries steps that were given up.

use crate::{
    engine::ingest,
    store::{EffectState, HeldBy, QueuedEffect, Store, StoreError, StoredEffect, WaitsOn},
};
use domain::{
    effect::{Effect, GivenUp},
    ids::Millis,
};

/// The most steps that are listed.
const MOST: u32 = 200;

/// The unfinished effects and those that were given up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queue {
    /// The ready and running effects, the oldest first.
    pub steps: Vec<QueuedStep>,
    /// The effects that were given up, the newest first.
    pub failed: Vec<StoredEffect>,
    /// The time of the read, rounded down to a minute.
    pub at: Millis,
}

/// An unfinished effect, with the reason why it waited when it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuedStep {
    pub effect: QueuedEffect,
    pub why: WaitReason,
}

/// The reason why a step is not running.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WaitReason {
    Runs,
    /// The API of its model does not serve it.
    Model(String),
    /// GitHub cannot be reached, or limits it.
    GitHub,
    /// Its last try failed.
    TryAgain,
    /// Its time has not come.
    Time,
    /// Its Feature, another step or a limit holds it back.
    Held(HeldBy),
    /// Nothing holds it back: the next free worker takes it.
    Next,
}

impl WaitReason {
    /// Returns `true` if the wait ends at the step's `run_at`.
    pub fn has_end(&self) -> bool {
        match self {
            Self::Model(_) | Self::GitHub | Self::TryAgain | Self::Time => true,
            Self::Runs | Self::Held(_) | Self::Next => false,
        }
    }
}

/// Returns the reason why a step does not run at `now`. A running one waits if its worker cannot go on, for example on a
/// full disk.
fn why(step: &QueuedEffect, now: Millis) -> WaitReason {
    let waits = step.run_at > now;
    if step.state == EffectState::Running && !waits {
        return WaitReason::Runs;
    }
    match (&step.waits_on, step.held_by) {
        (_, Some(held @ HeldBy::Feature)) => WaitReason::Held(held),
        (Some(WaitsOn::Model(name)), _) if waits => WaitReason::Model(name.clone()),
        (Some(WaitsOn::GitHub), _) if waits => WaitReason::GitHub,
        (Some(WaitsOn::Machine | WaitsOn::Unknown), _) if waits => WaitReason::TryAgain,
        _ if waits && step.attempt > 0 => WaitReason::TryAgain,
        _ if waits => WaitReason::Time,
        (_, Some(held)) => WaitReason::Held(held),
        (_, None) => WaitReason::Next,
    }
}

/// The result of the request to retry a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryOutcome {
    /// It is due.
    Yes,
    /// It is not among the steps that were given up. Somebody else may have retried it first.
    NotFailed,
    /// Its Feature knows of the failure and has moved on, so a retry would change nothing.
    FeatureKnows,
}

/// Returns `true` if a retry is useful, which it is if no Feature waits for the step's result.
pub fn can_be_tried_again(effect: &StoredEffect) -> bool {
    if effect.kind == ingest::KIND {
        return true;
    }
    let read: Result<Effect, _> = serde_json::from_str(&effect.payload);
    read.is_ok_and(|effect| match effect.spec().given_up {
        GivenUp::Nothing | GivenUp::FailedAct(_) => true,
        GivenUp::Stuck | GivenUp::PlayerFailed | GivenUp::CoachFailed => false,
    })
}

impl QueuedStep {
    fn at(effect: QueuedEffect, now: Millis) -> Self {
        Self { why: why(&effect, now), effect }
    }
}

impl Queue {
    pub async fn of(store: &Store, now: Millis) -> Result<Self, StoreError> {
        // Ages are shown in minutes, so reads within a minute are equal as long as nothing changes.
        const MINUTE: i64 = 60_000;
        Ok(Self {
            steps: store.queue(MOST).await?.into_iter().map(|effect| QueuedStep::at(effect, now)).collect(),
            failed: store.failed_effects(MOST).await?,
            at: Millis(now.0.saturating_sub(now.0.rem_euclid(MINUTE))),
        })
    }
}

/// Retries a step that was given up. A second call changes nothing.
pub async fn try_again(store: &Store, id: &str, now: Millis) -> Result<RetryOutcome, StoreError> {
    let known = store.effect(id).await?;
    let Some(effect) = known.filter(|effect| effect.state == EffectState::Failed) else {
        return Ok(RetryOutcome::NotFailed);
    };
    if !can_be_tried_again(&effect) {
        return Ok(RetryOutcome::FeatureKnows);
    }
    Ok(if store.try_again(id, now).await? { RetryOutcome::Yes } else { RetryOutcome::NotFailed })
}

#[cfg(test)]
mod tests {
    use super::{WaitReason, why};
    use crate::store::{EffectState, HeldBy, QueuedEffect, WaitsOn};
    use domain::ids::Millis;

    #[test]
    fn each_step_says_why_it_waits() {
        let step = QueuedEffect {
            id: "e".to_owned(),
            kind: "player".to_owned(),
            subject: "1/2/3".to_owned(),
            feature: None,
            state: EffectState::Ready,
            run_at: Millis(100),
            first_due: Millis(100),
            attempt: 0,
            last_error: None,
            waits_on: None,
            held_by: None,
        };
        let at = |now: i64, change: fn(&mut QueuedEffect)| {
            let mut step = step.clone();
            change(&mut step);
            why(&step, Millis(now))
        };
        assert_eq!(at(100, |_| {}), WaitReason::Next);
        assert_eq!(at(99, |_| {}), WaitReason::Time);
        assert_eq!(at(99, |step| step.attempt = 1), WaitReason::TryAgain);
        assert_eq!(at(100, |step| step.attempt = 1), WaitReason::Next);
        assert_eq!(at(99, |step| step.waits_on = Some(WaitsOn::GitHub)), WaitReason::GitHub);
        let model = |step: &mut QueuedEffect| step.waits_on = Some(WaitsOn::Model("claude".to_owned()));
        assert_eq!(at(99, model), WaitReason::Model("claude".to_owned()));
        assert_eq!(at(100, model), WaitReason::Next);
        assert_eq!(at(99, |step| step.held_by = Some(HeldBy::Feature)), WaitReason::Held(HeldBy::Feature));
        assert_eq!(at(100, |step| step.held_by = Some(HeldBy::Agent)), WaitReason::Held(HeldBy::Agent));
        assert_eq!(at(100, |step| step.state = EffectState::Running), WaitReason::Runs);
        let stalled = |step: &mut QueuedEffect| {
            step.state = EffectState::Running;
            step.waits_on = Some(WaitsOn::Machine);
        };
        assert_eq!(at(99, stalled), WaitReason::TryAgain);
        assert_eq!(at(100, stalled), WaitReason::Runs);
    }
}
