//! Applies a fact in one transaction: stores the event, the state it leads to, and the work it asks for.

use crate::{
    config::RepositorySettings,
    engine::{Engine, persist, persist::Unreadable, repository::rules, schedule, spans},
    messages,
    store::{Commit, Committed, Finish, NewEvent, StoreError},
};
use domain::{
    exposure::Exposure,
    feature::{Feature, Snapshot, Step, event::Event, step},
    ids::{FeatureKey, InstallationId, Millis},
};
use serde::Deserialize;
use serde_json::Value;
use text::secret::Secrets;

/// How often a lost race is repeated before it counts as a failure of the store.
const RACES: usize = 64;

/// Something that happened, with an id that recognizes a repeat.
#[derive(Clone, Debug)]
pub struct Fact {
    pub event: Event,
    /// The fact's own id, made from a comment, a review or an effect, such as `comment/12`.
    pub cause: String,
    /// Who caused it, for the event log.
    pub actor: String,
    /// The time at which AutoBuild learnt of it.
    pub at: Millis,
}

impl Fact {
    /// Builds a fact that AutoBuild caused. All that agents, git and GitHub say about a Feature is stored this way, so
    /// secrets are masked here, for example in the names of files.
    pub(super) fn ours(event: Event, cause: String, engine: &Engine) -> Self {
        let actor = "autobuild".to_owned();
        Self { event: masked(&engine.secrets, event), cause, actor, at: engine.now() }
    }
}

/// Returns the event with every text in it masked that it can do without.
fn masked(secrets: &Secrets, mut event: Event) -> Event {
    let kept = take(&mut event, ActedOn::default());
    let mut masked = mask_texts(secrets, event);
    take(&mut masked, kept);
    masked
}

fn mask_texts(secrets: &Secrets, event: Event) -> Event {
    let Ok(value) = serde_json::to_value(&event) else { return event };
    let masked = secrets.mask_valid(value.clone(), |value| Event::deserialize(value).is_ok());
    // Some failures know more than their stored form.
    if masked == value { event } else { Event::deserialize(&masked).unwrap_or(event) }
}

/// The parts of an event that are no texts for people, although they may hold what looks like a secret: commands such as
/// `env DATABASE_URL=postgres://app:… make test`, and the rights of CI, which are compared with those of other trees.
#[derive(Default)]
struct ActedOn {
    settings: Value,
    exposure: Exposure,
}

/// Takes these parts out of an event, and puts others in their place.
fn take(event: &mut Event, new: ActedOn) -> ActedOn {
    let mut old = ActedOn::default();
    if let Event::Planned { planned, .. } = event {
        old.settings = std::mem::replace(&mut planned.settings, new.settings);
        old.exposure = std::mem::replace(&mut planned.exposure, new.exposure);
    } else if let Event::Inquired { inquired, .. } = event {
        old.settings = std::mem::replace(&mut inquired.settings, new.settings);
    } else if let Event::CiExposed { exposure } = event {
        old.exposure = std::mem::replace(exposure, new.exposure);
    }
    old
}

/// The result of applying a fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApplyOutcome {
    /// It is stored. The state machine may have ignored it.
    Done,
    /// It was stored before.
    Known,
    /// Its effect now belongs to another worker. Nothing is stored.
    LostFence,
    /// The Feature does not exist.
    NoFeature,
    /// The issue already has an unfinished run.
    RunExists,
}

/// The reason why a fact could not be applied.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A stored Feature cannot be read or written.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    /// Other writers changed the Feature in every attempt.
    #[error("the Feature {0} is changed by others all the time")]
    Contended(FeatureKey),
}

impl Engine {
    pub async fn feature(&self, key: &FeatureKey) -> Result<Option<Feature>, ApplyError> {
        let stored = self.store.feature(key).await?;
        Ok(stored.as_ref().map(persist::read).transpose()?)
    }

