//! Things that AutoBuild could not say or do on GitHub as intended. They were said in another form, or the work stops,
//! or a person has to act; the Feature shows each case.

pub use crate::effect::{Replacement, Saying, Unsaid};
use crate::{
    blocked::BlockReason,
    feature::{
        feature::Feature,
        moves::{Step, unchanged},
        waves::on_task,
    },
    ids::{Emission, Millis, TaskId},
    task,
};

/// The most that is kept for one Feature; older entries are dropped.
const MOST: usize = 20;

/// Records it, once. An approved task whose verdict could not be posted is not merged: it waits for a person.
pub(super) fn unsaid(mut feature: Feature, unsaid: Unsaid, at: Millis) -> Step {
    if !feature.is_unfinished() && !unsaid.what.outlasts_the_feature() {
        return unchanged(feature);
    }
    let same = |known: &Unsaid| (known.what, known.task, known.instead) == (unsaid.what, unsaid.task, unsaid.instead);
    let is_known = feature.unsaid.iter().any(same);
    let stopped = stopped(&feature, &unsaid);
    if !is_known {
        feature.unsaid.push(unsaid);
        let extra = feature.unsaid.len().saturating_sub(MOST);
        feature.unsaid.drain(..extra);
    }
    match stopped {
        Some((id, event)) => on_task(feature, id, event, at),
        None => unchanged(feature),
    }
}

/// Returns the approved task that must not be merged because of this, and the event that stops it.
fn stopped(feature: &Feature, unsaid: &Unsaid) -> Option<(TaskId, task::Event)> {
    let id = unsaid.task.filter(|_| unsaid.instead == Replacement::Nothing)?;
    let doing = unsaid.what.before_merge()?;
    let emission = approved_run(feature, id)?;
    let reason = BlockReason::ForgeRefused {
        doing,
        said: unsaid.why.clone(),
    };
    Some((id, task::Event::Stuck { emission, reason }))
}

/// Returns the emission of the merge that an approved task waits for.
fn approved_run(feature: &Feature, id: TaskId) -> Option<Emission> {
    let task = feature.task(id)?;
    match &task.state {
        task::State::Approved { .. } => task.state.waits_for(),
        task::State::Pending
        | task::State::PreLoop { .. }
        | task::State::PlayerTurn { .. }
        | task::State::CoachTurn { .. }
        | task::State::Blocked { .. }
        | task::State::Completed { .. }
        | task::State::Skipped { .. }
        | task::State::Cancelled => None,
    }
}
