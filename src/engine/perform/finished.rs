//! Finished runs of a Player: written down before their commit is pushed, and found again by whoever is to push it.

use crate::{
    engine::{
        job::EffectError,
        perform::{context::EffectContext, ground::Ground},
    },
    store::{Fenced, StoredEffect},
};
use domain::{
    blocked::Defect,
    ids::Sha,
    report::PlayerReport,
    task::{Task, Turn},
};
use serde::{Deserialize, Serialize};

/// What is written down of a run before it is pushed.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Recorded {
    /// A finished run, its commit kept in the mirror.
    Finished {
        /// The commit it started from.
        base: Sha,
        /// Its commit.
        head: Sha,
        /// The branch; empty where an older version wrote it.
        #[serde(default)]
        branch: String,
        /// Where the branch stood; none if it did not exist.
        stood: Option<Sha>,
        /// What the Player says.
        report: Box<PlayerReport>,
    },
    /// A run that ended badly with a changed tree, pushed for the next try.
    Partial {
        /// The commit.
        head: Sha,
    },
}

/// A finished run, its commit kept in the mirror, to be pushed.
pub(super) struct Finished {
    /// The commit it started from.
    pub base: Sha,
    /// Its commit.
    pub head: Sha,
    /// The task's branch.
    pub branch: String,
    /// Where the branch stood; none if it did not exist.
    pub stood: Option<Sha>,
    /// What the Player says.
    pub report: PlayerReport,
}

impl Finished {
    /// The finished run that an effect wrote down, where the mirror still holds its commit.
    pub(super) async fn of(context: &EffectContext<'_>, effect: &StoredEffect) -> Result<Option<Self>, EffectError> {
        let text = effect.external_id.as_deref();
        let Some(Recorded::Finished {
            base,
            head,
            branch,
            stood,
            report,
        }) = text.and_then(|text| serde_json::from_str(text).ok())
        else {
            return Ok(None);
        };
        let mirror = context.engine.mirrors.mirror(context.key().repo);
        Ok(mirror.has_commit(&head).await?.then_some(Self {
            base,
            head,
            branch,
            stood,
            report: *report,
        }))
    }

    /// A finished run of an earlier effect that could not be pushed in the end, if nothing has changed since: neither the
    /// branch nor what the Player would be told.
    pub(super) async fn unpushed(
        context: &EffectContext<'_>,
        task: &Task,
        turn: &Turn,
        ground: &Ground,
    ) -> Result<Option<Self>, EffectError> {
        if !turn.told.guidance.is_empty() || !turn.told.reviews.is_empty() || ground.other.is_some() {
            return Ok(None);
        }
        let own = &context.job.effect;
        let effects = context.engine.store.effects_of(&context.key()).await?;
        let is_earlier =
            |effect: &&StoredEffect| effect.kind == own.kind && effect.subject == own.subject && effect.id != own.id;
        let Some(earlier) = effects.iter().rev().find(is_earlier) else {
            return Ok(None);
        };
        let Some(finished) = Self::of(context, earlier).await? else {
            return Ok(None);
        };
        let info = ground.mirror.commit_info(&finished.head).await?;
        let number = info.as_ref().and_then(|info| info.trailer("AutoBuild-Turn"));
        let fits = number == Some(&turn.number.to_string())
            && finished.branch == task.branch
            && finished.base == ground.start
            && finished.stood == ground.stood;
        Ok(fits.then_some(finished))
    }

    /// Writes the run down with the effect: from here on it is pushed, not run again.
    pub(super) async fn write_down(&self, context: &EffectContext<'_>) -> Result<(), EffectError> {
        let recorded = Recorded::Finished {
            base: self.base.clone(),
            head: self.head.clone(),
            branch: self.branch.clone(),
            stood: self.stood.clone(),
            report: Box::new(self.report.clone()),
        };
        write_down(context, &recorded).await
    }
}

/// Writes down with the effect what became of its run.
pub(super) async fn write_down(context: &EffectContext<'_>, recorded: &Recorded) -> Result<(), EffectError> {
    let text = serde_json::to_string(recorded).map_err(|error| EffectError::defect(Defect::Said(error.to_string())))?;
    match context.engine.store.record_external(&context.job.hold, &text).await? {
        Fenced::Written => Ok(()),
        Fenced::Lost => Err(EffectError::Stopped),
    }
}