    /// Records `fact`, the state it leads to and the work it asks for, or nothing at all.
    pub async fn apply(
        &self,
        key: &FeatureKey,
        fact: Fact,
        finish: Option<Finish>,
    ) -> Result<ApplyOutcome, ApplyError> {
        for _ in 0..RACES {
            let Some(stored) = self.store.feature(key).await? else {
                return Ok(ApplyOutcome::NoFeature);
            };
            let before = persist::read(&stored)?;
            let mut step = step::step(before.clone(), fact.event.clone(), fact.at);
            messages::word_added_tasks(&mut step.feature);
            tracing::debug!(feature = %key, cause = %fact.cause, state = step.feature.state.word(), "event applied to {key}");
            let commit = self.commit(Some((stored.version, &before)), &step, recorded(&fact), finish.clone())?;
            if let Some(applied) = self.store_commit(&commit).await? {
                if applied == ApplyOutcome::Done && self.settings.telemetry.is_on() {
                    let ended = spans::ended_spans(&before, &step.feature, fact.at);
                    ended.into_iter().for_each(|span| self.settings.telemetry.send(span));
                }
                return Ok(applied);
            }
        }
        Err(ApplyError::Contended(*key))
    }

    /// Creates the Feature of a labelled issue.
    pub async fn begin(
        &self,
        key: FeatureKey,
        installation: InstallationId,
        snapshot: Snapshot,
        settings: &RepositorySettings,
        cause: String,
    ) -> Result<ApplyOutcome, ApplyError> {
        let actor = snapshot.labelled_by.login.clone();
        let at = snapshot.at;
        let rules = rules(settings, self.sandbox.level());
        let mut step = step::labelled(key, installation, snapshot, rules);
        step.feature.settings = serde_json::to_value(settings).unwrap_or_default();
        let event = NewEvent { kind: "labelled".to_owned(), body: "{}".to_owned(), cause, actor, at };
        let commit = self.commit(None, &step, event, None)?;
        Ok(self.store_commit(&commit).await?.unwrap_or(ApplyOutcome::RunExists))
    }

    fn commit(
        &self,
        before: Option<(i64, &Feature)>,
        step: &Step,
        event: NewEvent,
        finish: Option<Finish>,
    ) -> Result<Commit, ApplyError> {
        let rows = persist::write(before.map(|(_, feature)| feature), &step.feature)?;
        let at = event.at;
        Ok(Commit {
            expected: before.map(|(version, _)| version),
            event,
            feature: rows.feature,
            data: rows.data,
            tasks: rows.tasks,
            removed: rows.removed,
            turns: rows.turns,
            cancel: schedule::cancels(&step.feature, &step.stop, &step.effects),
            effects: schedule::effects(&step.feature, &step.effects, at, self.settings.write_spacing_ms),
            finish,
        })
    }

    /// Stores a commit. Returns `None` after a lost race.
    async fn store_commit(&self, commit: &Commit) -> Result<Option<ApplyOutcome>, ApplyError> {
        let applied = match self.store.commit(commit).await? {
            Committed::Done => ApplyOutcome::Done,
            Committed::KnownCause => ApplyOutcome::Known,
            Committed::LostFence => ApplyOutcome::LostFence,
            Committed::RunExists => ApplyOutcome::RunExists,
            Committed::LostRace => return Ok(None),
        };
        if !commit.cancel.is_empty() {
            self.running.look_again();
        }
        Ok(Some(applied))
    }
}

/// Returns a fact as it is recorded. The kind of its event is the name of the variant.
fn recorded(fact: &Fact) -> NewEvent {
    let body = serde_json::to_value(&fact.event).unwrap_or_default();
    let named = body.as_object().and_then(|fields| fields.keys().next());
    let kind = named.map(String::as_str).or(body.as_str()).unwrap_or_default();
    NewEvent {
        kind: kind.to_owned(),
        body: body.to_string(),
        cause: fact.cause.clone(),
        actor: fact.actor.clone(),
        at: fact.at,
    }
}
