//! Things that AutoBuild could not say or do on GitHub as intended. They were said in another form, or the work stops,
//! or a person has to act; the Feature shows each case.

pub use crate::effect::{FailedAct, PublicAct, Replacement};
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
pub(super) fn record(mut feature: Feature, act: FailedAct, at: Millis) -> Step {
    if !feature.is_unfinished() && !act.what.outlasts_the_feature() {
        return unchanged(feature);
    }
    let same = |known: &FailedAct| (known.what, known.task, known.instead) == (act.what, act.task, act.instead);
    let is_known = feature.failed_acts.iter().any(same);
    let stopped = stopped(&feature, &act);
    if !is_known {
        feature.failed_acts.push(act);
        let extra = feature.failed_acts.len().saturating_sub(MOST);
        feature.failed_acts.drain(..extra);
    }
    match stopped {
        Some((id, event)) => on_task(feature, id, event, at),
        None => unchanged(feature),
    }
}

/// Returns the approved task that must not be merged because of this, and the event that stops it.
fn stopped(feature: &Feature, act: &FailedAct) -> Option<(TaskId, task::Event)> {
    let id = act.task.filter(|_| act.instead == Replacement::Nothing)?;
    let step = act.what.before_merge()?;
    let task = feature.task(id)?;
    let is_approved = matches!(task.state, task::State::Approved { .. });
    let emission = task.state.waits_for().filter(|_| is_approved)?;
    let message = act.why.clone();
    let reason = BlockReason::failed(step, Failure::GitHubRefused { message });
    Some((id, task::Event::Stuck { emission, reason }))
}
