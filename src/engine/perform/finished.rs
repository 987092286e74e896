//! Finished runs of a Player. They are recorded before their commit is pushed, so that a later try or effect can push
//! it.

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
    inquiry::Inquiries,
    report::{LeftOut, PlayerReport},
    task::{Task, Turn},
};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Recorded {
    /// A finished run whose commit the mirror keeps.
    Finished(Box<Finished>),
    /// A failed run that left changes, which were pushed for the next try.
    Partial { head: Sha },
    /// A run that ended with inquiries.
    Inquired(Box<InquiredRun>),
}

/// A run that ended with inquiries. The mirror keeps the commit of its work so far.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct InquiredRun {
    pub inquiries: Inquiries,
    /// The commit of the work so far, if the tree had changed.
    pub partial: Option<Sha>,
    /// The head of the branch on GitHub before the run; `None` if it did not exist.
    pub stood: Option<Sha>,
}

impl InquiredRun {
    pub(super) fn of(effect: &StoredEffect) -> Option<Self> {
        match serde_json::from_str(effect.external_id.as_deref()?).ok()? {
            Recorded::Inquired(run) => Some(*run),
            Recorded::Finished(_) | Recorded::Partial { .. } => None,
        }
    }
}

/// A finished run that is to be pushed. The mirror keeps its commit.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Finished {
    pub base: Sha,
    pub head: Sha,
    pub branch: String,
    /// The head of the branch on GitHub before the run; `None` if it did not exist.
    pub stood: Option<Sha>,
    pub report: PlayerReport,
    /// New files that ignore rules kept out of the commit.
    pub left_out: Vec<LeftOut>,
}

impl Finished {
    /// Returns the finished run that an effect recorded, if the mirror still has its commit.
    pub(super) async fn of(context: &EffectContext<'_>, effect: &StoredEffect) -> Result<Option<Self>, EffectError> {
        let text = effect.external_id.as_deref();
        let Some(Recorded::Finished(finished)) = text.and_then(|text| serde_json::from_str(text).ok()) else {
            return Ok(None);
        };
        let mirror = context.engine.mirrors.mirror(context.key().repo);
        Ok(mirror.has_commit(&finished.head).await?.then_some(*finished))
    }

    /// Returns the finished run of an earlier effect that could not be pushed, if neither the branch, nor what it must
    /// merge, nor the Player's instructions have changed since.
    pub(super) async fn unpushed(
        context: &EffectContext<'_>,
        task: &Task,
        turn: &Turn,
        ground: &Ground,
    ) -> Result<Option<Self>, EffectError> {
        if !turn.told.guidance.is_empty() || !turn.told.reviews.is_empty() {
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
        let Some(info) = ground.mirror.commit_info(&finished.head).await? else {
            return Ok(None);
        };
        let fits = info.trailer("AutoBuild-Turn") == Some(&turn.number.to_string())
            && info.parents == ground.parents()
            && finished.branch == task.branch
            && finished.stood == ground.stood;
        Ok(fits.then_some(finished))
    }

    /// Records the run with the effect. From then on it is pushed, not run again.
    pub(super) async fn write_down(&self, context: &EffectContext<'_>) -> Result<(), EffectError> {
        write_down(context, &Recorded::Finished(Box::new(self.clone()))).await
    }
}

pub(super) async fn write_down(context: &EffectContext<'_>, recorded: &Recorded) -> Result<(), EffectError> {
    let text =
        serde_json::to_string(recorded).map_err(|error| EffectError::defect(Defect::Other(error.to_string())))?;
    match context.engine.store.record_external(&context.job.hold, &text).await? {
        Fenced::Written => Ok(()),
        Fenced::Lost => Err(EffectError::Stopped),
    }
}
