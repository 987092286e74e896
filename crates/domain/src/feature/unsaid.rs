//! Things that AutoBuild could not say or do on GitHub as intended. They were said in another form, or the work stops,
//! or a person has to act; the Feature shows each case.

pub use crate::effect::{Replacement, Saying, Unsaid};
use crate::{
    blocked::{BlockReason, Failure},
    feature::{
        feature::Feature,
        moves::{Step, unchanged},
        waves::on_task,
    },
    ids::{Millis, TaskId},
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
    let step = unsaid.what.before_merge()?;
    let task = feature.task(id)?;
    let is_approved = matches!(task.state, task::State::Approved { .. });
    let emission = task.state.waits_for().filter(|_| is_approved)?;
    let message = unsaid.why.clone();
    let reason = BlockReason::failed(step, Failure::GitHubRefused { message });
    Some((id, task::Event::Stuck { emission, reason }))
}
