//! The context of an inbound event, and the facts and effects that follow from it.

use crate::{
    engine::{
        Engine,
        apply::Fact,
        job::{Done, EffectError},
    },
    github::webhook::EventOrigin,
    store::{NewEffect, Ordered},
};
use domain::{
    effect::Effect,
    feature::{Feature, event::Event},
    ids::{FeatureKey, InstallationId, IssueNumber, Millis, RepoId, User},
};

/// The context of an inbound event, for the functions that interpret it.
pub(in crate::engine) struct InboundContext<'a> {
    pub(super) engine: &'a Engine,
    pub(super) origin: &'a EventOrigin,
    /// The time at which the delivery arrived.
    pub(super) since: Millis,
    /// The delivery's id.
    pub(super) delivery: &'a str,
}

/// Builds a fact that a person caused.
pub(super) fn fact(engine: &Engine, event: Event, cause: String, by: &User) -> Fact {
    Fact {
        event,
        cause,
        actor: by.login.clone(),
        at: engine.now(),
    }
}

pub(super) fn one(key: FeatureKey, fact: Fact) -> Done {
    Done::Fact(key, Box::new(fact))
}

/// Returns the Feature of the newest run of an issue.
pub(super) async fn newest(engine: &Engine, repo: RepoId, issue: IssueNumber) -> Result<Option<Feature>, EffectError> {
    let Some(row) = engine.store.latest_run(repo, issue).await? else {
        return Ok(None);
    };
    Ok(engine.feature(&row.key).await?)
}

/// Returns answers to an event that belongs to no Feature. Their ids are derived from `key`, the key that a first run
/// would have.
pub(super) fn answers(engine: &Engine, key: FeatureKey, installation: InstallationId, effects: &[Effect]) -> Done {
    Done::FollowUp(stored(engine, key, installation, effects))
}

pub(super) fn stored(
    engine: &Engine,
    key: FeatureKey,
    installation: InstallationId,
    effects: &[Effect],
) -> Vec<NewEffect> {
    let stored = effects.iter().map(|effect| {
        let spec = effect.spec();
        NewEffect {
            id: effect.id(&key),
            kind: spec.kind.to_owned(),
            lane: spec.lane,
            subject: format!("{key}/answers"),
            feature: None,
            feature_limit: None,
            ordered: Ordered::Free,
            waits: false,
            installation,
            repo: Some(key.repo),
            payload: serde_json::to_string(effect).unwrap_or_default(),
            priority: spec.priority.number(),
            run_at: engine.now(),
        }
    });
    stored.collect()
}
