//! What surrounds an inbound event, and how what follows from it is told.

use crate::{
    engine::{
        Engine,
        apply::Fact,
        job::{Done, EffectError},
    },
    github::webhook::Place,
    store::{NewEffect, Ordered},
};
use domain::{
    effect::Effect,
    feature::{Feature, event::Event},
    ids::{FeatureKey, InstallationId, IssueNumber, Millis, RepoId, User},
};

/// Where something happened, for those who find out what it means.
pub(in crate::engine) struct InboundContext<'a> {
    pub(super) engine: &'a Engine,
    pub(super) place: &'a Place,
    /// When AutoBuild heard of it.
    pub(super) since: Millis,
    /// The delivery's id.
    pub(super) delivery: &'a str,
}

/// A fact that a person caused.
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

/// The Feature of the newest run of an issue.
pub(super) async fn newest(engine: &Engine, repo: RepoId, issue: IssueNumber) -> Result<Option<Feature>, EffectError> {
    let Some(row) = engine.store.latest_run(repo, issue).await? else {
        return Ok(None);
    };
    Ok(engine.feature(&row.key).await?)
}

/// Stores answers to something that belongs to no Feature. The key of the run that could be makes their ids.
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
            deadline: None,
        }
    });
    stored.collect()
}
