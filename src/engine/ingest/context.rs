//! The context of an inbound event, and the facts and effects that follow from it.

use crate::{
    engine::{
        Engine,
        apply::Fact,
        job::{Done, EffectError},
        schedule,
    },
    github::{Repo, webhook::EventOrigin},
    store::{NewEffect, NewRefusal, Ordered},
};
use domain::{
    effect::{Effect, Thread},
    feature::{
        Feature,
        command::{Asker, Refusal, Trigger},
        event::{Event, NewerRun},
    },
    ids::{CommentId, FeatureKey, IssueNumber, Millis, RepoId, User},
};

/// The context of an inbound event, for the functions that interpret it.
pub(in crate::engine) struct InboundContext<'a> {
    pub(super) engine: &'a Engine,
    pub(super) origin: &'a EventOrigin,
    pub(super) since: Millis,
    pub(super) delivery: &'a str,
}

/// A trigger by a person, and the place of the answer.
pub(in crate::engine) struct AwaitedTrigger {
    pub(super) trigger: Trigger,
    pub(super) thread: Thread,
    /// The id of the trigger. A repeat has the same id.
    pub(super) cause: String,
    pub(super) comment: Option<CommentId>,
}

impl InboundContext<'_> {
    /// Returns the calls about the repository of the event.
    pub(super) fn repo(&self) -> Repo<'_> {
        self.engine.autobuild.repo(self.origin.installation, self.origin.repo.id)
    }

    /// Returns `true` if a refusal may be answered. People without the right share a few answers per hour, so that
    /// these cannot crowd out the writes that others wait for.
    pub(super) async fn may_answer(&self, thread: Thread, cause: &str, refusal: &Refusal) -> Result<bool, EffectError> {
        let asker = if let Refusal::NoPermission { asker, .. } = refusal {
            *asker
        } else if *refusal == Refusal::PermissionUnknown {
            Asker::Member
        } else {
            return Ok(true);
        };
        let thread = format!("{}/{}", self.origin.repo.id, thread.number());
        let new = NewRefusal {
            cause: &format!("{thread}/{cause}"),
            installation: self.origin.installation,
            person: self.origin.sender.user.id,
            asker,
            thread: &thread,
            at: self.engine.now(),
        };
        Ok(self.engine.store.may_refuse(&new).await?)
    }
}

/// Builds a fact that a person caused.
pub(super) fn fact(engine: &Engine, event: Event, cause: String, by: &User) -> Fact {
    Fact { event, cause, actor: by.login.clone(), at: engine.now() }
}

pub(super) fn one(key: FeatureKey, fact: Fact) -> Done {
    Done::Fact(key, Box::new(fact))
}

pub(super) async fn newest(engine: &Engine, repo: RepoId, issue: IssueNumber) -> Result<Option<Feature>, EffectError> {
    let Some(row) = engine.store.latest_run(repo, issue).await? else {
        return Ok(None);
    };
    Ok(engine.feature(&row.key).await?)
}

/// Returns the run to which a fact of this time belongs: the newest that was requested by then. So a late delivery does
/// not affect a run that began since.
pub(super) async fn run_at(
    engine: &Engine,
    repo: RepoId,
    issue: IssueNumber,
    at: Option<Millis>,
) -> Result<Option<Feature>, EffectError> {
    let mut found = newest(engine, repo, issue).await?;
    while let (Some(feature), Some(at)) = (&found, at)
        && feature.snapshot.requested_at > at
    {
        let mut earlier = feature.key;
        found = None;
        // A number may be missing: one that only GitHub's branches had was skipped.
        while found.is_none() && earlier.run > 1 {
            earlier.run -= 1;
            found = engine.feature(&earlier).await?;
        }
    }
    Ok(found)
}

/// Returns the newer run of the Feature's issue, if there is one.
pub(super) async fn newer(engine: &Engine, feature: &Feature) -> Result<NewerRun, EffectError> {
    let latest = engine.store.latest_run(feature.key.repo, feature.key.issue).await?;
    Ok(match latest {
        Some(row) if row.key.run > feature.key.run => NewerRun::Exists(row.key),
        _ => NewerRun::None,
    })
}

/// Returns answers to an event that belongs to no Feature.
pub(super) fn answers(engine: &Engine, origin: &EventOrigin, issue: IssueNumber, effects: &[Effect]) -> Done {
    Done::FollowUp(rows(engine, origin, issue, effects))
}

/// Returns answers that belong to no Feature as rows. Their ids are derived from the key that a first run of the issue
/// would have.
pub(super) fn rows(engine: &Engine, origin: &EventOrigin, issue: IssueNumber, effects: &[Effect]) -> Vec<NewEffect> {
    let key = FeatureKey { repo: origin.repo.id, issue, run: 1 };
    let stored = effects.iter().map(|effect| NewEffect {
        subject: format!("{key}/answers"),
        feature: None,
        ordered: Ordered::Free,
        waits: false,
        ..schedule::row(effect.id(&key), effect, &key, origin.installation, Some(key.repo), engine.now())
    });
    stored.collect()
}
